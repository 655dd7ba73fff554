"""Everything one poll decided, in one value: the run, the state after it, and what changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from sourcemon.core import retry
from sourcemon.core.cadence import CadencePolicy, next_cadence
from sourcemon.core.changes import Counters
from sourcemon.core.paging import Outcome, StopReason, Walk
from sourcemon.core.poll_state import PollState, PollStatus, RetryProgress
from sourcemon.core.replies import ErrorCategory, Failure, Validators
from sourcemon.core.schedule import ObjectionName
from sourcemon.core.sources import Source, SourceKind

LONGEST_ERROR = 1_000
ENDED_BY_410 = frozenset({SourceKind.FEED})
"""The kinds whose publisher ends them by saying "gone"."""


class RunStatus(StrEnum):
    """What a run row says of its poll."""

    RUNNING = "running"
    COMPLETED = "completed"
    NOT_MODIFIED = "not_modified"
    DEFERRED = "deferred"
    FAILED = "failed"


_STATUS = {
    Outcome.COMPLETED: RunStatus.COMPLETED,
    Outcome.NOT_MODIFIED: RunStatus.NOT_MODIFIED,
    Outcome.LIMITED: RunStatus.DEFERRED,
    Outcome.FAILED: RunStatus.FAILED,
    Outcome.FAULT: RunStatus.FAILED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What is kept of one poll for good."""

    status: RunStatus
    finished_at: datetime
    duration: timedelta
    counters: Counters
    pages_fetched: int
    http_status: int | None
    bytes_received: int
    stop_reason: StopReason | None
    error_category: ErrorCategory | None
    error: str | None
    """At most 1000 characters; of a degraded document what was wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollVerdict:
    """One way a poll ended: the run to record and the state to hold until the next one."""

    run: RunRecord
    state: PollState


def decide(
    walk: Walk,
    state: PollState,
    source: Source,
    policy: CadencePolicy,
    *,
    started_at: datetime,
    now: datetime,
    roll: float,
) -> PollVerdict:
    """The verdict on a walk that sent at least one request and is over.

    ``state`` is the state as it stands now, server hints of this poll included.

    Raises:
        ValueError: the walk is not over, or it sent nothing and there is nothing to judge.
    """
    if walk.outcome is None or not walk.is_over or walk.requests == 0:
        raise ValueError("only a walk that sent a request and is over can be judged")
    after = _with_hints(walk, state)
    after = _judged(walk, after, source.kind, now)
    cadence = next_cadence(
        source,
        policy,
        unvalidated=walk.outcome is Outcome.COMPLETED and walk.validators == Validators(),
        hinted=walk.hinted,
        now=now,
        roll=roll,
    )
    after = replace(after, schedule=after.schedule.replacing(cadence), last_polled_at=now)
    return PollVerdict(run=_record(walk, walk.outcome, started_at, now), state=after)


def _judged(walk: Walk, state: PollState, kind: SourceKind, now: datetime) -> PollState:
    """The state after what the first page decided, cadence aside."""
    match walk.outcome:
        case Outcome.COMPLETED | Outcome.NOT_MODIFIED:
            return _succeeded(state, now)
        case Outcome.LIMITED:
            return _limited(state, now)
        case Outcome.FAULT:
            return _on_the_ladder(state, ErrorCategory.INTERNAL, None, now)
        case _:
            return _failed(walk, state, kind, now)


def _with_hints(walk: Walk, state: PollState) -> PollState:
    """The state with the server's objections raised and the validators that this poll left."""
    schedule = state.schedule
    for objection in walk.objections:
        schedule = schedule.raising(objection)
    validators = state.validators if walk.validators is None else walk.validators
    body_hash = state.body_hash if walk.body_hash is None else walk.body_hash
    return replace(state, schedule=schedule, validators=validators, body_hash=body_hash)


def _succeeded(state: PollState, now: datetime) -> PollState:
    """A success ends back-off and circuit; the server's objections and the status stand."""
    at_rest = state.schedule.without(ObjectionName.BACKOFF).without(ObjectionName.CIRCUIT)
    return replace(
        state,
        schedule=at_rest,
        retry=RetryProgress(),
        consecutive_failures=0,
        last_success_at=now,
        last_error=None,
    )


def _limited(state: PollState, now: datetime) -> PollState:
    """A limit is neutral: its instant is the server's; only a third in a row opens the circuit."""
    decision = retry.decide_limit(state.retry, now=now)
    schedule = state.schedule
    if decision.circuit is not None:
        schedule = schedule.without(ObjectionName.BACKOFF).replacing(decision.circuit)
    return replace(state, schedule=schedule, retry=decision.progress)


def _failed(walk: Walk, state: PollState, kind: SourceKind, now: datetime) -> PollState:
    """A failure of the source: one more, a rung of the ladder, and for a feed's 410 the end."""
    failure = walk.failure or Failure(ErrorCategory.HTTP, "unknown failure")
    gone = kind in ENDED_BY_410 and failure.category is ErrorCategory.GONE
    after = _on_the_ladder(state, failure.category, walk.http_status, now)
    return replace(
        after,
        status=PollStatus.GONE if gone else state.status,
        consecutive_failures=state.consecutive_failures + 1,
        last_error=failure.message[:LONGEST_ERROR],
    )


def _on_the_ladder(
    state: PollState, category: ErrorCategory, http_status: int | None, now: datetime
) -> PollState:
    """The state with the back-off or the circuit that the retry ladder decides."""
    decision = retry.decide(category, state.retry, http_status=http_status, now=now)
    schedule = state.schedule
    if decision.backoff is not None:
        schedule = schedule.replacing(decision.backoff)
    if decision.circuit is not None:
        schedule = schedule.without(ObjectionName.BACKOFF).replacing(decision.circuit)
    return replace(state, schedule=schedule, retry=decision.progress)


def _record(walk: Walk, outcome: Outcome, started_at: datetime, now: datetime) -> RunRecord:
    error = walk.failure.message if walk.failure else walk.degraded
    return RunRecord(
        status=_STATUS[outcome],
        finished_at=now,
        duration=now - started_at,
        counters=walk.counters,
        pages_fetched=walk.pages_fetched,
        http_status=walk.http_status,
        bytes_received=walk.bytes_received,
        stop_reason=walk.stop_reason,
        error_category=walk.failure.category if walk.failure else None,
        error=error[:LONGEST_ERROR] if error else None,
    )
