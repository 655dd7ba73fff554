"""After a failure: try again when, or give up for how long? One ladder for each source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sourcemon.core.durations import describe
from sourcemon.core.poll_state import RetryProgress
from sourcemon.core.replies import ErrorCategory
from sourcemon.core.schedule import Objection, ObjectionName

LONGEST_CIRCUIT = timedelta(hours=24)
INTERNAL_WAIT = timedelta(minutes=10)
"""The wait after a fault of ours, which is never counted against the source."""


@dataclass(frozen=True, slots=True)
class Rung:
    """One row of the ladder: how many retries, how far apart, and the rest after them."""

    attempts: int
    wait: timedelta
    circuit: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryDecision:
    """What a failure leads to: a back-off or an open circuit, never both."""

    backoff: Objection | None
    circuit: Objection | None
    progress: RetryProgress


def _rung(attempts: int, wait_min: int, circuit_min: int) -> Rung:
    return Rung(attempts, timedelta(minutes=wait_min), timedelta(minutes=circuit_min))


SERVER_ERROR = _rung(2, 10, 90)
CLIENT_ERROR = _rung(1, 45, 120)
ANYTHING_ELSE = _rung(2, 10, 90)
LADDER = {
    ErrorCategory.TIMEOUT: _rung(2, 2, 60),
    ErrorCategory.NETWORK: _rung(3, 5, 60),
    ErrorCategory.RATE_LIMITED: _rung(2, 15, 90),
    ErrorCategory.GONE: CLIENT_ERROR,
    ErrorCategory.PARSE: _rung(1, 30, 120),
    ErrorCategory.TOO_LARGE: _rung(1, 30, 120),
    ErrorCategory.BLOCKED: _rung(1, 60, 240),
    ErrorCategory.AUTH: _rung(1, 60, 240),
}


def rung_for(category: ErrorCategory, http_status: int | None) -> Rung:
    """The row of the ladder for a failure; an HTTP error is judged by its status."""
    if category is ErrorCategory.HTTP and http_status is not None:
        if http_status >= 500:
            return SERVER_ERROR
        return CLIENT_ERROR if http_status >= 400 else ANYTHING_ELSE
    return LADDER.get(category, ANYTHING_ELSE)


def decide(
    category: ErrorCategory,
    progress: RetryProgress,
    *,
    http_status: int | None,
    now: datetime,
) -> RetryDecision:
    """The next rung after a failure at ``now``.

    The attempt restarts at 1 when the category changes. While a circuit has been opened and no
    success came since, any failure re-opens it at once for ``circuit * 2**reopens``, a day at
    most; the exponent is bounded before use. A fault of ours waits 10 minutes and moves nothing.
    """
    if category is ErrorCategory.INTERNAL:
        because = f"a fault of ours: wait {describe(INTERNAL_WAIT)}"
        return RetryDecision(
            backoff=Objection(ObjectionName.BACKOFF, now + INTERNAL_WAIT, because),
            circuit=None,
            progress=progress,
        )
    rung = rung_for(category, http_status)
    attempt = progress.attempt + 1 if progress.category is category else 1
    if progress.circuit_opened_at is None and attempt <= rung.attempts:
        return _retry(category, attempt, rung, now)
    return _open(category, progress, rung, now)


def decide_limit(progress: RetryProgress, *, now: datetime) -> RetryDecision:
    """What a limit at ``now`` leads to: nothing, until the third in a row opens the circuit.

    When to come back is the server's to say. A single limit is neutral even while a circuit is
    half-open: the source neither failed nor succeeded.
    """
    rung = LADDER[ErrorCategory.RATE_LIMITED]
    category = ErrorCategory.RATE_LIMITED
    attempt = progress.attempt + 1 if progress.category is category else 1
    if attempt > rung.attempts:
        return _open(category, progress, rung, now)
    return RetryDecision(
        backoff=None,
        circuit=None,
        progress=replace(progress, attempt=attempt, category=category),
    )


def _retry(category: ErrorCategory, attempt: int, rung: Rung, now: datetime) -> RetryDecision:
    because = f"retry {attempt} of {rung.attempts} after {category} failure: {describe(rung.wait)}"
    return RetryDecision(
        backoff=Objection(ObjectionName.BACKOFF, now + rung.wait, because),
        circuit=None,
        progress=RetryProgress(attempt=attempt, category=category),
    )


def _open(
    category: ErrorCategory, progress: RetryProgress, rung: Rung, now: datetime
) -> RetryDecision:
    reopens = 0 if progress.circuit_opened_at is None else progress.reopens + 1
    rest = min(rung.circuit * (1 << min(reopens, 16)), LONGEST_CIRCUIT)
    because = f"circuit open after repeated {category} failures: {describe(rest)}"
    return RetryDecision(
        backoff=None,
        circuit=Objection(ObjectionName.CIRCUIT, now + rest, because),
        progress=RetryProgress(category=category, circuit_opened_at=now, reopens=reopens),
    )
