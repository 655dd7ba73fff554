"""Transactions: one to read, one to write, each whole or not at all, and many at a time."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from sourcemon.errors import ClaimLost, DatabaseUnavailable
from sourcemon.store.session import Database, instant
from sourcemon.store.tables import PollStateRow, SourceRow
from tests.store.stored import NOON, add_source, add_sources, connections_in_use, rows

NAME = col(SourceRow.name)


def rename(session, name: str) -> None:
    session.execute(update(SourceRow).values(name=name))


def names(database: Database) -> list[str]:
    return [row["name"] for row in rows(database, SourceRow)]


def test_a_write_is_there_once_its_block_has_ended(database, elsewhere):
    add_source(database, name="before")
    with database.write() as session:
        rename(session, "after")
        assert names(elsewhere) == ["before"]
    assert names(elsewhere) == ["after"]


WRONG = {
    "a mistake of ours": ValueError("mistake"),
    "a lost claim": ClaimLost(1),
    "a stop from outside": KeyboardInterrupt(),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_write_that_raises_leaves_nothing_and_raises_what_it_raised(database, wrong):
    add_source(database, name="before")

    def renamed() -> None:
        with database.write() as session:
            rename(session, "after")
            session.flush()
            raise wrong

    with pytest.raises(type(wrong)) as raised:
        renamed()
    assert raised.value is wrong
    assert names(database) == ["before"]


def test_what_a_constraint_refuses_is_no_fault_of_the_database(database):
    add_source(database)
    with pytest.raises(IntegrityError), database.write() as session:
        session.execute(update(SourceRow).values(interval_s=1))
    assert rows(database, SourceRow)[0]["interval_s"] == 1800


def test_a_write_after_a_failed_one_works(database):
    add_source(database, name="before")
    with pytest.raises(IntegrityError), database.write() as session:
        session.execute(update(SourceRow).values(interval_s=1))
    with database.write() as session:
        rename(session, "after")
    assert names(database) == ["after"]


def test_reading_changes_nothing(database):
    """Whether the attempt is refused or comes to nothing."""
    add_source(database, name="before")
    with contextlib.suppress(DatabaseUnavailable), database.read() as session:
        rename(session, "after")
        session.flush()
    assert names(database) == ["before"]


def test_a_read_sees_one_state_of_the_database_to_its_end(database, elsewhere):
    add_source(database, name="before")
    with database.read() as session:
        first = session.execute(select(NAME)).scalar_one()
        with elsewhere.write() as other:
            rename(other, "after")
        assert session.execute(select(NAME)).scalar_one() == first
    assert names(database) == ["after"]


def test_a_read_does_not_wait_for_a_write_under_way(database, elsewhere):
    add_source(database, name="before")
    with elsewhere.write() as session:
        rename(session, "after")
        session.flush()
        assert names(database) == ["before"]


def test_a_read_under_way_does_not_hold_up_a_write(database, elsewhere):
    add_source(database, name="before")
    with database.read() as session:
        assert session.execute(select(NAME)).scalar_one() == "before"
        with elsewhere.write() as other:
            rename(other, "after")
        assert names(elsewhere) == ["after"]


def count_up(database: Database, times: int) -> None:
    """Read a number and write the next one, as a poll reads its state and writes the next."""
    for _ in range(times):
        with database.write() as session:
            query = select(PollStateRow).with_for_update()
            state = session.execute(query).scalar_one()
            state.consecutive_failures += 1


def test_sixteen_threads_write_without_a_lock_error_or_a_lost_update(database):
    add_source(database)
    with ThreadPoolExecutor(16) as pool:
        for done in [pool.submit(count_up, database, 15) for _ in range(16)]:
            done.result()
    assert rows(database, PollStateRow)[0]["consecutive_failures"] == 16 * 15


def test_two_processes_of_eight_threads_write_without_a_lock_error(database, elsewhere):
    """Two databases at one URL share no lock but the database's own, just as two processes."""
    add_source(database)
    with ThreadPoolExecutor(16) as pool:
        done = [pool.submit(count_up, one, 10) for one in (database, elsewhere) for _ in range(8)]
        for each in done:
            each.result()
    assert rows(database, PollStateRow)[0]["consecutive_failures"] == 16 * 10


def test_readers_go_on_while_others_write(database):
    """Each reader sees as many polls begun in one source as in the other, at every moment."""
    add_sources(database, 2)
    over = threading.Event()

    def write() -> None:
        for number in range(1, 60):
            with database.write() as session:
                session.execute(update(PollStateRow).values(reopens=number))
        over.set()

    def read() -> int:
        seen = 0
        while not over.is_set():
            with database.read() as session:
                found = session.execute(select(func.count(col(PollStateRow.reopens).distinct())))
                assert found.scalar_one() == 1
            seen += 1
        return seen

    with ThreadPoolExecutor(5) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        pool.submit(write).result()
        assert all(reader.result() for reader in readers)


def test_a_transaction_gives_its_connection_back(database):
    add_source(database)
    assert connections_in_use(database) == 0
    with database.read() as session:
        session.execute(select(NAME))
        assert connections_in_use(database) == 1
    with pytest.raises(ClaimLost), database.write() as session:
        rename(session, "after")
        raise ClaimLost(1)
    assert connections_in_use(database) == 0


def test_a_closed_database_opens_again_at_its_next_transaction(database):
    add_source(database, name="before")
    database.close()
    assert names(database) == ["before"]


def test_an_instant_that_is_given_is_not_asked_for(database):
    with database.read() as session:
        assert instant(session, NOON) == NOON


def test_no_instant_given_asks_the_clock_of_the_database(database):
    """SQLite's clock shows whole milliseconds."""
    with database.read() as session:
        before = datetime.now(UTC)
        found = instant(session, None)
        after = datetime.now(UTC)
    milliseconds = before.microsecond // 1000 * 1000
    assert before.replace(microsecond=milliseconds) <= found <= after
    assert found.tzinfo is UTC


def test_the_clock_of_the_database_goes_on_within_a_transaction(database):
    with database.read() as session:
        first = instant(session, None)
        while instant(session, None) == first:
            pass
