"""``poll --due``: all that is due, each once, hosts side by side, and a clean end on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from sourcemon import wiring
from sourcemon.cli.report import Report
from sourcemon.clock import FakeClock
from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.core.sources import SourceId
from sourcemon.errors import DatabaseUnavailable
from sourcemon.operations.deps import Deps
from tests.cli.conftest import NOON, Run
from tests.cli.fake_site import FakeSite, Feed

Watch = Callable[..., SourceId]
WAIT_S = 10
"""The patience of a test with its own threads; it is never waited out."""


def url_of(number: int) -> str:
    return f"https://host{number}.test/feed"


@pytest.fixture
def many(watch: Watch, site: FakeSite) -> list[str]:
    """Twelve sources on twelve hosts that have one item each."""
    urls = [url_of(number) for number in range(1, 13)]
    for url in urls:
        watch(url)
        site.feeds[url] = Feed(titles=("One",))
    return urls


def claims_left(run: Run) -> int:
    """How many sources a worker still holds."""
    return sum(source["standing"] == "polling" for source in run("sources", "--json").document)


def test_each_due_source_is_polled_once(run: Run, many: list[str], site: FakeSite) -> None:
    ran = run("poll", "--due")

    assert (ran.code, ran.errors) == (0, [])
    assert sorted(site.asked) == sorted(many)
    assert ran.out.splitlines()[-1] == "12 sources: 12 with news"
    assert claims_left(run) == 0


def test_a_source_that_waits_is_not_polled(
    run: Run, watch: Watch, site: FakeSite, set_state
) -> None:
    watch(url_of(1))
    watch(url_of(2))
    set_state(1, Objection(ObjectionName.FLOOR, NOON + timedelta(minutes=1), "max-age=60"))
    site.feeds[url_of(2)] = Feed(titles=("One",))

    ran = run("poll", "--due")

    assert ran.code == 0
    assert site.asked == [url_of(2)]


def test_nothing_due_is_said_and_is_no_failure(run: Run) -> None:
    ran = run("poll", "--due")

    assert (ran.code, ran.out, ran.errors) == (0, "Nothing is due\n", [])
    assert run("poll", "--due", "--json").document == []


def test_sources_are_claimed_in_lots_until_none_is_left(
    run: Run, many: list[str], site: FakeSite, deps: Deps
) -> None:
    two_threads = replace(deps.policies, threads=2)
    with wiring.use(replace(deps, policies=two_threads)):
        assert run("poll", "--due").code == 0

    assert sorted(site.asked) == sorted(many)


def test_a_source_that_is_due_again_at_once_is_not_polled_twice(
    run: Run, many: list[str], site: FakeSite, deps: Deps, clock: FakeClock
) -> None:
    for url in many:
        site.feeds[url] = Feed(titles=("One",), meanwhile=lambda: _a_day_passes(clock))

    with wiring.use(replace(deps, policies=replace(deps.policies, threads=1))):
        ran = run("poll", "--due")

    assert sorted(site.asked) == sorted(many)
    assert ran.out.splitlines()[-1].startswith("12 sources: ")
    assert claims_left(run) == 0


def _a_day_passes(clock: FakeClock) -> None:
    clock.advance(timedelta(seconds=100))


def test_the_worst_exit_code_is_told(run: Run, many: list[str], site: FakeSite) -> None:
    site.feeds[many[3]] = Feed(status=500)

    ran = run("poll", "--due")

    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "12 sources: 11 with news, 1 failed"


def test_hosts_are_polled_side_by_side_and_one_host_in_turn(
    run: Run, watch: Watch, site: FakeSite
) -> None:
    together = threading.Barrier(2)
    on_host_1 = threading.Semaphore(1)

    def meet() -> None:
        together.wait(WAIT_S)

    def alone() -> None:
        assert on_host_1.acquire(blocking=False)
        on_host_1.release()

    for path in ("a", "b"):
        watch(f"https://host1.test/{path}")
    watch(url_of(2))
    site.feeds["https://host1.test/a"] = Feed(titles=("One",), meanwhile=meet)
    site.feeds["https://host1.test/b"] = Feed(titles=("One",), meanwhile=alone)
    site.feeds[url_of(2)] = Feed(titles=("One",), meanwhile=meet)

    assert run("poll", "--due").code == 0


def test_ctrl_c_begins_nothing_more_and_gives_back_what_was_not_begun(
    run: Run, many: list[str], site: FakeSite, deps: Deps, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = threading.Event()
    note = Report.note

    def noting(report: Report, text: str) -> None:
        note(report, text)
        noted.set()

    def press_ctrl_c() -> None:
        """While this request is under way, the main thread is interrupted as by a terminal."""
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        assert noted.wait(WAIT_S)

    monkeypatch.setattr(Report, "note", noting)
    site.feeds[many[0]] = Feed(titles=("One",), meanwhile=press_ctrl_c)
    with wiring.use(replace(deps, policies=replace(deps.policies, threads=1))):
        ran = run("poll", "--due")

    assert ran.code == 130
    assert ran.errors == [
        "Stopping once the polls under way (1) have ended; Ctrl-C leaves them",
        "Interrupted",
    ]
    assert ran.out.startswith("1 host1.test/feed: 1 new")
    assert site.asked == [many[0]]
    assert claims_left(run) == 0


def test_a_bug_surfaces_after_the_others_are_told(
    run: Run, many: list[str], site: FakeSite
) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    site.feeds[many[0]] = Feed(meanwhile=fail)

    with pytest.raises(ZeroDivisionError):
        run("poll", "--due")
    assert claims_left(run) == 0


def test_a_database_that_fails_ends_it_all_with_one_line(
    run: Run, many: list[str], site: FakeSite, deps: Deps
) -> None:
    def fail() -> None:
        raise DatabaseUnavailable("database: the disk is full")

    for url in many:
        site.feeds[url] = Feed(meanwhile=fail)
    with wiring.use(replace(deps, policies=replace(deps.policies, threads=1))):
        ran = run("poll", "--due")

    assert (ran.code, ran.out) == (2, "")
    assert ran.errors == ["error: database: the disk is full"]
    assert site.asked == [many[0]]
