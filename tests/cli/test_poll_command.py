"""What ``poll`` prints and exits with, for each thing that can become of a source."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from sourcemon.cli.outcomes import Fault, exit_code_of, line_of
from sourcemon.clock import FakeClock
from sourcemon.core.changes import Counters
from sourcemon.core.poll_state import PollStatus
from sourcemon.core.results import Deferral, DeferralKind, PollResult
from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.core.sources import SourceId
from sourcemon.core.verdict import RunStatus
from sourcemon.errors import ClaimLost
from sourcemon.operations.deps import Deps
from sourcemon.store import claims
from tests.cli.conftest import NOON, Run
from tests.cli.fake_site import FakeSite, Feed

Watch = Callable[..., SourceId]
URL = "https://site.test/feed"


def test_a_poll_tells_what_is_new_and_what_comes_next(
    run: Run, watch: Watch, site: FakeSite
) -> None:
    watch(URL, "The feed")
    site.feeds[URL] = Feed(titles=("One", "Two"))

    ran = run("poll", 1)

    assert ran.code == 0
    assert ran.out == (
        "1 The feed: 2 new; next 2026-12-01 13:30:00 CET (cadence_due_at: every 30 min)\n"
    )
    assert ran.errors == []


POLLED = {
    "nothing changed": (Feed(titles=("One",)), 0, "1 The feed: not modified; next 2026-"),
    "one is edited": (Feed(titles=("One!",)), 0, "1 The feed: 0 new, 1 updated; next 2026-"),
    "the server fails": (Feed(status=500), 1, "1 The feed: Failed — HTTP 500; next 2026-"),
    "nobody answers": (Feed(unreachable=True), 1, "1 The feed: Failed — connection refused; next"),
    "it is no feed": (Feed(status=404), 1, "1 The feed: Failed — HTTP 404; next"),
    "the server limits us": (
        Feed(status=429, headers={"Retry-After": "3600"}),
        0,
        "1 The feed: HTTP 429, deferred until 2026-12-01 ",
    ),
    "it is gone": (
        Feed(status=410),
        1,
        "1 The feed: Failed — HTTP 410: the server says it is gone for good; not polled again",
    ),
}


@pytest.mark.parametrize("feed, code, line", POLLED.values(), ids=POLLED)
def test_what_a_poll_comes_to_has_its_line_and_exit_code(
    run: Run, watch: Watch, site: FakeSite, clock: FakeClock, feed, code, line
) -> None:
    watch(URL, "The feed")
    site.feeds[URL] = Feed(titles=("One",))
    run("poll", 1)
    clock.advance(timedelta(hours=1))
    site.feeds[URL] = feed
    line = line.replace("14:00:00", "15:00:00")

    ran = run("poll", 1)

    assert (ran.code, ran.errors) == (code, [])
    assert ran.out.startswith(line)
    assert ran.out.count("\n") == 1


STORED = (
    ObjectionName.CADENCE,
    ObjectionName.FLOOR,
    ObjectionName.RETRY,
    ObjectionName.BACKOFF,
    ObjectionName.CIRCUIT,
)


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("force", [[], ["--force"]], ids=["unforced", "forced"])
def test_a_poll_under_an_objection_is_deferred_without_a_request(
    run: Run, watch: Watch, site: FakeSite, set_state, name, force
) -> None:
    watch(URL, "The feed")
    until = NOON + timedelta(minutes=5, microseconds=1)
    set_state(1, Objection(name, until, "for a reason"))
    site.feeds[URL] = Feed(titles=("One",))

    ran = run("poll", 1, *force)

    assert (ran.code, ran.errors) == (0, [])
    if force and name is ObjectionName.CADENCE:
        assert site.asked == [URL]
    else:
        assert ran.out == (
            f"1 The feed: Deferred until 2026-12-01 13:05:01 CET — {name.value}: for a reason\n"
        )
        assert site.asked == []


@pytest.mark.parametrize("name", ObjectionName)
def test_the_line_of_each_objection_names_it_and_counts_nothing(name) -> None:
    objection = Objection(name, NOON, "for a reason")
    deferral = Deferral(
        source_id=SourceId(1),
        source_name="The feed",
        kind=DeferralKind.NOT_DUE,
        reason=f"{name}: for a reason",
        until=NOON,
        objection=objection,
    )

    line = "".join(part if isinstance(part, str) else part[0] for part in line_of(deferral))

    assert line == (
        f"1 The feed: Deferred until 2026-12-01 13:00:00 CET — {name.value}: for a reason"
    )
    assert exit_code_of(deferral) == 0


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["unforced", "forced"])
@pytest.mark.parametrize("status", [PollStatus.GONE, PollStatus.FAILED])
def test_a_source_that_waits_for_an_operator_is_refused(
    run: Run, watch: Watch, site: FakeSite, set_state, status, force
) -> None:
    watch(URL, "The feed")
    set_state(1, status=status, last_error="HTTP 410")

    ran = run("poll", 1, *force)

    assert ran.code == 2
    assert ran.out.startswith("1 The feed: Not polled — ")
    assert "HTTP 410" in ran.out
    assert "`sourcemon enable 1`" in ran.out
    assert site.asked == []


def test_a_source_that_is_switched_off_is_refused_even_by_force(
    run: Run, watch: Watch, site: FakeSite
) -> None:
    watch(URL, "The feed")
    run("disable", 1)

    ran = run("poll", 1, "--force")

    assert (ran.code, ran.out) == (
        2,
        "1 The feed: Not polled — the source is switched off; `sourcemon enable 1`\n",
    )
    assert site.asked == []


def test_a_source_that_another_worker_polls_is_deferred(run: Run, watch: Watch, deps: Deps) -> None:
    watch(URL, "The feed")
    with deps.database.write() as session:
        lease = deps.policies.claim_lease
        claims.take(session, SourceId(1), token="other", lease=lease, instant=NOON)

    ran = run("poll", 1)

    assert (ran.code, ran.out) == (
        0,
        "1 The feed: Deferred — another worker is polling it at this moment\n",
    )


def test_of_several_sources_the_worst_exit_code_is_told(
    run: Run, watch: Watch, site: FakeSite
) -> None:
    for number in (1, 2, 3):
        watch(f"{URL}{number}")
    site.feeds[f"{URL}1"] = Feed(titles=("One",))
    run("disable", 3)

    assert run("poll", 1).code == 0
    assert run("poll", 1, 2).code == 1
    ran = run("poll", 2, 3, 1, 2)

    assert ran.code == 2
    assert [line[0] for line in ran.out.splitlines()[:-1]] == ["2", "3", "1"]
    assert ran.out.splitlines()[-1] == "3 sources: 2 deferred, 1 not polled"


def test_a_lost_claim_is_a_failed_attempt_and_the_next_source_is_polled(
    run: Run, watch: Watch, site: FakeSite, deps: Deps, clock: FakeClock
) -> None:
    def lose_the_claim() -> None:
        clock.advance(deps.policies.claim_lease * 2)
        with deps.database.write() as session:
            lease = deps.policies.claim_lease
            claims.take(session, SourceId(1), token="other", lease=lease, instant=clock.now())

    watch(URL, "The feed")
    watch(f"{URL}2")
    site.feeds[URL] = Feed(titles=("One",), meanwhile=lose_the_claim)
    site.feeds[f"{URL}2"] = Feed(titles=("One",))

    ran = run("poll", 1, 2, "--json")

    assert ran.code == 1
    (error,) = ran.errors
    assert error.startswith("error: 1 The feed: ")
    lost, polled = ran.document
    assert (lost["source_id"], lost["outcome"], lost["run_id"]) == (1, "ClaimLost", None)
    assert lost["error"] in error
    assert (polled["source_id"], polled["outcome"]) == (2, "NewItems")


def test_items_that_could_not_be_stored_are_told() -> None:
    result = PollResult(
        source_id=SourceId(1),
        source_name="The feed",
        run_id=1,
        status=RunStatus.COMPLETED,
        counters=Counters(created=2, failed=1),
        http_status=200,
        stop_reason=None,
        error_category=None,
        error=None,
        grade=None,
        retries=False,
        next_poll_at=NOON,
        binding=None,
    )

    line = "".join(part if isinstance(part, str) else part[0] for part in line_of(result))

    assert line == "1 The feed: 2 new, 1 could not be stored; next 2026-12-01 13:00:00 CET"


def test_a_lost_claim_is_no_refusal() -> None:
    fault = Fault(source_id=SourceId(1), source_name="The feed", error=ClaimLost(1))

    assert exit_code_of(fault) == 1


def test_a_bug_surfaces(run: Run, watch: Watch, site: FakeSite) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    watch(URL)
    site.feeds[URL] = Feed(meanwhile=fail)

    with pytest.raises(ZeroDivisionError):
        run("poll", 1)


def test_ctrl_c_ends_a_poll_at_once_and_records_it(run: Run, watch: Watch, site: FakeSite) -> None:
    def press_ctrl_c() -> None:
        raise KeyboardInterrupt

    watch(URL)
    watch(f"{URL}2")
    site.feeds[URL] = Feed(meanwhile=press_ctrl_c)

    ran = run("poll", 1, 2)

    assert (ran.code, ran.out, ran.errors) == (130, "", ["Interrupted"])
    assert site.asked == [URL]
    (recorded,) = run("runs", "--json").document
    assert recorded["stop_reason"] == "interrupted"
