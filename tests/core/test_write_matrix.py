"""Every way a poll can end, and what it writes to every column (polling.md, section 6).

Hand-made replies go the pure way of a poll, from two states in which every column is set: one on
the ladder, one with a circuit half-open.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sourcemon.core.cadence import CadencePolicy
from sourcemon.core.entries import Unreadable
from sourcemon.core.paging import (
    StopReason,
    Walk,
    after_fault,
    after_page,
    after_reply,
    after_unreadable,
    asking,
    hash_of,
)
from sourcemon.core.poll_state import PollState, PollStatus, RetryProgress
from sourcemon.core.replies import ErrorCategory, Validators
from sourcemon.core.schedule import ObjectionName, Schedule
from sourcemon.core.verdict import PollVerdict, RunStatus, decide
from tests.core.handmade import DAY, HOUR, MINUTE, NOW, SECOND, objection, plan, source
from tests.core.matrix import (
    CLEARED,
    COLUMNS,
    ENDED,
    KNOWN_BODY,
    OPENED,
    ROWS,
    SAID,
    SLOPPY,
    TORN,
    UNTOUCHED,
    Row,
)

Name = ObjectionName

SPEC = (
    "200",
    "304",
    "primary limit",
    "secondary limit",
    "429",
    "503 with Retry-After",
    "3xx with Retry-After",
    "401",
    "403 without rate-limit signs",
    "404",
    "410",
    "422",
    "408",
    "421",
    "425",
    "451",
    "any other 4xx",
    "3xx without Location",
    "5xx",
    "timeout",
    "connect",
    "DNS",
    "TLS",
    "refused by our guard",
    "redirect limit",
    "body too large",
    "body torn",
    "body undecodable",
    "not a feed",
    "malformed",
    "unexpected 304",
    "hop or try refused by the budget",
    "hop or try refused by the host",
    "fault of ours",
    "budget refused before any request",
    "not due",
    "host ticket refused before the first request",
    "disabled",
    "failed or gone source",
    "claim busy",
    "trouble on a later page",
    "limit on a later page",
)
"""The spec's table by name, with the outcomes that its text adds (section 5)."""

ABSENT = {
    "primary limit": "needs a budget with counted requests; there is none yet",
    "hop or try refused by the budget": "there is no budget yet",
    "hop or try refused by the host": "there is no host ledger yet",
    "budget refused before any request": "there is no budget yet",
    "host ticket refused before the first request": "there is no host ledger yet",
    "trouble on a later page": "a feed has one page; its archives are not walked yet",
    "limit on a later page": "a feed has one page; its archives are not walked yet",
    "not due": "no verdict: the schedule check ends it before a walk (tests of operations)",
    "disabled": "no verdict: the schedule check ends it before a walk (tests of operations)",
    "failed or gone source": "no verdict: the schedule check ends it before a walk (likewise)",
    "claim busy": "no verdict: the schedule check ends it before a walk (tests of operations)",
}

ON_THE_LADDER = PollState(
    status=PollStatus.IDLE,
    schedule=Schedule.of(
        [
            objection(Name.CADENCE, NOW - HOUR),
            objection(Name.FLOOR, NOW - 50 * MINUTE),
            objection(Name.RETRY, NOW - 40 * MINUTE),
            objection(Name.BACKOFF, NOW - 30 * MINUTE),
        ]
    ),
    validators=Validators('"old"', "Fri, 02 Jan 2026 00:00:00 GMT"),
    body_hash=hash_of(KNOWN_BODY),
    retry=RetryProgress(attempt=1, category=ErrorCategory.NETWORK),
    consecutive_failures=3,
    last_polled_at=NOW - 2 * HOUR,
    last_success_at=NOW - DAY,
    last_error="connection refused",
)
HALF_OPEN = replace(
    ON_THE_LADDER,
    schedule=ON_THE_LADDER.schedule.raising(objection(Name.CIRCUIT, NOW - 20 * MINUTE)),
    retry=OPENED,
)
AT_REST = PollState()


