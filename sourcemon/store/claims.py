"""Who may poll a source now: the only writer of the claim columns of ``poll_states``.

A claim is a random token with an expiry. Every later write of the poll names the token; no row
under it means that the claim was lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, literal_column, or_, select, update
from sqlmodel import Session, col

from sourcemon.core.dispatch import ClaimedSource
from sourcemon.core.sources import SourceId
from sourcemon.core.urls import host_of
from sourcemon.errors import ClaimLost
from sourcemon.store.tables import PollStateRow, SourceRow

_ROW = PollStateRow


def take_due(
    session: Session, *, token: str, limit: int, lease: timedelta, instant: datetime
) -> tuple[ClaimedSource, ...]:
    """Claim up to ``limit`` due sources in one statement, the longest overdue first.

    Two callers at once get disjoint sources. A source whose claim has expired is free again; one
    that a scheduled run is expected for is left to it until ``hint_until``.
    """
    due = (
        select(col(_ROW.source_id))
        .where(
            col(_ROW.status) == literal_column("'idle'"),
            col(_ROW.next_poll_at) <= instant,
            _is_free(instant),
            or_(col(_ROW.hint_until).is_(None), col(_ROW.hint_until) <= instant),
        )
        .order_by(col(_ROW.next_poll_at), col(_ROW.source_id))
        .limit(limit)
        .with_for_update(skip_locked=True)
        .cte("due")
    )
    taken = session.execute(
        update(_ROW)
        .where(col(_ROW.source_id).in_(select(due.c.source_id)))
        .values(claim_token=token, claim_expires_at=instant + lease)
        .returning(col(_ROW.source_id), col(_ROW.next_poll_at))
        .execution_options(synchronize_session=False)
    ).all()
    order = [row.source_id for row in sorted(taken, key=lambda row: (row[1], row[0]))]
    return _described(session, order, token)


def take(
    session: Session, source_id: SourceId, *, token: str, lease: timedelta, instant: datetime
) -> bool:
    """Claim one source, due or not; ``False`` when another worker holds a claim on it."""
    taken = session.execute(
        update(_ROW)
        .where(col(_ROW.source_id) == source_id, _is_free(instant))
        .values(claim_token=token, claim_expires_at=instant + lease)
        .returning(col(_ROW.source_id))
        .execution_options(synchronize_session=False)
    ).all()
    return bool(taken)


def renew(
    session: Session, source_id: SourceId, *, token: str, lease: timedelta, instant: datetime
) -> None:
    """Move the expiry of our claim to ``instant + lease``.

    Raises:
        ClaimLost: another worker took the source after our claim expired.
    """
    renewed = session.execute(
        update(_ROW)
        .where(col(_ROW.source_id) == source_id, col(_ROW.claim_token) == token)
        .values(claim_expires_at=instant + lease)
        .returning(col(_ROW.source_id))
        .execution_options(synchronize_session=False)
    ).all()
    if not renewed:
        raise ClaimLost(source_id)


def release(session: Session, source_ids: Sequence[SourceId], *, token: str) -> None:
    """Give up our claim on these sources; those that we no longer hold are left alone."""
    session.execute(
        update(_ROW)
        .where(col(_ROW.source_id).in_(source_ids), col(_ROW.claim_token) == token)
        .values(claim_token=None, claim_expires_at=None)
        .execution_options(synchronize_session=False)
    )


def free_expired(session: Session, *, instant: datetime) -> int:
    """Give up every claim that has expired; how many there were."""
    freed = session.execute(
        update(_ROW)
        .where(col(_ROW.claim_expires_at) <= instant)
        .values(claim_token=None, claim_expires_at=None)
        .returning(col(_ROW.source_id))
        .execution_options(synchronize_session=False)
    ).all()
    return len(freed)


def _is_free(instant: datetime) -> ColumnElement[bool]:
    """Nobody holds a claim, or the one that is held has expired; the very instant is expired."""
    return or_(col(_ROW.claim_token).is_(None), col(_ROW.claim_expires_at) <= instant)


def _described(
    session: Session, source_ids: Sequence[int], token: str
) -> tuple[ClaimedSource, ...]:
    """The claimed sources with what a dispatcher needs to know of them, in the order given."""
    rows = session.execute(
        select(col(SourceRow.id), col(SourceRow.name), col(SourceRow.url)).where(
            col(SourceRow.id).in_(source_ids)
        )
    ).all()
    by_id = {row.id: row for row in rows}
    return tuple(
        ClaimedSource(
            source_id=SourceId(source_id),
            name=by_id[source_id].name,
            host=host_of(by_id[source_id].url),
            token=token,
        )
        for source_id in source_ids
    )
