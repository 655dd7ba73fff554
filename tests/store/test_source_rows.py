"""Sources: registered once, found again, switched on and off."""

from __future__ import annotations

import random
import string
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sourcemon.core.sources import NewSource, Source, SourceId, SourceKind
from sourcemon.errors import DuplicateSource, UnknownSource
from sourcemon.store import sources
from sourcemon.store.session import Database
from sourcemon.store.tables import PollStateRow, SourceRow
from tests.store.stored import NOON, TICK, add_source, minutes, rows, seconds

URL = "https://kiosk.test/feed"
LONG_URL = "https://kiosk.test/?" + "".join(
    random.Random(1).choices(string.ascii_letters + string.digits, k=7_900)
)
"""As long as a URL may be, of a text that no database can compress."""


def add(database: Database, url: str, *, name: str = "kiosk", interval_s: int = 60) -> Source:
    """A source without a state; the store adds no more than it is told to."""
    new = NewSource(kind=SourceKind.FEED, url=url, name=name, interval=seconds(interval_s))
    with database.write() as session:
        return sources.add(session, new, now=NOON + TICK)


def test_a_source_comes_back_as_it_was_registered(database):
    added = add(database, URL, name="Kiosk “daily”", interval_s=90)
    assert added == Source(
        id=SourceId(1),
        kind=SourceKind.FEED,
        url=URL,
        name="Kiosk “daily”",
        interval=seconds(90),
        enabled=True,
        created_at=NOON + TICK,
    )
    with database.read() as session:
        assert sources.get(session, added.id) == added


URLS = {
    "as long as one may be": LONG_URL,
    "an international host": "https://xn--kisk-6qa.test/feed",
    "an address of IPv6": "http://[::1]:8080/feed",
    "marks that SQL knows": "https://kiosk.test/?q=%27;--&a=:b&c=%(d)s&e=?",
}


@pytest.mark.parametrize("url", URLS.values(), ids=URLS)
def test_any_url_that_can_be_polled_can_be_stored(database, url):
    added = add(database, url)
    with database.read() as session:
        assert sources.get(session, added.id).url == url


SAME = {
    "the very same": URL,
    "http for https": "http://kiosk.test/feed",
    "a default port": "https://kiosk.test:443/feed",
    "the other scheme with its default port": "http://kiosk.test:80/feed",
    "a trailing slash": "https://kiosk.test/feed/",
    "capitals in the host": "https://KIOSK.test/feed",
    "a dot behind the host": "https://kiosk.test./feed",
    "a tracking parameter": "https://kiosk.test/feed?utm_source=mail",
    "a fragment": "https://kiosk.test/feed#top",
}


@pytest.mark.parametrize("url", SAME.values(), ids=SAME)
def test_the_same_resource_is_watched_once(database, url):
    first = add(database, URL, name="first")
    with pytest.raises(DuplicateSource, match=r"source 1 \(first\)") as refused:
        add(database, url, name="second")
    assert refused.value.source_id == first.id
    assert [row["name"] for row in rows(database, SourceRow)] == ["first"]


OTHER = {
    "another path": "https://kiosk.test/feeds",
    "capitals in the path": "https://kiosk.test/Feed",
    "another port": "https://kiosk.test:8443/feed",
    "a query": "https://kiosk.test/feed?section=news",
    "another host": "https://news.kiosk.test/feed",
}


@pytest.mark.parametrize("url", OTHER.values(), ids=OTHER)
def test_another_resource_is_another_source(database, url):
    add(database, URL)
    assert add(database, url).id == 2


def test_a_refused_duplicate_leaves_the_transaction_usable(database):
    """An import adds many in one transaction and goes on."""
    add(database, URL)
    new = NewSource(kind=SourceKind.FEED, url=URL, name="again", interval=minutes(30))
    other = NewSource(kind=SourceKind.FEED, url=URL + "s", name="other", interval=minutes(30))
    with database.write() as session:
        with pytest.raises(DuplicateSource):
            sources.add(session, new, now=NOON)
        sources.add(session, other, now=NOON)
    assert [row["name"] for row in rows(database, SourceRow)] == ["kiosk", "other"]


def test_of_two_who_add_at_once_one_is_told_of_the_other(database, elsewhere):
    """Both have begun before either is done: SQLite makes one wait, PostgreSQL's index does."""
    begun = threading.Event()

    def second() -> Source:
        begun.set()
        return add(elsewhere, "http://kiosk.test/feed", name="second")

    with ThreadPoolExecutor() as pool:
        new = NewSource(kind=SourceKind.FEED, url=URL, name="first", interval=minutes(30))
        with database.write() as session:
            first = sources.add(session, new, now=NOON)
            loser = pool.submit(second)
            begun.wait()
        with pytest.raises(DuplicateSource, match="first") as refused:
            loser.result()
    assert refused.value.source_id == first.id
    assert len(rows(database, SourceRow)) == 1


def test_of_many_who_add_at_once_exactly_one_succeeds(database, elsewhere):
    together = threading.Barrier(8)

    def attempt(number: int) -> str:
        together.wait()
        try:
            add((database, elsewhere)[number % 2], f"{URL}?utm_term={number}")
        except DuplicateSource as refused:
            return f"twin of {refused.source_id}"
        return "added"

    with ThreadPoolExecutor(8) as pool:
        found = sorted(pool.map(attempt, range(8)))
    (stored,) = rows(database, SourceRow)
    assert found == ["added", *[f"twin of {stored['id']}"] * 7]


def test_an_add_that_waited_for_one_that_was_undone_succeeds(database, elsewhere):
    begun = threading.Event()

    def second() -> Source:
        begun.set()
        return add(elsewhere, URL, name="second")

    def undone(pool: ThreadPoolExecutor):
        new = NewSource(kind=SourceKind.FEED, url=URL, name="first", interval=minutes(30))
        with database.write() as session:
            sources.add(session, new, now=NOON)
            later = pool.submit(second)
            begun.wait()
            raise KeyError(later)

    with ThreadPoolExecutor() as pool:
        with pytest.raises(KeyError) as raised:
            undone(pool)
        assert raised.value.args[0].result().name == "second"
    assert [row["name"] for row in rows(database, SourceRow)] == ["second"]


@pytest.mark.parametrize("enabled", [False, True])
def test_a_source_is_switched_and_the_others_are_not(database, enabled):
    add_source(database, URL)
    add_source(database, URL + "s")
    with database.write() as session:
        sources.set_enabled(session, SourceId(2), enabled=not enabled)
        sources.set_enabled(session, SourceId(2), enabled=enabled)
        assert sources.get(session, SourceId(2)).enabled is enabled
    assert [row["enabled"] for row in rows(database, SourceRow)] == [True, enabled]


UNKNOWN = {
    "getting it": lambda session: sources.get(session, SourceId(7)),
    "switching it": lambda session: sources.set_enabled(session, SourceId(7), enabled=False),
}


@pytest.mark.parametrize("ask", UNKNOWN.values(), ids=UNKNOWN)
def test_a_source_that_is_not_there_is_unknown(database, ask):
    add_source(database)
    with pytest.raises(UnknownSource, match="no source 7") as refused, database.write() as session:
        ask(session)
    assert refused.value.source_id == 7


def test_configuration_and_state_are_kept_apart(database):
    add(database, URL)
    assert rows(database, PollStateRow) == []
