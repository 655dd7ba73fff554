"""Lists for people: complete, bounded, and in an order that does not depend on luck."""

from __future__ import annotations

from decimal import Decimal

import pytest

from sourcemon.core.changes import Counters, changes, keyed
from sourcemon.core.entries import Entry
from sourcemon.core.health import Grade, Window
from sourcemon.core.overviews import ItemOverview, RunOverview, SourceOverview
from sourcemon.core.poll_state import PollState
from sourcemon.core.sources import SourceId
from sourcemon.errors import UnknownSource
from sourcemon.store import claims, health, items, listing, polls
from sourcemon.store.session import Database
from tests.store.stored import LEASE, NOON, add_source, add_sources, minutes, statements
from tests.store.test_poll_rows import FULL, RUN


def add_items(database: Database, source_id: int, *numbers: int, minute: float = 0) -> None:
    by_key = keyed([Entry(guid=f"{number}", title=f"Title {number}") for number in numbers])
    with database.write() as session:
        found = changes(by_key, {}, seen=len(by_key))
        items.write(session, SourceId(source_id), found, now=NOON + minutes(minute))


def add_runs(database: Database, source_id: int, *starts: float) -> list[int]:
    with database.write() as session:
        return [
            polls.begin_run(
                session, SourceId(source_id), started_at=NOON + minutes(start), forced=False
            )
            for start in starts
        ]


def test_a_source_that_was_never_polled_is_listed_as_such(database):
    source = add_source(database, next_poll_at=NOON)
    with database.read() as session:
        (found,) = listing.sources(session)
    assert found == SourceOverview(
        source=source,
        state=PollState(),
        grade=None,
        rolling_success_rate=None,
        items=0,
        next_poll_at=NOON,
        claimed_until=None,
    )


def test_a_source_is_listed_with_all_that_became_of_it(database):
    source = add_source(database)
    add_items(database, source.id, 3, 2, 1)
    with database.write() as session:
        claims.take(session, source.id, token="mine", lease=LEASE, instant=NOON)
        polls.record(session, source.id, token="mine", state=FULL)
        polls.cache_next_poll(session, source.id, NOON + minutes(30))
        health.record(session, source.id, Window((True, False)), Grade.DECLINING, now=NOON)
    with database.read() as session:
        found = listing.source(session, source.id)
    assert found == SourceOverview(
        source=source,
        state=FULL,
        grade=Grade.DECLINING,
        rolling_success_rate=Decimal("0.5000"),
        items=3,
        next_poll_at=NOON + minutes(30),
        claimed_until=NOON + LEASE,
    )


def test_sources_are_listed_by_id_each_with_its_own_items(database):
    add_sources(database, 3)
    add_items(database, 3, 1, 2)
    add_items(database, 1, 1)
    with database.read() as session:
        found = [(each.source.id, each.items) for each in listing.sources(session)]
    assert found == [(1, 1), (2, 0), (3, 2)]


IDS = {
    "in their own order": ([3, 1], [1, 3]),
    "without those that are not there": ([2, 99], [2]),
    "once": ([2, 2], [2]),
    "none": ([], []),
}


@pytest.mark.parametrize(("ids", "expected"), IDS.values(), ids=IDS)
def test_only_the_sources_asked_for_are_listed(database, ids, expected):
    add_sources(database, 3)
    with database.read() as session:
        found = listing.sources(session, [SourceId(each) for each in ids])
    assert [each.source.id for each in found] == expected


def test_one_source_that_is_not_there_is_unknown(database):
    with pytest.raises(UnknownSource), database.read() as session:
        listing.source(session, SourceId(7))


def test_the_number_of_queries_does_not_grow_with_the_sources(database):
    add_sources(database, 30)
    add_items(database, 7, 1, 2, 3)
    with statements(database) as seen, database.read() as session:
        assert len(listing.sources(session)) == 30
    assert len(seen) == 1


def test_runs_are_listed_newest_first_and_of_equals_the_later_row(database):
    add_sources(database, 2)
    first, second, third = add_runs(database, 1, 5, 1, 5)
    (fourth,) = add_runs(database, 2, 3)
    with database.read() as session:
        assert [run.id for run in listing.runs(session, limit=9)] == [third, first, fourth, second]
        assert [run.id for run in listing.runs(session, limit=2)] == [third, first]
        assert [run.id for run in listing.runs(session, SourceId(2), limit=9)] == [fourth]
        assert listing.runs(session, SourceId(99), limit=9) == ()
        assert listing.runs(session, limit=0) == ()


def test_a_run_is_listed_as_it_was_recorded(database):
    source = add_source(database, name="Kiosk")
    (run_id,) = add_runs(database, source.id, 0)
    with database.write() as session:
        polls.end_run(session, run_id, RUN, decision={"binding": None})
    with database.read() as session:
        (found,) = listing.runs(session, limit=1)
    assert found == RunOverview(
        id=run_id,
        source_id=source.id,
        source_name="Kiosk",
        status="completed",
        forced=False,
        started_at=NOON,
        finished_at=RUN.finished_at,
        duration_ms=1234,
        http_status=200,
        bytes_received=12_345,
        pages_fetched=1,
        counters=RUN.counters,
        stop_reason="no_next_link",
        error_category=None,
        error=None,
        decision={"binding": None},
    )


def test_a_run_under_way_is_listed_without_an_end(database):
    add_source(database)
    add_runs(database, 1, 0)
    with database.read() as session:
        (found,) = listing.runs(session, limit=1)
    assert (found.status, found.finished_at, found.decision) == ("running", None, None)
    assert found.counters == Counters()


def test_items_are_listed_the_last_stored_first(database):
    add_sources(database, 2)
    add_items(database, 1, 2, 1)
    add_items(database, 2, 3)
    add_items(database, 1, 5, 4, minute=30)
    with database.read() as session:

        def listed(*args, **options) -> list[str | None]:
            return [item.title for item in listing.items(session, *args, **options)]

        assert listed(limit=9) == [f"Title {number}" for number in (5, 4, 3, 2, 1)]
        assert listed(limit=2) == ["Title 5", "Title 4"]
        assert listed(SourceId(1), limit=3) == ["Title 5", "Title 4", "Title 2"]
        assert listed(SourceId(99), limit=3) == []


def test_an_item_is_listed_without_its_long_parts(database):
    source = add_source(database, name="Kiosk")
    entry = Entry(
        guid="1",
        url="https://kiosk.test/1",
        title="Title",
        author="Ana",
        published_at=NOON - minutes(2),
        updated_at=NOON - minutes(1),
        content="long",
    )
    by_key = keyed([entry])
    with database.write() as session:
        items.write(session, source.id, changes(by_key, {}, seen=1), now=NOON)
    with database.read() as session:
        (found,) = listing.items(session, limit=1)
    assert found == ItemOverview(
        id=1,
        source_id=source.id,
        source_name="Kiosk",
        guid="1",
        url="https://kiosk.test/1",
        title="Title",
        author="Ana",
        published_at=NOON - minutes(2),
        updated_at=NOON - minutes(1),
        first_seen_at=NOON,
        last_seen_at=NOON,
    )
