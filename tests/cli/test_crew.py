"""The threads of ``poll --due``: what they begin, what they pass over, what they leave behind."""

from __future__ import annotations

from sourcemon.cli.crew import Crew
from sourcemon.core.dispatch import ClaimedSource
from sourcemon.core.sources import SourceId

CLAIMED = tuple(
    ClaimedSource(source_id=SourceId(number), name=f"{number}", host=f"{number % 2}", token="t")
    for number in range(6)
)


def test_everything_is_worked_on_once() -> None:
    crew = Crew(CLAIMED, lambda claimed: claimed.name, threads=4, ends_after_s=60)

    assert sorted(crew.results()) == ["0", "1", "2", "3", "4", "5"]
    assert (crew.not_begun, crew.faults, crew.stop()) == ([], [], 0)


def test_a_crew_without_work_has_no_results() -> None:
    crew = Crew((), lambda claimed: claimed.name, threads=4, ends_after_s=60)

    assert list(crew.results()) == []


def test_nothing_is_begun_after_the_end() -> None:
    crew = Crew(CLAIMED, lambda claimed: claimed.name, threads=4, ends_after_s=0)

    assert list(crew.results()) == []
    assert sorted(claimed.name for claimed in crew.not_begun) == ["0", "1", "2", "3", "4", "5"]


def test_nothing_is_begun_after_a_fault() -> None:
    def fail(_claimed: ClaimedSource) -> str:
        raise ZeroDivisionError

    crew = Crew(CLAIMED, fail, threads=1, ends_after_s=60)

    assert list(crew.results()) == []
    assert [type(fault) for fault in crew.faults] == [ZeroDivisionError]
    assert len(crew.not_begun) == 5
