"""Sources and their configuration: the only writer of the table ``sources``."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select

from sourcemon.core.entries import identity_hash
from sourcemon.core.sources import NewSource, Source, SourceId, SourceKind
from sourcemon.core.urls import comparable_url
from sourcemon.errors import DuplicateSource, UnknownSource
from sourcemon.store.tables import SourceRow


def add(session: Session, new: NewSource, *, now: datetime) -> Source:
    """Register a source and return it with its id.

    Raises:
        DuplicateSource: a source of that kind watches the same URL (http and https are one).
    """
    row = SourceRow(
        kind=new.kind.value,
        url=new.url,
        url_hash=identity_hash(comparable_url(new.url)),
        name=new.name,
        interval_s=int(new.interval.total_seconds()),
        created_at=now,
    )
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError as error:
        twin = session.exec(
            select(SourceRow).where(
                SourceRow.kind == new.kind.value, SourceRow.url_hash == row.url_hash
            )
        ).one()
        raise DuplicateSource(new.url, source_id=source_of(twin).id, name=twin.name) from error
    return source_of(row)


def get(session: Session, source_id: SourceId) -> Source:
    """The source with that id.

    Raises:
        UnknownSource: there is none.
    """
    row = session.get(SourceRow, source_id)
    if row is None:
        raise UnknownSource(source_id)
    return source_of(row)


def set_enabled(session: Session, source_id: SourceId, *, enabled: bool) -> None:
    """Switch a source on or off.

    Raises:
        UnknownSource: there is none with that id.
    """
    get(session, source_id)
    session.execute(update(SourceRow).where(col(SourceRow.id) == source_id).values(enabled=enabled))


def source_of(row: SourceRow) -> Source:
    """The value of a stored row."""
    if row.id is None:
        raise ValueError("a source without an id was never stored")
    return Source(
        id=SourceId(row.id),
        kind=SourceKind(row.kind),
        url=row.url,
        name=row.name,
        interval=timedelta(seconds=row.interval_s),
        enabled=row.enabled,
        created_at=row.created_at,
    )
