"""Step 4, the one exit: record all that the poll decided, in one transaction."""

from __future__ import annotations

from datetime import datetime

from sourcemon.core import health as grading
from sourcemon.core.decisions import decision_record, next_poll_at
from sourcemon.core.health import Grade
from sourcemon.core.paging import StopReason
from sourcemon.core.poll_state import PollStatus
from sourcemon.core.replies import ErrorCategory
from sourcemon.core.results import PollResult
from sourcemon.core.verdict import PollVerdict, decide
from sourcemon.operations.deps import CrashPoint, Deps
from sourcemon.operations.poll_context import Poll
from sourcemon.store import claims, health, polls, sources
from sourcemon.store.session import Session


def evaluate_health(deps: Deps, poll: Poll) -> PollResult | None:
    """Record the verdict, grade the source, release the claim; what the poll came to.

    ``None`` when the walk was stopped, before its first request or later: nothing was decided
    then, and the source is released as it was.

    Raises:
        ClaimLost: another worker took over; its truth stands and nothing is written.
        DatabaseUnavailable: the database failed; the claim expires by itself.
    """
    with poll.alone:
        if not poll.walk.is_over:
            poll.interrupt()
        is_interrupted = poll.walk.stop_reason is StopReason.INTERRUPTED
        if poll.run_id is None or poll.walk.requests == 0 or is_interrupted:
            _release(deps, poll)
            return None
        return _recorded(deps, poll, poll.run_id)


def _recorded(deps: Deps, poll: Poll, run_id: int) -> PollResult:
    """What the poll came to, once the transaction that records it is through."""
    deps.reached(CrashPoint.BEFORE_VERDICT)
    now = deps.clock.now()
    context = poll.context
    with deps.database.write() as session:
        before = polls.lock(session, context.source.id, token=context.token)
        verdict = decide(
            poll.walk,
            before,
            context.source,
            deps.policies.cadence,
            started_at=context.started_at,
            now=now,
            roll=deps.clock.roll(),
        )
        schedule = verdict.state.schedule
        polls.record(session, context.source.id, token=context.token, state=verdict.state)
        polls.end_run(
            session,
            run_id,
            verdict.run,
            decision=decision_record(schedule, before, verdict.state),
        )
        grade = _graded(deps, session, poll)
        enabled = sources.get(session, context.source.id).enabled
        due = next_poll_at(schedule, enabled=enabled, status=verdict.state.status)
        polls.cache_next_poll(session, context.source.id, due)
        claims.release(session, [context.source.id], token=context.token)
    return _result(poll, run_id, verdict, grade, due)


def _release(deps: Deps, poll: Poll) -> None:
    """Give the source back as it was: due again, under what the server asked for meanwhile.

    A run that no request came of is taken back; one that was stopped is closed as interrupted,
    just as if its worker had died.
    """
    context = poll.context
    with deps.database.write() as session:
        if poll.run_id is not None:
            polls.lock(session, context.source.id, token=context.token)
            if poll.walk.requests == 0:
                polls.discard_run(session, poll.run_id)
            polls.close_interrupted(session, context.source.id, now=deps.clock.now())
        claims.release(session, [context.source.id], token=context.token)


def _graded(deps: Deps, session: Session, poll: Poll) -> Grade | None:
    """The grade after the newest attempts, this one included."""
    policy = deps.policies.health
    source_id = poll.context.source.id
    window = health.window(session, source_id, size=policy.window_size)
    grade = grading.grade(window, policy)
    health.record(session, source_id, window, grade, now=deps.clock.now())
    return health.grade_of(session, source_id)


def _result(
    poll: Poll, run_id: int, verdict: PollVerdict, grade: Grade | None, due: datetime
) -> PollResult:
    run = verdict.run
    source = poll.context.source
    return PollResult(
        source_id=source.id,
        source_name=source.name,
        run_id=run_id,
        status=run.status,
        counters=run.counters,
        http_status=run.http_status,
        stop_reason=run.stop_reason.value if run.stop_reason else None,
        error_category=run.error_category,
        error=run.error,
        grade=grade,
        retries=_retries(verdict),
        next_poll_at=due,
        binding=verdict.state.schedule.binding(),
    )


def _retries(verdict: PollVerdict) -> bool:
    """Whether this poll's failure or limit was granted another try by the ladder."""
    of_theirs = verdict.run.error_category not in {None, ErrorCategory.INTERNAL}
    state = verdict.state
    return of_theirs and state.retry.attempt > 0 and state.status is PollStatus.IDLE
