"""Which attempts get a scheduled run of their own, and when such a run is pointless."""

from __future__ import annotations

import pytest

from sourcemon.core.hints import WORTH_A_RUN, deferred_until, retry_at
from sourcemon.core.results import Deferral, DeferralKind, PollResult
from sourcemon.core.schedule import NEVER
from sourcemon.core.sources import SourceId
from sourcemon.core.upkeep import ScheduledPoll, has_lost_its_reason
from sourcemon.core.verdict import RunStatus
from tests.core.handmade import HOUR, MICROSECOND, MINUTE, NOW
from tests.core.test_results import deferral, result

LATER = NOW + HOUR


def ended(next_poll_at, *, retries=True) -> PollResult:
    return result(RunStatus.FAILED, next_poll_at=next_poll_at, retries=retries)


RETRIES = {
    "a retry in an hour": (ended(LATER), LATER),
    "no retry": (ended(LATER, retries=False), None),
    "a retry in two minutes": (ended(NOW + WORTH_A_RUN), NOW + 2 * MINUTE),
    "a retry too near to be worth it": (ended(NOW + WORTH_A_RUN - MICROSECOND), None),
    "a retry that is due": (ended(NOW - HOUR), None),
}


@pytest.mark.parametrize("attempt, expected", RETRIES.values(), ids=RETRIES)
def test_retry_at(attempt, expected):
    assert retry_at(attempt, now=NOW) == expected


DEFERRALS = {
    "not due for an hour": (deferral(DeferralKind.NOT_DUE, until=LATER), LATER),
    "not due for two minutes": (
        deferral(DeferralKind.NOT_DUE, until=NOW + WORTH_A_RUN),
        NOW + 2 * MINUTE,
    ),
    "too near to be worth it": (
        deferral(DeferralKind.NOT_DUE, until=NOW + WORTH_A_RUN - MICROSECOND),
        None,
    ),
    "no instant": (deferral(DeferralKind.NOT_DUE), None),
    "another worker is at it": (deferral(DeferralKind.BUSY), None),
    "switched off": (deferral(DeferralKind.DISABLED, until=LATER), None),
    "gone": (deferral(DeferralKind.GONE, until=LATER), None),
}


@pytest.mark.parametrize("attempt, expected", DEFERRALS.values(), ids=DEFERRALS)
def test_deferred_until(attempt: Deferral, expected):
    assert deferred_until(attempt, now=NOW) == expected


def run_at(instant, *, force=False) -> ScheduledPoll:
    return ScheduledPoll(source_id=SourceId(7), at=instant, force=force)


POINTLESS = {
    "the source is due then": (run_at(NOW), NOW, False),
    "the source is due before": (run_at(NOW), NOW - HOUR, False),
    "the source is due only later": (run_at(NOW), NOW + MICROSECOND, True),
    "the source is no more": (run_at(NOW), None, True),
    "the source waits for an operator": (run_at(NOW), NEVER, True),
    "forced, the source is due only later": (run_at(NOW, force=True), LATER, False),
    "forced, the source is no more": (run_at(NOW, force=True), None, True),
    "forced, the source waits for an operator": (run_at(NOW, force=True), NEVER, True),
}


@pytest.mark.parametrize("scheduled, next_poll_at, expected", POINTLESS.values(), ids=POINTLESS)
def test_has_lost_its_reason(scheduled, next_poll_at, expected):
    assert has_lost_its_reason(scheduled, next_poll_at) is expected
