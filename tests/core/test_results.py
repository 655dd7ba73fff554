"""How an attempt is named and told."""

from __future__ import annotations

import pytest

from sourcemon.core.changes import Counters
from sourcemon.core.replies import ErrorCategory
from sourcemon.core.results import (
    Deferral,
    DeferralKind,
    OutcomeName,
    PollResult,
    headline,
    outcome_name,
)
from sourcemon.core.schedule import NEVER, Objection, ObjectionName
from sourcemon.core.sources import SourceId
from sourcemon.core.verdict import RunStatus
from tests.core.handmade import HOUR, NOW

CADENCE = Objection(ObjectionName.CADENCE, NOW + HOUR, "every 1 h")
RETRY = Objection(ObjectionName.RETRY, NOW + 2 * HOUR, "Retry-After: 7200")


def result(
    status=RunStatus.COMPLETED,
    *,
    counters=Counters(),
    category=None,
    error=None,
    binding=CADENCE,
    next_poll_at=None,
    retries=False,
) -> PollResult:
    return PollResult(
        source_id=SourceId(7),
        source_name="The Gazette",
        run_id=1,
        status=status,
        counters=counters,
        http_status=200,
        stop_reason=None,
        error_category=category,
        error=error,
        grade=None,
        retries=retries,
        next_poll_at=next_poll_at or (binding.until if binding else NOW),
        binding=binding,
    )


def deferral(kind, reason="because it is so", until=None) -> Deferral:
    return Deferral(
        source_id=SourceId(7), source_name="The Gazette", kind=kind, reason=reason, until=until
    )


GONE = result(
    RunStatus.FAILED,
    category=ErrorCategory.GONE,
    error="HTTP 410: the server says it is gone for good",
    next_poll_at=NEVER,
)

NAMES = {
    "new items": (result(counters=Counters(created=1, unchanged=9)), OutcomeName.NEW_ITEMS),
    "edited items count as new": (result(counters=Counters(updated=1)), OutcomeName.NEW_ITEMS),
    "only known items": (
        result(counters=Counters(unchanged=9, duplicate=1)),
        OutcomeName.NOTHING_NEW,
    ),
    "not modified": (result(RunStatus.NOT_MODIFIED), OutcomeName.NOTHING_NEW),
    "limited": (
        result(RunStatus.DEFERRED, category=ErrorCategory.RATE_LIMITED),
        OutcomeName.DEFERRED,
    ),
    "not due": (deferral(DeferralKind.NOT_DUE), OutcomeName.DEFERRED),
    "another worker is at it": (deferral(DeferralKind.BUSY), OutcomeName.DEFERRED),
    "switched off": (deferral(DeferralKind.DISABLED), OutcomeName.DEFERRED),
    "a failure": (
        result(RunStatus.FAILED, category=ErrorCategory.TIMEOUT),
        OutcomeName.SOURCE_FAILED,
    ),
    "a server that refuses us": (
        result(RunStatus.FAILED, category=ErrorCategory.BLOCKED),
        OutcomeName.SOURCE_BLOCKED,
    ),
    "gone": (GONE, OutcomeName.SOURCE_FAILED),
}


@pytest.mark.parametrize("attempt, expected", NAMES.values(), ids=NAMES)
def test_outcome_name(attempt, expected):
    assert outcome_name(attempt) is expected


HEADLINES = {
    "new items": (
        result(counters=Counters(created=3)),
        "3 new, next 2026-01-10 13:00:00 UTC (cadence_due_at: every 1 h)",
    ),
    "nothing new": (
        result(counters=Counters(unchanged=3)),
        "0 new, next 2026-01-10 13:00:00 UTC (cadence_due_at: every 1 h)",
    ),
    "edited and lost ones": (
        result(counters=Counters(created=1, updated=2, failed=3)),
        (
            "1 new, 2 updated, 3 could not be stored, next 2026-01-10 13:00:00 UTC"
            " (cadence_due_at: every 1 h)"
        ),
    ),
    "not modified": (
        result(RunStatus.NOT_MODIFIED),
        "not modified, next 2026-01-10 13:00:00 UTC (cadence_due_at: every 1 h)",
    ),
    "nothing speaks against the next": (
        result(RunStatus.NOT_MODIFIED, binding=None),
        "not modified, next 2026-01-10 12:00:00 UTC",
    ),
    "a failure": (
        result(RunStatus.FAILED, category=ErrorCategory.HTTP, error="HTTP 500"),
        "failed: HTTP 500, next 2026-01-10 13:00:00 UTC (cadence_due_at: every 1 h)",
    ),
    "a failure without words": (
        result(RunStatus.FAILED, category=ErrorCategory.TIMEOUT),
        "failed: timeout, next 2026-01-10 13:00:00 UTC (cadence_due_at: every 1 h)",
    ),
    "limited": (
        result(RunStatus.DEFERRED, category=ErrorCategory.RATE_LIMITED, binding=RETRY),
        "deferred until 2026-01-10 14:00:00 UTC: retry_not_before_at: Retry-After: 7200",
    ),
    "not due": (
        deferral(DeferralKind.NOT_DUE, "poll_floor_until: max-age", NOW + HOUR),
        "deferred until 2026-01-10 13:00:00 UTC: poll_floor_until: max-age",
    ),
    "no instant to wait for": (
        deferral(DeferralKind.BUSY, "another worker is polling it"),
        "deferred: another worker is polling it",
    ),
}


@pytest.mark.parametrize("attempt, expected", HEADLINES.values(), ids=HEADLINES)
def test_headline(attempt, expected):
    assert headline(attempt) == expected


def test_a_source_that_is_gone_is_promised_no_next_poll():
    told = headline(GONE)
    assert told.startswith("failed: HTTP 410")
    assert "sourcemon enable 7" in told
    assert "9999" not in told
    assert "cadence_due_at" not in told


SUCCEEDED = {
    RunStatus.COMPLETED: True,
    RunStatus.NOT_MODIFIED: True,
    RunStatus.DEFERRED: False,
    RunStatus.FAILED: False,
    RunStatus.RUNNING: False,
}


@pytest.mark.parametrize("status", RunStatus)
def test_succeeded(status):
    assert result(status).succeeded is SUCCEEDED[status]


FOR_OPERATOR = {
    DeferralKind.NOT_DUE: False,
    DeferralKind.BUSY: False,
    DeferralKind.DISABLED: True,
    DeferralKind.FAILED: True,
    DeferralKind.GONE: True,
}


@pytest.mark.parametrize("kind", DeferralKind)
def test_what_time_alone_will_not_change(kind):
    assert kind.waits_for_operator is FOR_OPERATOR[kind]
