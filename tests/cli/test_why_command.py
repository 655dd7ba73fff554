"""What ``why`` says: the answer first, then all nine objections, then the last polls."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from sourcemon.clock import FakeClock
from sourcemon.core.poll_state import PollStatus
from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.core.sources import SourceId
from sourcemon.operations.deps import Deps
from sourcemon.store import claims
from tests.cli.conftest import NOON, Run
from tests.cli.fake_site import FakeSite, Feed

Watch = Callable[..., SourceId]
LATER = NOON + timedelta(minutes=65)
CADENCE = Objection(ObjectionName.CADENCE, NOON + timedelta(minutes=5), "every 15 min")
FLOOR = Objection(ObjectionName.FLOOR, LATER, "X-Poll-Interval: 900")
PASSED = Objection(ObjectionName.CADENCE, NOON, "every 15 min")

ANSWERS = {
    "the server decides, forced or not": (
        [CADENCE, FLOOR],
        "Next poll 2026-12-01 14:05:00 CET — poll_floor_until: X-Poll-Interval: 900",
        "With --force: the same",
    ),
    "only our cadence is in the way": (
        [CADENCE],
        "Next poll 2026-12-01 13:05:00 CET — cadence_due_at: every 15 min",
        "With --force: now",
    ),
    "force leaves the server's floor": (
        [Objection(ObjectionName.CADENCE, LATER, "every 65 min"), FLOOR],
        "Next poll 2026-12-01 14:05:00 CET — cadence_due_at: every 65 min",
        "With --force: not before 2026-12-01 14:05:00 CET — poll_floor_until: X-Poll-Interval: 900",
    ),
    "it was never polled": ([], "Never polled: due now", "With --force: now, too"),
}


@pytest.mark.parametrize("objections, answer, forced", ANSWERS.values(), ids=ANSWERS)
def test_the_answer_comes_first(
    run: Run, watch: Watch, set_state, objections, answer, forced
) -> None:
    watch()
    set_state(1, *objections)

    ran = run("why", 1)

    assert ran.code == 0
    assert ran.out.splitlines()[:2] == [answer, forced]


def test_what_has_passed_is_due(run: Run, watch: Watch, set_state) -> None:
    watch()
    set_state(1, PASSED, last_polled_at=NOON - timedelta(minutes=15))

    assert run("why", 1).out.splitlines()[0] == (
        "Due now — cadence_due_at: every 15 min, passed 2026-12-01 13:00:00 CET"
    )


def test_all_nine_objections_are_told_in_table_order(run: Run, watch: Watch, set_state) -> None:
    watch()
    set_state(1, CADENCE, FLOOR, Objection(ObjectionName.BACKOFF, NOON, "retry 1 of 2"))

    lines = run("why", 1).out.splitlines()[4:14]

    assert [line.split()[0] for line in lines[1:]] == [name.value for name in ObjectionName]
    assert lines[0].split() == ["Objection", "Until", "Because"]
    assert lines[1].split("  ")[0] == "cadence_due_at"
    assert "2026-12-01 13:05:00 CET  waiting  every 15 min" in lines[1]
    assert "2026-12-01 14:05:00 CET  binding  X-Poll-Interval: 900" in lines[2]
    assert lines[3].split() == ["retry_not_before_at", "–"]
    assert "2026-12-01 13:00:00 CET  passed   retry 1 of 2" in lines[4]


def test_a_source_that_nothing_speaks_against_is_due(run: Run, watch: Watch, set_state) -> None:
    watch()
    set_state(1, last_polled_at=NOON, consecutive_failures=2)

    lines = run("why", 1).out.splitlines()

    assert lines[0] == "Due now — nothing speaks against a poll"
    assert lines[2].endswith("last polled 2026-12-01 13:00:00 CET, 2 failed in a row")


STATUSES = {
    PollStatus.GONE: "No next poll — gone: HTTP 410; `sourcemon enable 1` to try again",
    PollStatus.FAILED: "No next poll — failed: HTTP 410; `sourcemon enable 1` to try again",
}


@pytest.mark.parametrize("status, answer", STATUSES.items(), ids=STATUSES)
def test_a_status_that_needs_a_person_is_the_answer(
    run: Run, watch: Watch, set_state, status, answer
) -> None:
    watch()
    set_state(1, CADENCE, status=status, last_error="HTTP 410")

    assert run("why", 1).out.splitlines()[:2] == [answer, "With --force: no poll either"]


def test_a_source_that_is_switched_off_says_so(run: Run, watch: Watch) -> None:
    watch()
    run("disable", 1)

    assert run("why", 1).out.splitlines()[0] == (
        "No next poll — switched off: `sourcemon enable 1` switches it on"
    )


def test_a_source_that_is_being_polled_says_so(run: Run, watch: Watch, deps: Deps) -> None:
    watch()
    with deps.database.write() as session:
        lease = timedelta(minutes=5)
        claims.take(session, SourceId(1), token="other", lease=lease, instant=NOON)

    assert run("why", 1).out.splitlines()[0] == (
        "Being polled now, by a worker that may until 2026-12-01 13:05:00 CET"
    )


def test_the_last_polls_are_told_newest_first(
    run: Run, watch: Watch, site: FakeSite, clock: FakeClock
) -> None:
    watch("https://site.test/feed", "The feed")
    site.feeds["https://site.test/feed"] = Feed(titles=("One",))
    run("poll", 1)
    clock.advance(timedelta(hours=1))
    run("poll", 1)

    ran = run("why", 1)

    started = [line.split()[2] for line in ran.out.splitlines()[-2:]]
    assert started == ["14:00:00", "13:00:00"]
    assert "Source 1, The feed: https://site.test/feed, every 30 min, 1 item, working" in ran.out


def test_the_document_has_all_nine_objections(run: Run, watch: Watch, set_state) -> None:
    watch()
    set_state(1, CADENCE, FLOOR)

    document = run("why", 1, "--json").document

    assert list(document) == [
        *("source", "now", "is_due", "binding", "binding_forced", "objections", "last_runs"),
    ]
    assert document["now"] == "2026-12-01T12:00:00+00:00"
    assert document["is_due"] is False
    assert document["binding"] == document["binding_forced"] == document["objections"][1]
    assert document["objections"][1] == {
        "name": "poll_floor_until",
        "until": "2026-12-01T13:05:00+00:00",
        "because": "X-Poll-Interval: 900",
    }
    assert [one["name"] for one in document["objections"]] == [n.value for n in ObjectionName]
    assert document["objections"][8] == {
        "name": "auto_paused_until",
        "until": None,
        "because": None,
    }
