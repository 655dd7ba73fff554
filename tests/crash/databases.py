"""Databases under tests of crashes: emptied, and looked at past the program."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
from sqlalchemy import select
from sqlalchemy.engine import make_url
from sqlmodel import SQLModel

from sourcemon.store.session import Database
from tests.postgres import PostgresServer

Row = dict[str, Any]

_EMPTY = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid();
    TRUNCATE sources RESTART IDENTITY CASCADE;
"""


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


@contextlib.contextmanager
def shared_database(server: PostgresServer, template: str) -> Iterator[str]:
    """The URL of a migrated PostgreSQL database; to make one for each test takes too long."""
    name = f"sourcemon_crash_{uuid.uuid4().hex}"
    server.create(name, template=template)
    yield server.url(name)
    server.drop(name)


def empty(url: str) -> None:
    """Leave no row, no numbering begun and nobody connected."""
    conninfo = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(_EMPTY.encode())
