"""The window of newest attempts, and the grade that is kept of it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from sqlalchemy import insert

from sourcemon.core.health import Grade, Window
from sourcemon.core.sources import SourceId
from sourcemon.store import health
from sourcemon.store.session import Database
from sourcemon.store.tables import HealthStateRow, PollRunRow
from tests.store.stored import NOON, TICK, add_source, add_sources, minutes, row, rows

OURS = SourceId(1)
GOOD = Window((True, True, True))
MIXED = Window((False, True, True))


def add_runs(database: Database, *runs: tuple[str, str | None], source_id: int = OURS) -> None:
    """Runs by status and error category, a minute apart, the oldest first."""
    with database.write() as session:
        for number, (status, category) in enumerate(runs):
            values = {
                "source_id": source_id,
                "status": status,
                "error_category": category,
                "forced": False,
                "started_at": NOON + minutes(number),
            }
            session.execute(insert(PollRunRow).values(values))


def window(database: Database, size: int = 20) -> tuple[bool, ...]:
    with database.read() as session:
        return health.window(session, OURS, size=size).successes


def record(database: Database, found: Window, grade: Grade | None, *, minute: float = 0) -> bool:
    with database.write() as session:
        return health.record(session, OURS, found, grade, now=NOON + minutes(minute))


COUNTED = {
    "a whole poll": (("completed", None), (True,)),
    "a 304": (("not_modified", None), (True,)),
    "a failure of the source": (("failed", "http"), (False,)),
    "a failure of no known kind": (("failed", None), (False,)),
    "a run under way": (("running", None), ()),
    "a limit": (("deferred", "rate_limited"), ()),
    "a fault of ours": (("failed", "internal"), ()),
}


@pytest.mark.parametrize(("run", "expected"), COUNTED.values(), ids=COUNTED)
def test_what_a_run_says_of_its_source(database, run, expected):
    add_source(database)
    add_runs(database, run)
    assert window(database) == expected


@pytest.mark.parametrize(
    "category", [None, "network", "timeout", "tls", "auth", "blocked", "parse", "too_large", "gone"]
)
def test_every_failure_but_our_own_counts(database, category):
    add_source(database)
    add_runs(database, ("failed", category))
    assert window(database) == (False,)


def test_the_newest_comes_first(database):
    add_source(database)
    add_runs(database, ("completed", None), ("failed", "http"), ("not_modified", None))
    assert window(database) == (True, False, True)


def test_of_runs_that_began_at_the_same_instant_the_later_row_is_the_newer(database):
    add_source(database)
    for status in ("completed", "failed"):
        add_runs(database, (status, None))
    assert window(database) == (False, True)


def test_runs_are_ordered_by_their_start_and_not_by_their_number(database):
    add_source(database)
    with database.write() as session:
        for status, started_at in (("failed", NOON + TICK), ("completed", NOON)):
            values = {"source_id": OURS, "status": status, "started_at": started_at}
            session.execute(insert(PollRunRow).values(forced=False, **values))
    assert window(database) == (False, True)


def test_the_size_counts_only_runs_that_say_something(database):
    add_source(database)
    silent = [("deferred", "rate_limited"), ("failed", "internal"), ("running", None)]
    add_runs(database, ("failed", "http"), ("completed", None), ("failed", "dns"), *silent * 5)
    assert window(database, size=2) == (False, True)
    assert window(database, size=20) == (False, True, False)


def test_other_sources_do_not_count(database):
    add_sources(database, 2)
    add_runs(database, ("failed", "http"), source_id=2)
    assert window(database) == ()


def test_a_new_source_has_neither_grade_nor_rate(database):
    add_source(database)
    stored = row(database, HealthStateRow)
    assert (stored["grade"], stored["rolling_success_rate"], stored["grade_changed_at"]) == (
        None,
        None,
        None,
    )
    with database.read() as session:
        assert health.grade_of(session, OURS) is None


def test_a_first_grade_is_a_change(database):
    add_source(database)
    assert record(database, GOOD, Grade.WORKING)
    stored = row(database, HealthStateRow)
    assert stored == {
        "source_id": OURS,
        "grade": "working",
        "grade_changed_at": NOON,
        "rolling_success_rate": Decimal("1.0000"),
    }
    with database.read() as session:
        assert health.grade_of(session, OURS) is Grade.WORKING


def test_the_same_grade_is_no_change_and_keeps_its_date(database):
    add_source(database)
    record(database, GOOD, Grade.WORKING)
    assert not record(database, MIXED, Grade.WORKING, minute=5)
    stored = row(database, HealthStateRow)
    assert stored["grade_changed_at"] == NOON
    assert stored["rolling_success_rate"] == Decimal("0.6667")


def test_another_grade_is_a_change_with_a_date_of_its_own(database):
    add_source(database)
    record(database, GOOD, Grade.WORKING)
    assert record(database, MIXED, Grade.DECLINING, minute=5)
    assert row(database, HealthStateRow)["grade_changed_at"] == NOON + minutes(5)


def test_an_empty_window_says_nothing_and_writes_nothing(database):
    add_source(database)
    record(database, GOOD, Grade.WORKING)
    before = row(database, HealthStateRow)
    assert not record(database, Window(()), None, minute=5)
    assert row(database, HealthStateRow) == before


RATES = {
    "none of three": ((False,) * 3, Decimal("0.0000")),
    "one of three": ((True, False, False), Decimal("0.3333")),
    "two of three": ((True, True, False), Decimal("0.6667")),
    "one of sixteen, half a digit more": ((True, *[False] * 15), Decimal("0.0625")),
    "nineteen of twenty": ((*[True] * 19, False), Decimal("0.9500")),
}


@pytest.mark.parametrize(("successes", "rate"), RATES.values(), ids=RATES)
def test_a_rate_is_kept_to_four_decimals_exactly(database, successes, rate):
    add_source(database)
    record(database, Window(successes), Grade.DECLINING)
    assert row(database, HealthStateRow)["rolling_success_rate"] == rate


def test_a_grade_is_of_one_source(database):
    add_sources(database, 2)
    record(database, GOOD, Grade.WORKING)
    assert [row["grade"] for row in rows(database, HealthStateRow)] == ["working", None]


@pytest.mark.parametrize("grade", Grade)
def test_every_grade_can_be_stored(database, grade):
    add_source(database)
    record(database, GOOD, grade)
    with database.read() as session:
        assert health.grade_of(session, OURS) is grade
