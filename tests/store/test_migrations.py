"""The schema's way from nothing to its newest state, and who is turned away."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Inspector, inspect, text
from sqlmodel import SQLModel

from sourcemon.errors import DatabaseBehind, Refused
from sourcemon.store import dialect, migrations, tables
from sourcemon.store.session import Database
from tests.postgres import PostgresServer
from tests.store.stored import add_source, rows

_UPGRADER = Path(__file__).with_name("upgrade_on_demand.py")
_OUR_TABLES = set(tables.SourceRow.metadata.tables)


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    """URLs of databases that hold nothing yet, a new one at each call."""
    if request.param == "sqlite":
        yield lambda: f"sqlite:///{tmp_path / uuid.uuid4().hex}.sqlite"
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    made: list[str] = []

    def make() -> str:
        made.append(f"sourcemon_empty_{uuid.uuid4().hex}")
        server.create(made[-1])
        return server.url(made[-1])

    yield make
    for name in made:
        server.drop(name)


def tables_in(url: str) -> set[str]:
    engine = dialect.make_engine(dialect.parse_url(url), pool_size=1)
    try:
        with engine.connect() as connection:
            return set(inspect(connection).get_table_names())
    finally:
        engine.dispose()


def set_revision(url: str, revision: str) -> None:
    database = Database(url)
    with database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = :to"), {"to": revision})
    database.close()


def test_an_empty_database_is_brought_to_the_newest_revision(empty_url):
    url = empty_url()
    before = migrations.state(url)
    after = migrations.upgrade(url)
    assert (before.current, before.known, before.is_current) == (None, True, False)
    assert (after.current, after.is_current) == (after.head, True)
    assert tables_in(url) == {*_OUR_TABLES, "alembic_version"}


def test_a_second_upgrade_changes_nothing_and_loses_nothing(empty_url):
    url = empty_url()
    first = migrations.upgrade(url)
    database = Database(url)
    add_source(database)
    assert migrations.upgrade(url) == first
    assert [row["name"] for row in rows(database, tables.SourceRow)] == ["kiosk"]
    database.close()


def test_asking_where_the_schema_stands_makes_no_table(empty_url):
    url = empty_url()
    migrations.state(url)
    assert tables_in(url) == set()


def test_the_folder_of_an_sqlite_file_is_made(tmp_path):
    url = f"sqlite:///{tmp_path / 'a' / 'b' / 'sourcemon.sqlite'}"
    assert migrations.upgrade(url).is_current


def test_processes_that_upgrade_at_once_all_find_it_done(empty_url):
    urls = [empty_url() for _ in range(2)]
    upgraders = [
        subprocess.Popen(
            [sys.executable, str(_UPGRADER)],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(3)
    ]
    for upgrader in upgraders:
        assert upgrader.stdout is not None
        assert upgrader.stdout.readline() == "ready\n"
    for url in urls:
        for upgrader in upgraders:
            assert upgrader.stdin is not None
            upgrader.stdin.write(f"{url}\n")
            upgrader.stdin.flush()
    answers = [upgrader.communicate(timeout=60)[0].splitlines() for upgrader in upgraders]
    assert answers == [["is_current=True"] * len(urls)] * len(upgraders)


def test_a_process_that_finds_another_one_at_a_new_file_waits_for_it(tmp_path):
    """SQLite says "locked" without any patience while a file becomes a write-ahead one."""
    file = tmp_path / "sourcemon.sqlite"
    first = sqlite3.connect(file, isolation_level=None)
    first.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor() as pool:
        second = pool.submit(migrations.upgrade, f"sqlite:///{file}")
        wait([second], timeout=0.2)
        first.execute("COMMIT")
        first.close()
        assert second.result().is_current


def test_the_current_schema_is_accepted(database_url):
    migrations.require_current(database_url)


def test_a_schema_that_is_behind_is_refused_and_the_command_named(empty_url):
    with pytest.raises(DatabaseBehind, match=r"is empty.*run `sourcemon db upgrade`") as refused:
        migrations.require_current(empty_url())
    assert isinstance(refused.value, Refused)


NEEDS_THE_PROGRAM = {
    "require_current": migrations.require_current,
    "upgrade": migrations.upgrade,
}


@pytest.mark.parametrize("ask", NEEDS_THE_PROGRAM.values(), ids=NEEDS_THE_PROGRAM)
def test_the_schema_of_a_newer_program_is_refused(empty_url, ask):
    url = empty_url()
    migrations.upgrade(url)
    set_revision(url, "9999")
    with pytest.raises(DatabaseBehind, match=r"9999.*newer sourcemon; upgrade the program"):
        ask(url)
    assert migrations.state(url).current == "9999"


def test_the_models_are_what_the_migrations_build(database):
    """As Alembic sees it: tables, columns, types, nullability, indexes and keys."""
    with database.read() as session:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(session.connection(), opts=options)
        assert compare_metadata(context, SQLModel.metadata) == []


def test_the_models_are_what_the_migrations_build_to_the_last_constraint(empty_url):
    """As the database describes itself: checks and partial indexes, which Alembic passes over."""
    migrated, modelled = empty_url(), empty_url()
    migrations.upgrade(migrated)
    from_migrations = described(migrated, prepare=lambda _: None)
    del from_migrations["alembic_version"]
    assert from_migrations == described(modelled, prepare=SQLModel.metadata.create_all)


def described(url: str, *, prepare: Callable[[Connection], None]) -> dict[str, Any]:
    """All that a database says of its tables, in an order of its own."""
    engine = dialect.make_engine(dialect.parse_url(url), pool_size=1)
    try:
        with engine.begin() as connection:
            prepare(connection)
            inspector = inspect(connection)
            return {
                table: described_table(inspector, table) for table in inspector.get_table_names()
            }
    finally:
        engine.dispose()


def described_table(inspector: Inspector, table: str) -> dict[str, Any]:
    return {
        "columns": {
            column["name"]: (str(column["type"]), column["nullable"], column["default"])
            for column in inspector.get_columns(table)
        },
        "primary key": inspector.get_pk_constraint(table)["constrained_columns"],
        "foreign keys": sorted(
            (each["constrained_columns"], each["referred_table"], str(each["options"]))
            for each in inspector.get_foreign_keys(table)
        ),
        "unique": sorted(
            (str(each["name"]), each["column_names"])
            for each in inspector.get_unique_constraints(table)
        ),
        "checks": sorted(
            (str(each["name"]), each["sqltext"]) for each in inspector.get_check_constraints(table)
        ),
        "indexes": sorted(
            (str(each["name"]), each["column_names"], where(each.get("dialect_options", {})))
            for each in inspector.get_indexes(table)
        ),
    }


def where(options: Mapping[str, Any]) -> str:
    """The condition of a partial index."""
    return next((str(value) for name, value in options.items() if name.endswith("_where")), "")
