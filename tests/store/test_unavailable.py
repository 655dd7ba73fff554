"""A database that cannot be used: one error of ours, which says where and why and no password."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.engine import make_url
from sqlmodel import col

from sourcemon.errors import BadSetting, DatabaseUnavailable
from sourcemon.store import migrations
from sourcemon.store.session import Database
from sourcemon.store.tables import SourceRow
from tests.store.shared import as_administrator
from tests.store.stored import add_source, out_of_order, rows

SECRET = "s3cr3t-of-nobody"


def all_that_is_said(error: BaseException) -> str:
    """The error, its causes and all their words, as a log would show them."""
    return "".join(traceback.format_exception(error)) + repr(error)


@pytest.fixture
def broken_url(request: pytest.FixtureRequest, tmp_path) -> str:
    """The URL of a database that cannot be used."""
    folder = tmp_path / "folder"
    folder.mkdir()
    file = tmp_path / "file"
    file.write_text("this is no database, and long enough to be looked at " * 100)
    return str(request.param).format(folder=folder, file=file, secret=SECRET)


NOBODY_LISTENS = "postgresql://sourcemon:{secret}@127.0.0.1:1/sourcemon"
UNUSABLE = {
    "a server that does not listen": NOBODY_LISTENS,
    "a server by its driver's name": NOBODY_LISTENS.replace("://", "+psycopg://"),
    "a password among the options": (
        "postgresql://sourcemon@127.0.0.1:1/sourcemon?password={secret}"
    ),
    "a socket in a folder where no server is": (
        "postgresql://sourcemon:{secret}@/sourcemon?host={folder}"
    ),
    "a folder in the place of the file": "sqlite:///{folder}",
    "a file that is no database": "sqlite:///{file}",
    "a folder that is a file": "sqlite:///{file}/sourcemon.sqlite",
}


def with_database(url: str, use: Callable[[Database], object]) -> None:
    database = Database(url)
    try:
        use(database)
    finally:
        database.close()


USES = {
    "read": lambda url: with_database(url, lambda database: rows(database, SourceRow)),
    "write": lambda url: with_database(url, add_source),
    "state": migrations.state,
    "upgrade": migrations.upgrade,
    "require_current": migrations.require_current,
}


@pytest.mark.parametrize("broken_url", UNUSABLE.values(), ids=UNUSABLE, indirect=True)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_an_unusable_database_is_unavailable_and_keeps_its_secret(broken_url, use):
    with pytest.raises(DatabaseUnavailable) as raised:
        use(broken_url)
    assert raised.value.transient
    assert SECRET not in all_that_is_said(raised.value)


NAMED = {
    "a server": (NOBODY_LISTENS, "127.0.0.1"),
    "a file": ("sqlite:///{folder}", "folder"),
}


@pytest.mark.parametrize(("broken_url", "name"), NAMED.values(), ids=NAMED, indirect=["broken_url"])
def test_the_message_names_the_database_in_one_line(broken_url, name):
    with pytest.raises(DatabaseUnavailable) as raised:
        rows(Database(broken_url), SourceRow)
    assert name in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "SELECT" not in str(raised.value)


BAD_URLS = {
    "no URL": "sourcemon.sqlite",
    "nothing": "",
    "another database": "mysql://sourcemon:{secret}@127.0.0.1/sourcemon",
    "a port that is none": "postgresql://sourcemon:{secret}@127.0.0.1:port/sourcemon",
    "a password with an @ that nobody quoted": (
        "postgresql://sourcemon:half@{secret}@127.0.0.1:1/sourcemon"
    ),
    "SQLite in memory": "sqlite://",
    "SQLite in memory by name": "sqlite:///:memory:",
}


@pytest.mark.parametrize("url", BAD_URLS.values(), ids=BAD_URLS)
def test_a_url_that_names_no_usable_database_is_a_bad_setting(url):
    with pytest.raises(BadSetting, match="SOURCEMON_DATABASE_URL") as raised:
        Database(url.format(secret=SECRET))
    assert SECRET not in all_that_is_said(raised.value)


def test_the_password_is_hidden_where_the_url_is_shown():
    shown = Database(NOBODY_LISTENS.format(secret=SECRET)).shown
    assert SECRET not in shown
    assert "127.0.0.1" in shown


def read_only(database_url: str) -> str:
    """The URL under which the same database can be read and not be written."""
    url = make_url(database_url)
    if url.get_backend_name() == "sqlite":
        return f"sqlite:///file:{url.database}?mode=ro&uri=true"
    option = {"options": "-c default_transaction_read_only=on"}
    return url.update_query_dict(option).render_as_string(hide_password=False)


def test_a_database_that_can_only_be_read_is_unavailable_for_writing(database, database_url):
    add_source(database, name="before")
    replica = Database(read_only(database_url))
    assert [row["name"] for row in rows(replica, SourceRow)] == ["before"]
    with pytest.raises(DatabaseUnavailable, match=r"(?i)read-?only"):
        add_source(replica, "https://other.test/feed")
    replica.close()
    assert [row["name"] for row in rows(database, SourceRow)] == ["before"]


def test_a_database_that_fails_in_the_middle_of_a_write_keeps_nothing_of_it(database):
    add_source(database, name="before")
    with (
        out_of_order(database, "SELECT"),
        pytest.raises(DatabaseUnavailable, match="disk I/O error"),
        database.write() as session,
    ):
        session.execute(update(SourceRow).values(name="after"))
        session.execute(select(col(SourceRow.name)))
    assert [row["name"] for row in rows(database, SourceRow)] == ["before"]


def test_what_publishers_wrote_is_not_in_the_words_of_an_error(database):
    add_source(database)
    with (
        out_of_order(database, "UPDATE"),
        pytest.raises(DatabaseUnavailable) as raised,
        database.write() as session,
    ):
        session.execute(update(SourceRow).values(name=SECRET))
    assert SECRET not in str(raised.value)
    assert "UPDATE" not in str(raised.value)


def test_a_connection_that_the_server_ended_is_unavailable_and_then_replaced(postgres_url):
    database = Database(postgres_url)
    add_source(database, name="before")
    end_it = "SELECT pg_terminate_backend({}) "
    with pytest.raises(DatabaseUnavailable), database.read() as session:
        pid = session.execute(text("SELECT pg_backend_pid()")).scalar_one()
        as_administrator(postgres_url, end_it.format(pid))
        session.execute(select(col(SourceRow.name)))
    assert [row["name"] for row in rows(database, SourceRow)] == ["before"]
    database.close()


def test_an_idle_connection_that_the_server_ended_is_replaced_unnoticed(postgres_url):
    database = Database(postgres_url)
    add_source(database, name="before")
    as_administrator(
        postgres_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )
    assert [row["name"] for row in rows(database, SourceRow)] == ["before"]
    database.close()
