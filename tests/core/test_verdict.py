"""The verdict beside the write matrix: the record of a run, limits in a row, and what stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from sourcemon.core.cadence import CadencePolicy
from sourcemon.core.changes import Counters
from sourcemon.core.entries import Page
from sourcemon.core.paging import (
    Outcome,
    StopReason,
    Walk,
    after_fault,
    after_page,
    after_reply,
    asking,
)
from sourcemon.core.poll_state import PollState, PollStatus, RetryProgress
from sourcemon.core.replies import ErrorCategory, Failure, Validators
from sourcemon.core.schedule import ObjectionName, Schedule
from sourcemon.core.verdict import PollVerdict, RunStatus, decide
from tests.core.handmade import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    SECOND,
    objection,
    plan,
    response,
    source,
)

Name = ObjectionName
HELD = Validators('"1"')
HINT = [("Retry-After", "60")]
OK = response(200, [("ETag", '"2"')])
LIMIT = response(429, HINT)
FAILING = response(500)


def walked(reply, *, page=Page(entries=()), counters=Counters()) -> Walk:
    walk = after_reply(asking(Walk(plan=plan(HELD))), reply, held=HELD)
    return walk if walk.is_over else after_page(walk, page, counters)


def judged(walk, state=PollState(), *, interval=HOUR, now=NOW, roll=0.0) -> PollVerdict:
    return decide(
        walk,
        state,
        source(interval=interval),
        CadencePolicy(),
        started_at=now - 3 * SECOND,
        now=now,
        roll=roll,
    )


def polls(replies, state: PollState = PollState(), *, now=NOW) -> PollState:
    """The state after a poll for each reply, an hour apart."""
    for number, reply in enumerate(replies):
        state = judged(walked(reply), state, now=now + number * HOUR).state
    return state


NOT_OVER = {
    "nothing was sent": Walk(plan=None, outcome=Outcome.FAILED),
    "a request is still to be made": Walk(plan=plan(), requests=1, outcome=Outcome.COMPLETED),
    "a page still waits": after_reply(asking(Walk(plan=plan())), OK, held=Validators()),
    "nothing was decided": Walk(plan=None, requests=1),
}


@pytest.mark.parametrize("walk", NOT_OVER.values(), ids=NOT_OVER)
def test_only_a_walk_that_asked_and_is_over_can_be_judged(walk):
    with pytest.raises(ValueError, match="can be judged"):
        judged(walk)


def test_a_run_is_recorded_whole():
    counters = Counters(created=2, unchanged=3)
    run = judged(walked(OK, counters=counters)).run
    assert run.status is RunStatus.COMPLETED
    assert (run.finished_at, run.duration) == (NOW, 3 * SECOND)
    assert (run.counters, run.pages_fetched) == (counters, 1)
    assert (run.http_status, run.bytes_received) == (200, OK.bytes_received)
    assert run.stop_reason is StopReason.NO_NEXT_LINK
    assert (run.error_category, run.error) == (None, None)


def test_a_degraded_document_is_a_success_that_says_what_was_wrong():
    verdict = judged(walked(OK, page=Page(entries=(), degraded="torn after 3 entries")))
    assert (verdict.run.status, verdict.run.error_category) == (RunStatus.COMPLETED, None)
    assert verdict.run.error == "torn after 3 entries"
    assert verdict.state.last_error is None


def test_an_error_is_cut_to_a_thousand_characters():
    failure = Failure(ErrorCategory.PARSE, "x" * 5_000)
    verdict = judged(walked(response(200, body_failure=failure)))
    assert verdict.run.error == "x" * 1_000 == verdict.state.last_error
    degraded = judged(walked(OK, page=Page(entries=(), degraded="x" * 5_000)))
    assert degraded.run.error == "x" * 1_000


STANDS = {
    "a success": (OK, PollStatus.FAILED),
    "a success of one that was gone": (OK, PollStatus.GONE),
    "a 304": (response(304), PollStatus.FAILED),
    "a failure": (FAILING, PollStatus.FAILED),
    "a limit": (LIMIT, PollStatus.GONE),
}


@pytest.mark.parametrize("reply, status", STANDS.values(), ids=STANDS)
def test_no_poll_puts_a_failed_or_gone_source_back(reply, status):
    assert judged(walked(reply), PollState(status=status)).state.status is status


@pytest.mark.parametrize("status", [401, 403, 404, 422, 451, 500])
def test_only_410_ends_a_feed(status):
    state = polls([response(status)] * 20)
    assert state.status is PollStatus.IDLE
    assert polls([response(410)], state).status is PollStatus.GONE


LATER = {
    Name.FLOOR: [("X-Poll-Interval", "60")],
    Name.RETRY: HINT,
}


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("status", [304, 404, 429, 500])
def test_a_later_wish_of_the_server_stands(name, status):
    held = objection(name, NOW + DAY, "an earlier wish")
    state = judged(walked(response(status, LATER[name])), PollState(schedule=Schedule((held,))))
    assert state.state.schedule.get(name) == held


def test_a_success_puts_everything_of_ours_at_rest():
    failing = polls([FAILING] * 4)
    assert failing.schedule.get(Name.CIRCUIT) is not None
    state = polls([OK], failing, now=NOW + DAY)
    assert [o.name for o in state.schedule.objections] == [Name.CADENCE]
    assert (state.retry, state.consecutive_failures) == (RetryProgress(), 0)
    assert (state.last_error, state.last_success_at) == (None, NOW + DAY)


def test_a_success_leaves_a_pause_and_a_block_alone():
    others = Schedule.of([objection(Name.PAUSE), objection(Name.HOST_BLOCK)])
    state = judged(walked(OK), PollState(schedule=others)).state
    assert state.schedule.without(Name.CADENCE) == others


# Replies an hour apart, and how long the circuit is open after the last of them.
LIMITS_IN_A_ROW = {
    "one": ([LIMIT], None),
    "two": ([LIMIT] * 2, None),
    "three": ([LIMIT] * 3, 90 * MINUTE),
    "two after a success": ([LIMIT, OK, LIMIT, LIMIT], None),
    "two after a 304": ([LIMIT, response(304), LIMIT, LIMIT], None),
    "two after a failure": ([LIMIT, FAILING, LIMIT, LIMIT], None),
    "three of different statuses": ([LIMIT, response(503, HINT), response(403, HINT)], 90 * MINUTE),
    "three with a fault of ours between": ([LIMIT, "fault", LIMIT, LIMIT], 90 * MINUTE),
}


@pytest.mark.parametrize("replies, rest", LIMITS_IN_A_ROW.values(), ids=LIMITS_IN_A_ROW)
def test_the_third_limit_in_a_row_opens_the_circuit(replies, rest):
    state, now = PollState(), NOW
    for reply in replies:
        now += HOUR
        walk = asking(Walk(plan=plan(HELD)))
        walk = after_fault(walk, "ours") if reply == "fault" else walked(reply)
        state = judged(walk, state, now=now).state
    until = state.schedule.until(Name.CIRCUIT)
    assert (until - now if until else None) == rest


def test_limits_are_no_failures():
    failed_once = polls([FAILING])
    state = polls([LIMIT] * 3, failed_once, now=NOW + HOUR)
    assert (state.consecutive_failures, state.last_error) == (1, failed_once.last_error)


def test_one_limit_while_a_circuit_is_half_open_is_neutral():
    opened = polls([FAILING] * 3)
    circuit = opened.schedule.get(Name.CIRCUIT)
    assert circuit is not None
    state = polls([LIMIT], opened, now=NOW + DAY)
    assert state.schedule.get(Name.CIRCUIT) == circuit
    assert state.retry.circuit_opened_at == opened.retry.circuit_opened_at
    assert state.retry.reopens == 0


CEILINGS = {
    "validators, no hint": (response(200, [("ETag", '"1"')]), 5 * MINUTE),
    "a date alone is a validator": (response(200, [("Last-Modified", "today")]), 5 * MINUTE),
    "neither validators nor a hint": (response(200), HOUR),
    "a hint, no validators": (response(200, [("Cache-Control", "max-age=30")]), MINUTE),
    "a hint and validators": (
        response(200, [("ETag", '"1"'), ("X-Poll-Interval", "30")]),
        MINUTE,
    ),
    "no-cache is no hint": (response(200, [("Cache-Control", "no-cache")]), HOUR),
    "a 304 to validators of ours": (response(304), 5 * MINUTE),
}


@pytest.mark.parametrize("reply, interval", CEILINGS.values(), ids=CEILINGS)
def test_the_ceiling_follows_what_the_server_gave(reply, interval):
    state = judged(walked(reply), PollState(validators=HELD), interval=MINUTE).state
    assert state.schedule.until(Name.CADENCE) == NOW + interval


def test_the_cadence_counts_from_the_end_and_takes_the_roll():
    state = judged(walked(OK), roll=0.5).state
    assert state.schedule.until(Name.CADENCE) == NOW + timedelta(hours=1.05)
    assert state.last_polled_at == NOW


def test_a_cadence_is_overwritten_even_by_an_earlier_one():
    far = PollState(schedule=Schedule((objection(Name.CADENCE, NOW + DAY),)))
    assert judged(walked(OK), far).state.schedule.until(Name.CADENCE) == NOW + HOUR


def test_an_unexpected_304_drops_validators_but_not_the_body_hash():
    walk = after_reply(asking(Walk(plan=plan())), response(304), held=Validators())
    state = judged(walk, PollState(validators=HELD, body_hash="a" * 64)).state
    assert (state.validators, state.body_hash) == (Validators(), "a" * 64)


def test_a_verdict_changes_no_value_it_was_given():
    state = PollState(validators=HELD, consecutive_failures=3)
    copy = replace(state)
    judged(walked(FAILING), state)
    assert state == copy
