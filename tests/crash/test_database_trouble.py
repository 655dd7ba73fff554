"""A database that fails in the midst of a poll: one clear fault of ours, and nothing by halves."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import event
from sqlalchemy.engine import make_url

from sourcemon.core.dispatch import Detail
from sourcemon.core.results import Attempt, PollResult
from sourcemon.errors import DatabaseUnavailable
from sourcemon.operations.dispatch import claim_due
from sourcemon.operations.poll import poll
from sourcemon.replay import Feed, Held
from sourcemon.store import dialect
from sourcemon.store.session import Database
from tests.crash import jobs
from tests.crash.conftest import world_of
from tests.crash.feeds import PATH, newsroom, published
from tests.crash.limits import fresh_limit
from tests.crash.restartable import RestartableDatabase, restartable_database
from tests.crash.workers import at_work
from tests.crash.world import LEASE, World, statuses, validators

ENTRIES = 20
"""More than fit into the room that a new database has."""


def feed() -> Feed:
    return newsroom(entries=ENTRIES)


@contextmanager
def held_poll(world: World, held: Held) -> Iterator[Future[Attempt]]:
    """A poll under way in another thread, whose answer the site holds."""
    source = world.watch(PATH)
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(world.poll, source)
        assert held.entered.wait(10)
        try:
            yield result
        finally:
            held.release.set()


def fault_of(result: Future[Attempt]) -> str:
    """The words of the one fault that the poll ended with."""
    fault = result.exception(30)
    assert type(fault) is DatabaseUnavailable
    assert "\n" not in str(fault)
    return str(fault)


def nothing_of_it_is_stored(world: World) -> None:
    """But that a run was begun and that the source is claimed."""
    (source,) = world.sources
    assert world.items(source) == world.contents() == []
    assert statuses(world.runs(source)) == ["running"]
    state = world.state(source)
    assert set(validators(state).values()) == {None}
    assert (state["last_polled_at"], state["cadence_due_at"]) == (None, None)
    assert claim_due(world.deps, limit=10) == ()


def the_next_poll_needs_no_hand(world: World) -> None:
    """After the lease everything is as if the poll had been the first."""
    (source,) = world.sources
    world.clock.advance(LEASE)
    (attempt,) = world.attempt_due()
    assert isinstance(attempt, PollResult)
    assert world.titles(source) == published(newsroom(entries=ENTRIES))
    assert statuses(world.runs(source)) == ["failed", "completed"]
    assert world.runs(source)[0]["stop_reason"] == "interrupted"
    assert world.state(source)["claim_token"] is None


# ── PostgreSQL ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def _own_database() -> Iterator[RestartableDatabase]:
    with restartable_database() as found:
        yield found


@pytest.fixture
def restartable(_own_database: RestartableDatabase) -> RestartableDatabase:
    """An empty database that can be taken down."""
    _own_database.empty()
    return _own_database


def test_a_restart_while_an_answer_is_awaited_is_not_noticed(
    restartable: RestartableDatabase,
) -> None:
    with world_of([held := Held(feed())], restartable.url) as world:
        with held_poll(world, held) as result:
            restartable.take_down()
            restartable.bring_up()
            held.release.set()
            assert isinstance(result.result(30), PollResult)

        (source,) = world.sources
        assert statuses(world.runs(source)) == ["completed"]
        assert len(world.items(source)) == ENTRIES


def test_a_database_that_is_down_as_the_answer_comes_fails_the_poll(
    restartable: RestartableDatabase,
) -> None:
    with world_of([held := Held(feed())], restartable.url) as world:
        with held_poll(world, held) as result:
            restartable.take_down()
            held.release.set()
            said = fault_of(result)
            restartable.bring_up()

        assert "sourcemon" in said
        nothing_of_it_is_stored(world)
        the_next_poll_needs_no_hand(world)


def test_ticks_go_on_after_a_restart(prefect_server: str, restartable: RestartableDatabase) -> None:
    paths = [f"/site{number}/feed.xml" for number in range(3)]
    held = [Held(newsroom(path)) for path in paths]
    with fresh_limit(), world_of(held, restartable.url) as world, ThreadPoolExecutor(1) as pool:
        for path in paths:
            world.watch(path)
        tick = pool.submit(jobs.run_poll_due, world.deps, 100, Detail.TASKS)
        world.site.log.wait_for(lambda log: log.in_flight() == len(paths))
        restartable.take_down()
        world.release()
        said = tick.result(30)
        restartable.bring_up()

        assert said.startswith("Failed: ")
        assert "polls that failed by our own fault (3 sub-exceptions)" in said
        world.clock.advance(LEASE)
        assert jobs.run_poll_due(world.deps, 100, Detail.TASKS) == "NewItems: 3 NewItems"


# ── SQLite ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fraction of a second for the lock of another process, not half a minute."""
    monkeypatch.setattr(dialect, "_BUSY_TIMEOUT_S", 0.1)


