"""Items and their contents: the only writer of ``items`` and ``item_contents``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, insert, update
from sqlalchemy.exc import DataError, IntegrityError, StatementError
from sqlmodel import Session, col, select

from sourcemon.core.changes import Change, Changes, Counters
from sourcemon.core.entries import Entry
from sourcemon.core.sources import SourceId
from sourcemon.store.tables import ItemContentRow, ItemRow

_UNSTORABLE = (DataError, IntegrityError, UnicodeError, OverflowError, ValueError)
"""What a single bad entry makes a driver say; anything else is a fault of the database."""


def known(session: Session, source_id: SourceId, key_hashes: Iterable[str]) -> dict[str, str]:
    """The content hash of each of these items that is stored already, in one query."""
    rows = session.execute(
        select(ItemRow.key_hash, ItemRow.content_hash).where(
            ItemRow.source_id == source_id, col(ItemRow.key_hash).in_(list(key_hashes))
        )
    )
    return {row.key_hash: row.content_hash for row in rows}


def write(session: Session, source_id: SourceId, changes: Changes, *, now: datetime) -> Counters:
    """Store what a page changed; the counters of what really was stored.

    New and edited items are written in a few statements for the whole page. Only when the
    database refuses one of them is the page written entry by entry, so that one bad entry costs
    itself alone and is counted as failed.
    """
    try:
        with session.begin_nested():
            _insert(session, source_id, changes.created, now)
            _update(session, source_id, changes.updated, now)
        counters = changes.counters()
    except _UNSTORABLE:
        counters = _one_by_one(session, source_id, changes, now)
    except StatementError as error:
        if not isinstance(error.orig, _UNSTORABLE):
            raise
        counters = _one_by_one(session, source_id, changes, now)
    _touch(session, source_id, changes.unchanged, now)
    return counters


def _one_by_one(session: Session, source_id: SourceId, changes: Changes, now: datetime) -> Counters:
    """Store each entry in a savepoint of its own; the counters with the bad ones as failed."""
    bad_new = _attempt_each(session, source_id, changes.created, now, _insert)
    bad_edited = _attempt_each(session, source_id, changes.updated, now, _update)
    counters = changes.counters()
    return replace(
        counters,
        created=counters.created - bad_new,
        updated=counters.updated - bad_edited,
        failed=bad_new + bad_edited,
    )


def _attempt_each(
    session: Session,
    source_id: SourceId,
    changes: Sequence[Change],
    now: datetime,
    store: Any,  # noqa: ANN401 - one of the two functions below
) -> int:
    """How many of the changes the database refused; the last of the page goes first."""
    bad = 0
    for change in reversed(changes):
        try:
            with session.begin_nested():
                store(session, source_id, [change], now)
        except _UNSTORABLE:
            bad += 1
        except StatementError as error:
            if not isinstance(error.orig, _UNSTORABLE):
                raise
            bad += 1
    return bad


def _insert(
    session: Session, source_id: SourceId, created: Sequence[Change], now: datetime
) -> None:
    """New items, the last of the page first: publishers list the newest on top."""
    if not created:
        return
    oldest_first = list(reversed(created))
    rows = [
        {**_columns(change), "source_id": source_id, "first_seen_at": now, "last_seen_at": now}
        for change in oldest_first
    ]
    stored = session.execute(
        insert(ItemRow).returning(col(ItemRow.id), col(ItemRow.key_hash)), rows
    ).all()
    ids = {row.key_hash: row.id for row in stored}
    contents = [
        {"item_id": ids[change.key_hash], **_content_columns(change.entry)}
        for change in oldest_first
    ]
    session.execute(insert(ItemContentRow), contents)


def _update(
    session: Session, source_id: SourceId, updated: Sequence[Change], now: datetime
) -> None:
    """Edited items under the identity they had; when they were first seen stays."""
    if not updated:
        return
    hashes = [change.key_hash for change in updated]
    stored = session.execute(
        select(ItemRow.key_hash, ItemRow.id).where(
            ItemRow.source_id == source_id, col(ItemRow.key_hash).in_(hashes)
        )
    )
    ids = {row.key_hash: row.id for row in stored}
    items = ItemRow.__table__  # type: ignore[attr-defined]
    contents = ItemContentRow.__table__  # type: ignore[attr-defined]
    rows = [
        {f"new_{key}": value for key, value in _columns(change).items()}
        | {"item": ids[change.key_hash], "seen": now}
        for change in updated
    ]
    names = _columns(updated[0]).keys()
    connection = session.connection()
    connection.execute(
        update(items)
        .where(items.c.id == bindparam("item"))
        .values(
            {name: bindparam(f"new_{name}") for name in names} | {"last_seen_at": bindparam("seen")}
        ),
        rows,
    )
    parts = [
        {f"new_{key}": value for key, value in _content_columns(change.entry).items()}
        | {"item": ids[change.key_hash]}
        for change in updated
    ]
    columns = _content_columns(updated[0].entry).keys()
    connection.execute(
        update(contents)
        .where(contents.c.item_id == bindparam("item"))
        .values({name: bindparam(f"new_{name}") for name in columns}),
        parts,
    )


def _touch(session: Session, source_id: SourceId, key_hashes: Sequence[str], now: datetime) -> None:
    """Note that these items are still listed."""
    if key_hashes:
        session.execute(
            update(ItemRow)
            .where(col(ItemRow.source_id) == source_id, col(ItemRow.key_hash).in_(key_hashes))
            .values(last_seen_at=now)
            .execution_options(synchronize_session=False)
        )


def _columns(change: Change) -> dict[str, Any]:
    entry = change.entry
    return {
        "key": change.key,
        "key_hash": change.key_hash,
        "content_hash": change.content_hash,
        "guid": entry.guid,
        "url": entry.url,
        "title": entry.title,
        "author": entry.author,
        "published_at": entry.published_at,
        "updated_at": entry.updated_at,
        "image": entry.image,
        "language": entry.language,
        "comments_url": entry.comments_url,
    }


def _content_columns(entry: Entry) -> dict[str, Any]:
    return {
        "summary": entry.summary,
        "content": entry.content,
        "categories": list(entry.categories) or None,
        "enclosures": [asdict(enclosure) for enclosure in entry.enclosures] or None,
    }