def walked(row: Row, state: PollState) -> Walk:
    """The walk of a row, from the request to its end."""
    forced = row.get("forced", False)
    held = Validators() if forced else state.validators
    known = None if forced else state.body_hash
    walk = asking(Walk(plan=plan(held)))
    if row["reply"] is None:
        return after_fault(walk, "unexpected KeyError")
    walk = after_reply(walk, row["reply"], held=held, known_body_hash=known)
    match row.get("then"):
        case None:
            return walk
        case "fault":
            return after_fault(walk, "unexpected KeyError")
        case "stopped":
            return after_fault(walk, "stopped", stop_reason=StopReason.INTERRUPTED)
        case Unreadable() as unreadable:
            return after_unreadable(walk, unreadable)
        case page, counters:
            return after_page(walk, page, counters)
        case other:
            raise AssertionError(other)


def judged(row: Row, state: PollState) -> PollVerdict:
    return decide(
        walked(row, state),
        state,
        source(interval=HOUR),
        CadencePolicy(),
        started_at=NOW - SECOND,
        now=ENDED,
        roll=0.0,
    )


def columns_of(state: PollState) -> dict[str, Any]:
    """The columns that outlive a poll."""
    return {
        "cadence": state.schedule.until(Name.CADENCE),
        "floor": state.schedule.until(Name.FLOOR),
        "retry": state.schedule.until(Name.RETRY),
        "back-off": state.schedule.until(Name.BACKOFF),
        "circuit": state.schedule.until(Name.CIRCUIT),
        "retry progress": state.retry,
        "validators": state.validators,
        "body hash": state.body_hash,
        "last success": state.last_success_at,
        "failures": state.consecutive_failures,
        "poll status": state.status,
        "last error": state.last_error,
    }


def expected(row: Row, before: PollState, said: str | None) -> dict[str, Any]:
    """The columns that a row promises, its words replaced by values."""
    untouched, at_rest = columns_of(before), columns_of(AT_REST)
    values = {}
    for column in COLUMNS:
        value = row[column]
        if value is UNTOUCHED:
            value = untouched[column]
        elif value is CLEARED:
            value = at_rest[column]
        elif value is SAID:
            value = said
        values[column] = value
    return values


def found(verdict: PollVerdict) -> dict[str, Any]:
    return {
        "run": verdict.run.status.value,
        "stop reason": verdict.run.stop_reason,
        "error category": verdict.run.error_category,
        **columns_of(verdict.state),
    }


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_on_the_ladder(row):
    verdict = judged(row, ON_THE_LADDER)
    assert found(verdict) == expected(row, ON_THE_LADDER, verdict.run.error)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_half_open(row):
    verdict = judged(row, HALF_OPEN)
    assert found(verdict) == expected({**row, **row["half open"]}, HALF_OPEN, verdict.run.error)


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_run_says_why_it_failed_was_deferred_or_is_degraded(row):
    run = judged(row, ON_THE_LADDER).run
    has_reason = row["run"] in {"failed", "deferred"} or row.get("then") in (TORN, SLOPPY)
    assert bool(run.error) is has_reason


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_every_outcome_is_an_attempt_that_moves_the_last_poll(row):
    assert judged(row, ON_THE_LADDER).state.last_polled_at == ENDED


def test_every_row_has_every_column():
    for row in ROWS.values():
        assert set(COLUMNS) <= row.keys()
        assert row["half open"].keys() <= set(COLUMNS)


def test_every_column_is_set_before_so_that_untouched_can_be_seen():
    before, at_rest = columns_of(HALF_OPEN), columns_of(AT_REST)
    same = {column for column in before if before[column] == at_rest[column]}
    assert same == {"poll status"}


def test_present_and_absent_rows_name_the_whole_table():
    present = {row["of"] for row in ROWS.values()}
    assert present | ABSENT.keys() == set(SPEC)
    assert not present & ABSENT.keys()


def test_every_way_to_stop_and_every_category_has_a_row():
    assert {row["stop reason"] for row in ROWS.values()} == {None, *StopReason}
    assert {row["error category"] for row in ROWS.values()} == {None, *ErrorCategory}
    assert {row["run"] for row in ROWS.values()} == set(RunStatus) - {RunStatus.RUNNING}