LOCKED = r"database sqlite:////\S+: .*database is locked"


@pytest.mark.usefixtures("_impatient")
def test_a_lock_that_another_process_keeps_fails_a_poll_before_its_request(
    sqlite_url: str,
) -> None:
    with world_of([feed()], sqlite_url) as world:
        source = world.watch(PATH)
        with at_work(jobs.hold_write_lock, world.place, stops_at="UPDATE sources") as other:
            other.hear_until("UPDATE sources")
            with pytest.raises(DatabaseUnavailable) as raised:
                world.poll(source)
            other.kill()

        assert re.fullmatch(LOCKED, str(raised.value))
        assert world.site.log.requests() == ()
        assert world.runs(source) == []
        assert world.state(source)["claim_token"] is None
        assert isinstance(world.poll(source), PollResult)
        assert len(world.items(source)) == ENTRIES


@pytest.mark.usefixtures("_impatient")
def test_a_lock_that_another_process_keeps_as_the_answer_comes_fails_the_poll(
    sqlite_url: str,
) -> None:
    with world_of([held := Held(feed())], sqlite_url) as world:
        with (
            held_poll(world, held) as result,
            at_work(jobs.hold_write_lock, world.place, stops_at="UPDATE sources") as other,
        ):
            other.hear_until("UPDATE sources")
            held.release.set()
            said = fault_of(result)
            other.kill()

        assert re.fullmatch(LOCKED, said)
        nothing_of_it_is_stored(world)
        the_next_poll_needs_no_hand(world)


def test_a_database_that_can_only_be_read_fails_a_poll_before_its_request(
    sqlite_url: str,
) -> None:
    with world_of([feed()], sqlite_url) as world:
        source = world.watch(PATH)
        before = world.state(source)
        file = make_url(sqlite_url).database
        read_only = Database(f"sqlite:///file:{file}?mode=ro&uri=true")
        with closing(read_only), pytest.raises(DatabaseUnavailable, match="readonly database"):
            poll(replace(world.deps, database=read_only), source.id)

        assert world.site.log.requests() == ()
        assert world.state(source) == before


def test_a_full_disk_fails_the_poll(sqlite_url: str) -> None:
    """SQLite itself says that there is no room: its file may not grow by one page."""
    with world_of([held := Held(feed())], sqlite_url) as world:
        with held_poll(world, held) as result:
            engine = world.deps.database._engine
            event.listen(engine, "begin", no_page_more)
            held.release.set()
            said = fault_of(result)
            event.remove(engine, "begin", no_page_more)

        assert "database or disk is full" in said
        (source,) = world.sources
        assert world.items(source) == world.contents() == []
        assert is_sound(sqlite_url)


def test_a_disk_that_takes_no_byte_more_fails_the_poll(sqlite_url: str) -> None:
    """The system refuses every write of the worker's process, in the middle of its poll."""
    with world_of([held := Held(feed())], sqlite_url) as world:
        source = world.watch(PATH)
        with at_work(jobs.poll, world.place, source.id) as worker:
            assert held.entered.wait(10)
            worker.let_no_file_grow()
            held.release.set()
            said = worker.hear_all()[-1]

        assert re.fullmatch(r"DatabaseUnavailable: database sqlite:////\S+: .*disk.*", said)
        nothing_of_it_is_stored(world)
        assert is_sound(sqlite_url)
        the_next_poll_needs_no_hand(world)


def no_page_more(connection: object) -> None:
    """Let a transaction not make the file any larger than it is."""
    connection.exec_driver_sql("PRAGMA max_page_count = 1")  # type: ignore[attr-defined]


def is_sound(url: str) -> bool:
    """Whether SQLite finds nothing wrong with the file."""
    connection = sqlite3.connect(str(make_url(url).database))
    found = connection.execute("PRAGMA integrity_check").fetchall()
    connection.close()
    return found == [("ok",)]
