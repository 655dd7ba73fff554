"""While a request is under way the poll holds nothing: no transaction, no connection, no lock."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from sourcemon.core.changes import Counters
from sourcemon.core.results import Deferral, PollResult
from sourcemon.operations.listing import sources_of
from sourcemon.operations.poll import poll
from sourcemon.store.session import Database
from sourcemon.store.tables import ItemRow, PollRunRow
from tests.operations.site import meanwhile
from tests.operations.watched import watch
from tests.store.stored import NOON, connections_in_use, rows


def test_no_connection_is_held_while_a_server_is_slow(kiosk, feed, deps, database_url):
    """With a single connection in the pool another query is answered all the same."""
    database = Database(database_url, pool_size=1)
    single = replace(deps, database=database)
    answered = []

    def ask_meanwhile() -> None:
        assert connections_in_use(database) == 0
        with ThreadPoolExecutor() as pool:
            answered.append(pool.submit(sources_of, single).result())

    feed.publish("one")
    feed.then(meanwhile(ask_meanwhile))
    assert kiosk.result(by=single).counters == Counters(created=1)
    ((overview,),) = answered
    assert overview.claimed_until is not None
    database.close()


@pytest.mark.parametrize("shared", ["sqlite"], indirect=True)
def test_on_sqlite_no_transaction_is_open_while_a_server_is_slow(kiosk, feed, shared):
    """Another process can write at once, and the log can be written back: nobody reads it."""
    looked = []

    def look() -> None:
        file = shared.url.removeprefix("sqlite:///")
        with sqlite3.connect(file, timeout=0, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            other.execute("UPDATE sources SET name = 'written meanwhile'")
            other.execute("COMMIT")
            (busy, *_) = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            looked.append(busy)
        other.close()

    feed.publish("one")
    feed.then(meanwhile(look))
    assert kiosk.result().counters == Counters(created=1)
    assert looked == [0]
    assert sources_of(kiosk.deps)[0].source.name == "written meanwhile"


@pytest.mark.parametrize("shared", ["postgres"], indirect=True)
def test_on_postgres_no_transaction_is_open_while_a_server_is_slow(kiosk, feed, shared):
    """Another session sees no transaction of ours and gets every lock at once."""
    looked = []
    url = make_url(shared.url).set(drivername="postgresql")

    def look() -> None:
        with psycopg.connect(url.render_as_string(hide_password=False)) as other:
            looked.append(
                other.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                    " AND pid <> pg_backend_pid() AND xact_start IS NOT NULL"
                ).fetchone()
            )
            other.execute("LOCK TABLE sources, poll_states, poll_runs IN EXCLUSIVE MODE NOWAIT")
            other.execute("UPDATE sources SET name = 'written meanwhile'")

    feed.publish("one")
    feed.then(meanwhile(look))
    assert kiosk.result().counters == Counters(created=1)
    assert looked == [(0,)]
    assert sources_of(kiosk.deps)[0].source.name == "written meanwhile"


def test_a_worker_may_use_the_database_while_its_request_is_under_way(kiosk, feed, deps):
    feed.publish("one")

    def write() -> None:
        with deps.database.write() as session:
            session.execute(text("UPDATE sources SET name = 'renamed'"))

    feed.then(meanwhile(write))
    assert kiosk.result().counters == Counters(created=1)


def test_sixteen_polls_at_once_in_one_process(deps, site):
    kiosks = [watch(deps, f"https://kiosk.test/{number}") for number in range(32)]
    for kiosk in kiosks:
        site.feed(kiosk.source.url).publish("one", "two")
    with ThreadPoolExecutor(16) as pool:
        polled = [pool.submit(poll, deps, kiosk.source.id) for kiosk in kiosks]
        outcomes = [attempt.result() for attempt in polled]
    assert {o.counters for o in outcomes if isinstance(o, PollResult)} == {Counters(created=2)}
    assert not any(isinstance(outcome, Deferral) for outcome in outcomes)
    assert len(rows(deps.database, ItemRow)) == 64
    assert {run["status"] for run in rows(deps.database, PollRunRow)} == {"completed"}
    assert {run["finished_at"] for run in rows(deps.database, PollRunRow)} == {NOON}
