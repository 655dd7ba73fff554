"""Where SQLite and PostgreSQL differ, and nowhere else."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    ProgrammingError,
)

from sourcemon.errors import BadSetting

WRITES = "sourcemon_writes"
"""The execution option of an engine whose transactions take the write lock at once."""

_BUSY_TIMEOUT_S = 30
_LOCKED_PAUSE_S = 0.02
_SQLITE_OPTIONS = frozenset({"uri", "mode", "immutable"})


def parse_url(url: str) -> URL:
    """The database URL with our driver in it, whichever it names.

    Raises:
        BadSetting: it is no URL, names a database other than SQLite and PostgreSQL, or has an
            option that the driver does not know.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise BadSetting(
            "SOURCEMON_DATABASE_URL is no database URL; write sqlite:////absolute/path.db"
            " or postgresql://user:password@host/name"
        ) from None
    backend = parsed.get_backend_name()
    if backend in {"postgresql", "postgres"}:
        return _postgres_url(parsed)
    if backend != "sqlite":
        raise BadSetting(f"SOURCEMON_DATABASE_URL names {backend}; use sqlite or postgresql")
    if parsed.database in {None, "", ":memory:"}:
        raise BadSetting(
            "SOURCEMON_DATABASE_URL names an SQLite database in memory, which no second"
            " connection can see; write sqlite:////absolute/path.db"
        )
    unknown = sorted(parsed.query.keys() - _SQLITE_OPTIONS)
    if unknown:
        raise BadSetting(f"SOURCEMON_DATABASE_URL: an SQLite file has no option {unknown[0]!r}")
    return parsed.set(drivername="sqlite")


def _postgres_url(parsed: URL) -> URL:
    if "@" in (parsed.host or ""):
        raise BadSetting(
            "SOURCEMON_DATABASE_URL has two '@'; write the one in user or password as %40"
        )
    try:
        make_conninfo("", **{key: str(value) for key, value in parsed.query.items()})
    except psycopg.ProgrammingError as problem:
        raise BadSetting(f"SOURCEMON_DATABASE_URL: {str(problem).strip()}") from None
    return parsed.set(drivername="postgresql+psycopg")


def is_sqlite(url: URL) -> bool:
    """Whether the URL names an SQLite file."""
    return url.get_backend_name() == "sqlite"


def shown(url: URL) -> str:
    """The URL for people and logs, its password hidden, its options left out."""
    return url.set(query={}).render_as_string(hide_password=True)


def make_engine(url: URL, *, pool_size: int) -> Engine:
    """An engine whose transactions are explicit on both databases; it connects at first use.

    Parameters of statements never show in its errors: they hold what publishers wrote.
    """
    if is_sqlite(url):
        engine = create_engine(
            url,
            hide_parameters=True,
            pool_size=pool_size,
            connect_args={"timeout": _BUSY_TIMEOUT_S},
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    return create_engine(
        url,
        hide_parameters=True,
        pool_pre_ping=True,
        pool_size=pool_size,
        connect_args=_postgres_arguments(url),
    )


def for_reading(engine: Engine) -> Engine:
    """The engine for transactions that see one state of the database from begin to end."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ")


def is_unavailable(error: DBAPIError) -> bool:
    """Whether the database itself failed, rather than a statement or a value of ours."""
    of_ours = isinstance(error, DataError | IntegrityError | ProgrammingError)
    return error.connection_invalidated or not of_ours


def database_instant(connection: Connection) -> datetime:
    """This instant on the database's own clock, the one that all workers share."""
    if connection.dialect.name == "sqlite":
        raw = connection.execute(text("SELECT strftime('%Y-%m-%dT%H:%M:%f', 'now')")).scalar_one()
        return datetime.fromisoformat(raw).replace(tzinfo=UTC)
    instant: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
    return instant.astimezone(UTC)


def _postgres_arguments(url: URL) -> Mapping[str, Any]:
    """Connection arguments that the URL does not already set."""
    defaults = {
        "connect_timeout": 10,
        "application_name": "sourcemon",
        "options": "-c timezone=UTC",
    }
    return {key: value for key, value in defaults.items() if key not in url.query}


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    """Foreign keys on, write-ahead log, and no transactions begun behind our back."""
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    _write_ahead(connection)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Make the file a write-ahead one; SQLite does not wait for others at that moment."""
    deadline = time.monotonic() + _BUSY_TIMEOUT_S
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_LOCKED_PAUSE_S)


def _begin_sqlite(connection: Connection) -> None:
    """Readers begin lazily, writers lock at once: a reader that upgrades fails with 'locked'."""
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
