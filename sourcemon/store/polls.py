"""The only writer of ``poll_runs`` and, but for the claim, of ``poll_states``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, case, delete, or_, update
from sqlmodel import Session, col, select

from sourcemon.core.paging import StopReason
from sourcemon.core.poll_state import PollState, PollStatus
from sourcemon.core.replies import ErrorCategory
from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.core.sources import SourceId
from sourcemon.core.verdict import RunRecord, RunStatus
from sourcemon.errors import ClaimLost, UnknownSource
from sourcemon.store import poll_rows
from sourcemon.store.tables import PollRunRow, PollStateRow

_RAISED_BY_HINTS = frozenset({ObjectionName.FLOOR, ObjectionName.RETRY})


def create(session: Session, source_id: SourceId, *, next_poll_at: datetime) -> None:
    """The state of a source that was never polled."""
    row = PollStateRow(source_id=source_id, status=PollStatus.IDLE.value, next_poll_at=next_poll_at)
    session.add(row)
    session.flush()


def read(session: Session, source_id: SourceId) -> PollState:
    """The state as it stands, without a lock: to show, or to decide whether to ask for more.

    Raises:
        UnknownSource: no source has that id.
    """
    row = session.get(PollStateRow, source_id)
    if row is None:
        raise UnknownSource(source_id)
    return poll_rows.state_of(row)


def lock(session: Session, source_id: SourceId, *, token: str) -> PollState:
    """The state under a row lock that lasts to the end of the transaction, if the claim is ours.

    Raises:
        ClaimLost: the claim under ``token`` is gone.
    """
    row = session.exec(
        select(PollStateRow)
        .where(PollStateRow.source_id == source_id, PollStateRow.claim_token == token)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one_or_none()
    if row is None:
        raise ClaimLost(source_id)
    return poll_rows.state_of(row)


def hold(session: Session, source_id: SourceId) -> PollState:
    """The state under a row lock, whoever has the claim: for an operator's decision.

    Raises:
        UnknownSource: no source has that id.
    """
    row = session.get(PollStateRow, source_id, with_for_update=True, populate_existing=True)
    if row is None:
        raise UnknownSource(source_id)
    return poll_rows.state_of(row)


def begin_run(session: Session, source_id: SourceId, *, started_at: datetime, forced: bool) -> int:
    """A run row for a request that is about to be sent; its id."""
    row = PollRunRow(
        source_id=source_id,
        status=RunStatus.RUNNING.value,
        forced=forced,
        started_at=started_at,
    )
    session.add(row)
    session.flush()
    if row.id is None:
        raise RuntimeError("the database numbered no run")
    return row.id


def discard_run(session: Session, run_id: int) -> None:
    """Take back the row of a run whose request was never sent."""
    session.execute(delete(PollRunRow).where(col(PollRunRow.id) == run_id))


def close_interrupted(session: Session, source_id: SourceId, *, now: datetime) -> int:
    """Close the runs of a source that a dead worker left open; how many there were.

    Only for the holder of a fresh claim: whatever still says ``running`` then is nobody's.
    """
    return _close(session, col(PollRunRow.source_id) == source_id, now)


def close_orphans(session: Session, *, now: datetime) -> int:
    """Close every open run of a source that nobody holds a claim on; how many there were."""
    unclaimed = select(PollStateRow.source_id).where(col(PollStateRow.claim_token).is_(None))
    return _close(session, col(PollRunRow.source_id).in_(unclaimed), now)


def _close(session: Session, which: ColumnElement[bool], now: datetime) -> int:
    closed = session.execute(
        update(PollRunRow)
        .where(which, col(PollRunRow.status) == RunStatus.RUNNING.value)
        .values(
            status=RunStatus.FAILED.value,
            finished_at=now,
            stop_reason=StopReason.INTERRUPTED.value,
            error_category=ErrorCategory.INTERNAL.value,
            error="the worker died or was stopped before the poll ended",
        )
        .returning(col(PollRunRow.id))
        .execution_options(synchronize_session=False)
    ).all()
    return len(closed)


def raise_objections(
    session: Session, source_id: SourceId, objections: Sequence[Objection]
) -> None:
    """Raise the server's objections to these instants where they are later; never lower one.

    Deliberately without a token: what a server asked for counts even if our claim was lost.

    Raises:
        ValueError: one of them is not the server's floor or retry.
    """
    values: dict[str, Any] = {}
    for objection in objections:
        if objection.name not in _RAISED_BY_HINTS:
            raise ValueError(f"{objection.name} is not raised by a server's hint")
        until = col(getattr(PollStateRow, objection.name.value))
        because = poll_rows.BECAUSE[objection.name]
        later = or_(until.is_(None), until < objection.until)
        values[objection.name.value] = case((later, objection.until), else_=until)
        words = col(getattr(PollStateRow, because))
        values[because] = case((later, objection.because), else_=words)
    if values:
        session.execute(_state_of(source_id).values(values))


def record(session: Session, source_id: SourceId, *, token: str, state: PollState) -> None:
    """Store the state that a verdict left; whatever run was scheduled before is settled by it.

    Raises:
        ClaimLost: the claim under ``token`` is gone; nothing was stored.
    """
    written = session.execute(
        _state_of(source_id)
        .where(col(PollStateRow.claim_token) == token)
        .values({**poll_rows.columns_of(state), "hint_until": None})
        .returning(col(PollStateRow.source_id))
    ).all()
    if not written:
        raise ClaimLost(source_id)


def end_run(session: Session, run_id: int, run: RunRecord, *, decision: dict[str, Any]) -> None:
    """Complete the run row with what the poll came to and why the next one comes when it does."""
    session.execute(
        update(PollRunRow)
        .where(col(PollRunRow.id) == run_id)
        .values(**poll_rows.run_columns(run), decision=decision)
        .execution_options(synchronize_session=False)
    )


def cache_next_poll(session: Session, source_id: SourceId, next_poll_at: datetime) -> None:
    """Store the answer to "when next?" for the due index; the one place that writes it later on."""
    session.execute(_state_of(source_id).values(next_poll_at=next_poll_at))


def leave_to_run(
    session: Session, source_id: SourceId, *, due: datetime, until: datetime | None
) -> bool:
    """Keep the due index off a source until ``until``, because a run is scheduled for ``due``.

    Only while the source is still due then: a poll in between has made the run pointless.
    """
    left = session.execute(
        _state_of(source_id)
        .where(col(PollStateRow.next_poll_at) == due)
        .values(hint_until=until)
        .returning(col(PollStateRow.source_id))
    ).all()
    return bool(left)


def start_afresh(session: Session, source_id: SourceId, state: PollState) -> None:
    """Store a state that an operator's decision made of the one before."""
    session.execute(_state_of(source_id).values(poll_rows.columns_of(state)))


def _state_of(source_id: SourceId) -> Any:  # noqa: ANN401 - SQLAlchemy's Update[...] is not needed here
    return (
        update(PollStateRow)
        .where(col(PollStateRow.source_id) == source_id)
        .execution_options(synchronize_session=False)
    )
