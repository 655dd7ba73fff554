"""Sources, runs and items as lists for people. Writes nothing; every list is bounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select
from sqlmodel import Session, col

from sourcemon.core.changes import Counters
from sourcemon.core.health import Grade
from sourcemon.core.overviews import ItemOverview, RunOverview, SourceOverview
from sourcemon.core.sources import SourceId
from sourcemon.errors import UnknownSource
from sourcemon.store import poll_rows
from sourcemon.store.sources import source_of
from sourcemon.store.tables import HealthStateRow, ItemRow, PollRunRow, PollStateRow, SourceRow

_ITEMS = (
    select(func.count())
    .where(col(ItemRow.source_id) == col(SourceRow.id))
    .correlate(SourceRow)
    .scalar_subquery()
)


def sources(session: Session, ids: Sequence[SourceId] | None = None) -> tuple[SourceOverview, ...]:
    """The sources with these ids, or all of them, by id; unknown ids are left out."""
    query = (
        select(SourceRow, PollStateRow, HealthStateRow, _ITEMS)
        .join(PollStateRow, col(PollStateRow.source_id) == col(SourceRow.id))
        .outerjoin(HealthStateRow, col(HealthStateRow.source_id) == col(SourceRow.id))
        .order_by(col(SourceRow.id))
    )
    if ids is not None:
        query = query.where(col(SourceRow.id).in_(ids))
    return tuple(_overview(*row) for row in session.execute(query).all())


def source(session: Session, source_id: SourceId) -> SourceOverview:
    """The one source with that id.

    Raises:
        UnknownSource: there is none.
    """
    found = sources(session, [source_id])
    if not found:
        raise UnknownSource(source_id)
    return found[0]


def runs(
    session: Session, source_id: SourceId | None = None, *, limit: int
) -> tuple[RunOverview, ...]:
    """The newest runs, of one source or of all, newest first."""
    query = (
        select(PollRunRow, col(SourceRow.name))
        .join(SourceRow, col(SourceRow.id) == col(PollRunRow.source_id))
        .order_by(col(PollRunRow.started_at).desc(), col(PollRunRow.id).desc())
        .limit(limit)
    )
    if source_id is not None:
        query = query.where(col(PollRunRow.source_id) == source_id)
    return tuple(_run(row, name) for row, name in session.execute(query).all())


def items(
    session: Session, source_id: SourceId | None = None, *, limit: int
) -> tuple[ItemOverview, ...]:
    """The items stored last, of one source or of all, newest first."""
    query = (
        select(ItemRow, col(SourceRow.name))
        .join(SourceRow, col(SourceRow.id) == col(ItemRow.source_id))
        .order_by(col(ItemRow.id).desc())
        .limit(limit)
    )
    if source_id is not None:
        query = query.where(col(ItemRow.source_id) == source_id)
    return tuple(_item(row, name) for row, name in session.execute(query).all())


def _overview(
    source_row: SourceRow, state: PollStateRow, health: HealthStateRow | None, items: int
) -> SourceOverview:
    return SourceOverview(
        source=source_of(source_row),
        state=poll_rows.state_of(state),
        grade=Grade(health.grade) if health is not None and health.grade else None,
        rolling_success_rate=health.rolling_success_rate if health is not None else None,
        items=items,
        next_poll_at=state.next_poll_at,
        claimed_until=state.claim_expires_at,
    )


def _run(row: PollRunRow, name: str) -> RunOverview:
    return RunOverview(
        id=row.id or 0,
        source_id=SourceId(row.source_id),
        source_name=name,
        status=row.status,
        forced=row.forced,
        started_at=row.started_at,
        finished_at=row.finished_at,
        duration_ms=row.duration_ms,
        http_status=row.http_status,
        bytes_received=row.bytes,
        pages_fetched=row.pages_fetched,
        counters=_counters(row),
        stop_reason=row.stop_reason,
        error_category=row.error_category,
        error=row.error,
        decision=row.decision,
    )


def _counters(row: PollRunRow) -> Counters:
    columns: dict[str, Any] = {name: getattr(row, name) for name in Counters.__slots__}
    return Counters(**columns)


def _item(row: ItemRow, name: str) -> ItemOverview:
    return ItemOverview(
        id=row.id or 0,
        source_id=SourceId(row.source_id),
        source_name=name,
        guid=row.guid,
        url=row.url,
        title=row.title,
        author=row.author,
        published_at=row.published_at,
        updated_at=row.updated_at,
        first_seen_at=row.first_seen_at,
        last_seen_at=row.last_seen_at,
    )
