"""One database of each kind for all tests of a folder, emptied before each of them.

To make a PostgreSQL database takes half a second, to empty one takes milliseconds; and an engine
that is kept has compiled its statements already. Conftests import the fixtures from here.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from sourcemon.store.session import Database
from tests.postgres import PostgresServer
from tests.store.stored import connections_in_use

__all__ = ["database_url", "postgres_url", "shared", "shared_postgres", "shared_sqlite"]

_EMPTY = ("DELETE FROM sources",)
_EMPTY_ON_POSTGRES = (
    *_EMPTY,
    *(f"SELECT setval('{table}_id_seq', 1, false)" for table in ("sources", "poll_runs", "items")),
)
"""SQLite numbers the rows of an empty table from 1 by itself."""


class SharedDatabase:
    """A migrated database and two doors to it, as two processes have them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.database = Database(url)

    @cached_property
    def elsewhere(self) -> Database:
        return Database(self.url)

    @property
    def is_postgres(self) -> bool:
        return self.url.startswith("postgresql")

    def empty(self) -> None:
        """Leave no row and no numbering begun."""
        with self.database.write() as session:
            for statement in _EMPTY_ON_POSTGRES if self.is_postgres else _EMPTY:
                session.execute(text(statement))

    def check(self) -> None:
        """Every transaction of a test has ended with it."""
        for door in (self.database, self.elsewhere):
            assert connections_in_use(door) == 0

    def close(self) -> None:
        self.database.close()
        self.elsewhere.close()


@pytest.fixture(scope="session")
def shared_sqlite(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SharedDatabase]:
    """The SQLite database of a folder of tests."""
    file = tmp_path_factory.mktemp("shared") / "sourcemon.sqlite"
    found = SharedDatabase(f"sqlite:///{shutil.copyfile(sqlite_template, file)}")
    yield found
    found.close()


@pytest.fixture(scope="session")
def shared_postgres(
    postgres_server: PostgresServer, postgres_template: str
) -> Iterator[SharedDatabase]:
    """The PostgreSQL database of a folder of tests."""
    name = f"sourcemon_shared_{uuid.uuid4().hex}"
    postgres_server.create(name, template=postgres_template)
    found = SharedDatabase(postgres_server.url(name))
    yield found
    found.close()
    postgres_server.drop(name)


@pytest.fixture(params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest) -> Iterator[SharedDatabase]:
    """A database without a row: the test runs once on each kind."""
    found: SharedDatabase = request.getfixturevalue(f"shared_{request.param}")
    found.empty()
    yield found
    found.check()


@pytest.fixture
def database_url(shared: SharedDatabase) -> str:
    """The URL of a migrated, empty database: the test runs once on each kind."""
    return shared.url


@pytest.fixture
def postgres_url(shared_postgres: SharedDatabase) -> str:
    """The URL of a migrated, empty PostgreSQL database."""
    shared_postgres.empty()
    return shared_postgres.url


def as_administrator(url: str, statements: str) -> None:
    """Run statements on a connection of their own, past the program."""
    conninfo = make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(statements.encode())
