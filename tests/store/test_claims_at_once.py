"""Claims by several at the same time: every source goes to exactly one of them."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.core.sources import SourceId
from sourcemon.errors import ClaimLost
from sourcemon.store import claims, polls
from sourcemon.store.session import Database
from sourcemon.store.tables import PollStateRow
from tests.store.stored import LEASE, NOON, add_source, add_sources, minutes, row, rows


def take_due(database: Database, token: str, *, limit: int, wait_for=lambda: None) -> list[int]:
    with database.write() as session:
        claimed = claims.take_due(session, token=token, limit=limit, lease=LEASE, instant=NOON)
        wait_for()
    return [source.source_id for source in claimed]


def test_dispatchers_at_once_get_disjoint_sources_and_leave_none(database, elsewhere):
    """Eight dispatchers over two doors take seven at a time until nothing is left."""
    sources = add_sources(database, 200)
    together = threading.Barrier(8)

    def dispatch(number: int) -> list[int]:
        taken: list[int] = []
        together.wait()
        while batch := take_due((database, elsewhere)[number % 2], f"{number}", limit=7):
            taken.extend(batch)
        return taken

    with ThreadPoolExecutor(8) as pool:
        taken = Counter(each for part in pool.map(dispatch, range(8)) for each in part)
    assert taken == Counter(source.id for source in sources)


def test_on_postgres_a_dispatcher_passes_over_what_another_one_is_taking(postgres_url):
    """Neither waits for the other; SQLite has one writer at a time and must."""
    database = Database(postgres_url)
    add_sources(database, 5)
    with database.write() as session:
        first = claims.take_due(session, token="first", limit=3, lease=LEASE, instant=NOON)
        assert take_due(database, "second", limit=3) == [4, 5]
    assert [source.source_id for source in first] == [1, 2, 3]
    database.close()


def test_on_postgres_a_source_whose_claim_is_not_committed_is_not_lost_when_it_is_undone(
    postgres_url,
):
    database = Database(postgres_url)
    add_sources(database, 2)
    with pytest.raises(KeyError), database.write() as session:
        claims.take_due(session, token="first", limit=1, lease=LEASE, instant=NOON)
        assert take_due(database, "second", limit=2) == [2]
        raise KeyError
    assert take_due(database, "third", limit=2) == [1]
    database.close()


def test_of_many_who_take_one_source_at_once_one_gets_it(database, elsewhere):
    add_source(database)
    together = threading.Barrier(8)

    def attempt(number: int) -> bool:
        together.wait()
        with (database, elsewhere)[number % 2].write() as session:
            return claims.take(session, SourceId(1), token=f"{number}", lease=LEASE, instant=NOON)

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(attempt, range(8)))
    assert won.count(True) == 1
    assert row(database, PollStateRow)["claim_token"] == f"{won.index(True)}"


def test_of_a_tick_and_a_person_at_once_one_gets_the_source(database, elsewhere):
    for number in range(20):
        source = add_source(database, f"https://kiosk.test/{number}")
        together = threading.Barrier(2)

        def person(source_id=source.id, together=together) -> bool:
            together.wait()
            with database.write() as session:
                return claims.take(session, source_id, token="person", lease=LEASE, instant=NOON)

        def tick(together=together) -> bool:
            together.wait()
            return bool(take_due(elsewhere, "tick", limit=10))

        with ThreadPoolExecutor(2) as pool:
            found = [pool.submit(person), pool.submit(tick)]
            assert [each.result() for each in found].count(True) == 1


def test_of_a_holder_who_comes_late_and_a_successor_one_has_the_source(database, elsewhere):
    """Renewal and take-over at the instant of expiry: whoever comes second is told so."""
    for number in range(20):
        source = add_source(database, f"https://kiosk.test/{number}")
        with database.write() as session:
            assert claims.take(session, source.id, token="old", lease=LEASE, instant=NOON)
        together = threading.Barrier(2)

        def holder(source_id=source.id, together=together) -> bool:
            together.wait()
            try:
                with database.write() as session:
                    claims.renew(session, source_id, token="old", lease=LEASE, instant=NOON + LEASE)
            except ClaimLost:
                return False
            return True

        def successor(source_id=source.id, together=together) -> bool:
            together.wait()
            with elsewhere.write() as session:
                return claims.take(
                    session, source_id, token="new", lease=LEASE, instant=NOON + LEASE
                )

        with ThreadPoolExecutor(2) as pool:
            kept, taken = pool.submit(holder), pool.submit(successor)
            owner = {(True, False): "old", (False, True): "new"}[kept.result(), taken.result()]
        assert row(database, PollStateRow, source_id=source.id)["claim_token"] == owner


def test_a_hint_that_arrives_while_a_verdict_is_written_is_not_lost(database, elsewhere):
    """The verdict knows nothing of it: it read the state before the hint came."""
    add_source(database)
    asked = Objection(ObjectionName.RETRY, NOON + minutes(40), "Retry-After: 2400")
    with database.write() as session:
        claims.take(session, SourceId(1), token="mine", lease=LEASE, instant=NOON)
    begun = threading.Event()

    def hint() -> None:
        begun.set()
        with elsewhere.write() as session:
            polls.raise_objections(session, SourceId(1), [asked])

    with ThreadPoolExecutor() as pool:
        with database.write() as session:
            state = polls.lock(session, SourceId(1), token="mine")
            late = pool.submit(hint)
            begun.wait()
            polls.record(session, SourceId(1), token="mine", state=state)
        late.result()
    stored = rows(database, PollStateRow)[0]
    assert (stored["retry_not_before_at"], stored["retry_because"]) == (asked.until, asked.because)
