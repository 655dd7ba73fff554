"""Instants: in as they are meant, out in UTC, to the microsecond, and in their order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import StatementError
from sqlmodel import col

from sourcemon.core.decisions import EVER
from sourcemon.core.schedule import NEVER
from sourcemon.store.session import Database
from sourcemon.store.tables import PollRunRow, SourceRow
from tests.store.shared import as_administrator
from tests.store.stored import NOON, add_source, rows

TOKYO = timezone(timedelta(hours=9))
NEW_YORK_IN_SUMMER = timezone(timedelta(hours=-4))

ROUND_TRIPS = {
    "a whole second": NOON,
    "a microsecond": NOON + timedelta(microseconds=1),
    "a microsecond before the next second": NOON + timedelta(microseconds=999_999),
    "a tenth": NOON + timedelta(milliseconds=100),
    "the source that is due before all others": EVER,
    "the source that is never due": NEVER,
    "the last instant there is": datetime.max.replace(tzinfo=UTC),
    "before 1970": datetime(1923, 4, 5, 6, 7, 8, tzinfo=UTC),
    "east of Greenwich": NOON.astimezone(TOKYO),
    "west of Greenwich, on the day before": datetime(2025, 6, 1, 23, tzinfo=NEW_YORK_IN_SUMMER),
    "in a minute that a clock shows twice": datetime(2025, 10, 26, 2, 30, tzinfo=UTC),
}


def store(database: Database, *instants: datetime) -> None:
    """Runs of one source that began at these instants."""
    if not rows(database, SourceRow):
        add_source(database)
    run = {"source_id": 1, "status": "running", "forced": False}
    with database.write() as session:
        for instant in instants:
            session.execute(insert(PollRunRow).values(**run, started_at=instant))


def stored(database: Database) -> list[datetime]:
    """What is stored, in the database's own order of time."""
    started_at = col(PollRunRow.started_at)
    with database.read() as session:
        return list(session.execute(select(started_at).order_by(started_at)).scalars())


@pytest.mark.parametrize("instant", ROUND_TRIPS.values(), ids=ROUND_TRIPS)
def test_an_instant_comes_back_as_it_was_in_utc(database, instant):
    store(database, instant)
    (found,) = stored(database)
    assert (found, found.utcoffset()) == (instant, timedelta(0))


@pytest.fixture(params=["Asia/Tokyo", "America/New_York", "Europe/Lisbon"])
def server_elsewhere(request: pytest.FixtureRequest, postgres_url: str) -> Iterator[Database]:
    """A server that stands in another zone and shows instants in it."""
    name = make_url(postgres_url).database
    as_administrator(postgres_url, f"ALTER DATABASE {name} SET timezone = '{request.param}'")
    opened = Database(postgres_url)
    yield opened
    opened.close()
    as_administrator(postgres_url, f"ALTER DATABASE {name} RESET timezone")


def test_the_zone_of_the_server_makes_no_difference(server_elsewhere):
    instants = sorted(ROUND_TRIPS.values())
    store(server_elsewhere, *instants)
    found = stored(server_elsewhere)
    assert found == instants
    assert {instant.utcoffset() for instant in found} == {timedelta(0)}


def test_instants_sort_by_time_whatever_their_zones_and_fractions(database):
    later = [
        NOON,
        NOON + timedelta(microseconds=1),
        (NOON + timedelta(milliseconds=100)).astimezone(TOKYO),
        (NOON + timedelta(microseconds=100_001)).astimezone(NEW_YORK_IN_SUMMER),
        NOON + timedelta(seconds=1),
        NOON + timedelta(seconds=10),
        NEVER,
    ]
    store(database, *reversed(later))
    assert stored(database) == later


@settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    instants=st.lists(
        st.datetimes(
            min_value=datetime(2, 1, 1),  # noqa: DTZ001 - hypothesis wants naive bounds
            max_value=datetime(9998, 1, 1),  # noqa: DTZ001 - as above
            timezones=st.integers(-12 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
        ),
        min_size=1,
        max_size=20,
        unique=True,
    )
)
def test_any_instants_come_back_in_their_order(database, instants):
    with database.write() as session:
        session.execute(delete(PollRunRow))
    store(database, *instants)
    assert stored(database) == sorted(instants)


def test_a_naive_instant_is_refused(database):
    with pytest.raises(StatementError, match="a naive instant cannot be stored") as refused:
        store(database, NOON.replace(tzinfo=None))
    assert isinstance(refused.value.orig, ValueError)
    assert stored(database) == []
