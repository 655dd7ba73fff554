"""What the database itself refuses, and what goes with a source that is removed."""

from __future__ import annotations

from decimal import Decimal

import pytest
from sqlalchemy import delete, insert
from sqlalchemy.exc import DataError, IntegrityError
from sqlmodel import col

from sourcemon.store.session import Database
from sourcemon.store.tables import (
    HealthStateRow,
    ItemContentRow,
    ItemRow,
    PollRunRow,
    PollStateRow,
    SourceRow,
)
from tests.store.stored import NOON, Row, add_source, change, rows

RUN: Row = {"status": "running", "forced": False, "started_at": NOON}
ITEM: Row = {
    "key": "guid:1",
    "key_hash": "ab",
    "content_hash": "cd",
    "first_seen_at": NOON,
    "last_seen_at": NOON,
}


def insert_row(database: Database, table, values: Row) -> None:
    with database.write() as session:
        session.execute(insert(table).values(values))


def with_everything(database: Database) -> int:
    """A source with a row in every table that hangs on it."""
    source = add_source(database)
    insert_row(database, PollRunRow, {**RUN, "source_id": source.id})
    insert_row(database, ItemRow, {**ITEM, "source_id": source.id})
    (item,) = rows(database, ItemRow)
    insert_row(database, ItemContentRow, {"item_id": item["id"], "content": "text"})
    return source.id


REFUSED = {
    "a kind of source that nobody can poll": (SourceRow, {"kind": "gopher"}),
    "an interval below ten seconds": (SourceRow, {"interval_s": 9}),
    "a source without a name": (SourceRow, {"name": None}),
    "a status of polling that is none": (PollStateRow, {"status": "polling"}),
    "fewer than no failures": (PollStateRow, {"consecutive_failures": -1}),
    "fewer than no retries": (PollStateRow, {"retry_attempt": -1}),
    "fewer than no openings of a circuit": (PollStateRow, {"reopens": -1}),
    "a claim without an expiry": (PollStateRow, {"claim_token": "mine"}),
    "an expiry without a claim": (PollStateRow, {"claim_expires_at": NOON}),
    "a source that is never due": (PollStateRow, {"next_poll_at": None}),
    "a status of a run that is none": (PollRunRow, {"status": "done"}),
    "an entry that is counted nowhere": (PollRunRow, {"entries_seen": 1}),
    "an entry that is counted and was not seen": (PollRunRow, {"created": 1}),
    "an entry that is counted twice": (
        PollRunRow,
        {"entries_seen": 1, "created": 1, "failed": 1},
    ),
    "an item without a key": (ItemRow, {"key_hash": None}),
    "a grade that is none": (HealthStateRow, {"grade": "healthy"}),
    "a rate above one": (HealthStateRow, {"rolling_success_rate": Decimal("1.0001")}),
    "a rate below zero": (HealthStateRow, {"rolling_success_rate": Decimal("-0.0001")}),
}


@pytest.mark.parametrize(("table", "values"), REFUSED.values(), ids=REFUSED)
def test_the_database_refuses(database, table, values):
    with_everything(database)
    before = rows(database, table)
    with pytest.raises((IntegrityError, DataError)):
        change(database, table, values)
    assert rows(database, table) == before


ACCEPTED = {
    "a source that is gone": (PollStateRow, {"status": "gone"}),
    "a source that an operator must mend": (PollStateRow, {"status": "failed"}),
    "a whole claim": (PollStateRow, {"claim_token": "mine", "claim_expires_at": NOON}),
    "counters that add up": (
        PollRunRow,
        {
            "entries_seen": 28,
            "created": 1,
            "updated": 2,
            "unchanged": 3,
            "duplicate": 4,
            "quarantined": 5,
            "ignored": 6,
            "failed": 7,
        },
    ),
    "the best rate": (HealthStateRow, {"rolling_success_rate": Decimal("1.0000")}),
    "the worst rate": (HealthStateRow, {"rolling_success_rate": Decimal("0.0000")}),
    "no grade yet": (HealthStateRow, {"grade": None}),
}


@pytest.mark.parametrize(("table", "values"), ACCEPTED.values(), ids=ACCEPTED)
def test_the_database_accepts(database, table, values):
    with_everything(database)
    change(database, table, values)
    (stored,) = rows(database, table)
    assert {name: stored[name] for name in values} == values


@pytest.mark.parametrize("table", [SourceRow, ItemRow, PollStateRow, HealthStateRow])
def test_a_copy_is_refused_of_a_row_in(database, table):
    """A URL is watched once, an identity is an item once, and a source has one state."""
    with_everything(database)
    (copy,) = rows(database, table)
    copy.pop("id", None)
    with pytest.raises(IntegrityError):
        insert_row(database, table, copy)
    assert len(rows(database, table)) == 1


ORPHANS = {
    "a run": (PollRunRow, {**RUN, "source_id": 99}),
    "an item": (ItemRow, {**ITEM, "source_id": 99}),
    "a health state": (HealthStateRow, {"source_id": 99}),
    "an item's content": (ItemContentRow, {"item_id": 99}),
}


@pytest.mark.parametrize(("table", "values"), ORPHANS.values(), ids=ORPHANS)
def test_nothing_belongs_to_nobody(database, table, values):
    with pytest.raises(IntegrityError):
        insert_row(database, table, values)


def test_a_source_takes_with_it_all_that_hangs_on_it_and_nothing_else(database):
    kept = add_source(database, "https://other.test/feed")
    gone = with_everything(database)
    with database.write() as session:
        session.execute(delete(SourceRow).where(col(SourceRow.id) == gone))
    assert [row["id"] for row in rows(database, SourceRow)] == [kept.id]
    for kept_in in (PollStateRow, HealthStateRow):
        assert [row["source_id"] for row in rows(database, kept_in)] == [kept.id]
    for gone_from in (PollRunRow, ItemRow, ItemContentRow):
        assert rows(database, gone_from) == []
