"""Short ways to put rows into a database and to look at what is stored. Tests nothing itself."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import event, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import QueuePool
from sqlmodel import SQLModel

from sourcemon.core.decisions import EVER
from sourcemon.core.sources import NewSource, Source, SourceKind
from sourcemon.store import health, polls, sources
from sourcemon.store.session import Database

NOON = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
LEASE = timedelta(minutes=5)
TICK = timedelta(microseconds=1)
"""The smallest step of time that both databases tell apart."""

Row = dict[str, Any]


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def add_source(
    database: Database,
    url: str = "https://kiosk.test/feed",
    *,
    name: str = "kiosk",
    next_poll_at: datetime = EVER,
) -> Source:
    """A source with its poll state and its health, as the program registers it."""
    new = NewSource(kind=SourceKind.FEED, url=url, name=name, interval=minutes(30))
    with database.write() as session:
        source = sources.add(session, new, now=NOON)
        polls.create(session, source.id, next_poll_at=next_poll_at)
        health.create(session, source.id)
    return source


def add_sources(
    database: Database, count: int, *, next_poll_at: datetime = EVER, site: str = "kiosk"
) -> list[Source]:
    """Sources of one site, registered in one transaction."""
    found = []
    with database.write() as session:
        for number in range(count):
            new = NewSource(
                kind=SourceKind.FEED,
                url=f"https://{site}.test/{number}",
                name=f"{site} {number}",
                interval=minutes(30),
            )
            source = sources.add(session, new, now=NOON)
            polls.create(session, source.id, next_poll_at=next_poll_at)
            health.create(session, source.id)
            found.append(source)
    return found


def rows(database: Database, table: type[SQLModel], **where: Any) -> list[Row]:
    """The stored rows of a table, by primary key."""
    stored = table.__table__  # type: ignore[attr-defined]
    query = select(stored).order_by(*stored.primary_key.columns)
    for name, value in where.items():
        query = query.where(stored.c[name] == value)
    with database.read() as session:
        return [dict(row) for row in session.execute(query).mappings()]


def row(database: Database, table: type[SQLModel], **where: Any) -> Row:
    """The one stored row."""
    (found,) = rows(database, table, **where)
    return found


def change(database: Database, table: type[SQLModel], values: Row, **where: Any) -> None:
    """Set columns behind the program's back."""
    stored = table.__table__  # type: ignore[attr-defined]
    statement = update(stored).values(values)
    for name, value in where.items():
        statement = statement.where(stored.c[name] == value)
    with database.write() as session:
        session.execute(statement)


def connections_in_use(database: Database) -> int:
    """How many connections of the pool are not in it at this moment."""
    pool = database._engine.pool
    assert isinstance(pool, QueuePool)
    return pool.checkedout()


@contextlib.contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """What is executed while the block runs, without the bounds of transactions."""
    seen: list[str] = []

    def note(*args: Any) -> None:
        statement = args[2]
        if not statement.startswith(("BEGIN", "SAVEPOINT", "RELEASE", "ROLLBACK")):
            seen.append(statement)

    with _before_each_statement(database, note):
        yield seen


@contextlib.contextmanager
def out_of_order(database: Database, words: str) -> Iterator[None]:
    """A database that fails at each statement with these words, as with a broken disk."""

    def fail(*args: Any) -> None:
        if words in " ".join(args[2].split()):
            raise OperationalError(args[2], None, Exception("disk I/O error"))

    with _before_each_statement(database, fail):
        yield


@contextlib.contextmanager
def _before_each_statement(database: Database, call: Callable[..., None]) -> Iterator[None]:
    event.listen(database._engine, "before_cursor_execute", call)
    try:
        yield
    finally:
        event.remove(database._engine, "before_cursor_execute", call)
