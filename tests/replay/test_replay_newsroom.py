"""Content as a function of the clock, read back with a real feed parser."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import feedparser
import pytest

from sourcemon.core.replies import Headers
from sourcemon.replay import Desk, Dialect, Edit, Every, Listed, Newsroom, Request, Rhythm
from sourcemon.replay.inland import ADVISORIES, COUNCIL, MOUNTAIN, OBSERVATORY, RAILWAY
from sourcemon.replay.waterside import FERRY, HARBOUR, LIGHTHOUSE, NIGHT_MARKET, WRECKS

NOON = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
DESKS = (
    HARBOUR,
    LIGHTHOUSE,
    FERRY,
    NIGHT_MARKET,
    WRECKS,
    OBSERVATORY,
    MOUNTAIN,
    COUNCIL,
    RAILWAY,
    ADVISORIES,
)


def body(feed: Newsroom, at: datetime = NOON) -> bytes:
    """The bytes of the feed at an instant."""
    return feed.answer(Request(path=feed.path, at=at)).body


def parsed(feed: Newsroom, at: datetime = NOON) -> Any:
    """The feed at an instant as a feed reader sees it; its text is well-formed."""
    headers = {"content-type": feed.dialect.content_type(feed.encoding)}
    document = feedparser.parse(body(feed, at), response_headers=headers, sanitize_html=False)
    assert not document.bozo, document.get("bozo_exception")
    return document


COUNTS: dict[str, tuple[Rhythm, datetime, int]] = {
    "none a moment before the first": (Every(HOUR, NOON), NOON - timedelta(microseconds=1), 0),
    "one at the very instant": (Every(HOUR, NOON), NOON, 1),
    "still one a moment before the second": (Every(HOUR, NOON), NOON + HOUR * 0.999, 1),
    "two after an interval": (Every(HOUR, NOON), NOON + HOUR, 2),
    "none a year before": (Every(HOUR, NOON), NOON - timedelta(days=365), 0),
    "listed: none before": (Listed((NOON, NOON)), NOON - HOUR, 0),
    "listed: two at one instant": (Listed((NOON, NOON)), NOON, 2),
    "listed: no more after the last": (Listed((NOON,)), NOON + 100 * HOUR, 1),
}


@pytest.mark.parametrize(("rhythm", "now", "count"), COUNTS.values(), ids=COUNTS)
def test_rhythm(rhythm: Rhythm, now: datetime, count: int) -> None:
    assert rhythm.count(now) == count
    assert all(rhythm.instant(number) <= now for number in range(1, count + 1))


def test_a_rhythm_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        Every(timedelta(0), NOON)
    with pytest.raises(ValueError, match="ascending"):
        Listed((NOON, NOON - HOUR))


def test_the_newest_entries_come_first_and_the_oldest_leave() -> None:
    feed = Newsroom("/f", desk=HARBOUR, published=Every(HOUR, NOON), window=3)
    shown = {
        hours: [notice.number for notice in feed.notices(NOON + hours * HOUR)]
        for hours in (-1, 0, 1, 2, 3, 500)
    }

    assert shown == {-1: [], 0: [1], 1: [2, 1], 2: [3, 2, 1], 3: [4, 3, 2], 500: [501, 500, 499]}


def test_an_entry_keeps_its_identity_while_others_come() -> None:
    feed = Newsroom("/f", desk=MOUNTAIN, published=Every(HOUR, NOON))
    earlier, later = feed.notices(NOON + 2 * HOUR), feed.notices(NOON + 9 * HOUR)

    assert later[-3:] == earlier
    assert len({notice.link for notice in later}) == len(later)


def test_an_edit_shows_from_its_instant_on() -> None:
    edit = Edit(number=2, at=NOON + HOUR, title="Corrected")
    feed = Newsroom("/f", desk=FERRY, published=Listed((NOON, NOON)), edits=(edit,))
    before, after = feed.notices(NOON), feed.notices(NOON + HOUR)

    assert before[0].title == "Sailing 2 cancelled: <strike> does not mean the HTML tag"
    assert after[0].title == "Corrected"
    assert (after[0].text, after[0].guid) == (before[0].text, before[0].guid)
    assert (after[0].published_at, after[0].updated_at) == (NOON, NOON + HOUR)
    assert after[1] == before[1]
    assert (feed.changed_at(NOON), feed.changed_at(NOON + HOUR)) == (NOON, NOON + HOUR)


def test_the_last_of_several_edits_stands_and_a_text_may_change_alone() -> None:
    edits = (
        Edit(number=1, at=NOON + 2 * HOUR, text="<p>final</p>"),
        Edit(number=1, at=NOON + HOUR, title="T", text="<p>draft</p>"),
    )
    feed = Newsroom("/f", desk=FERRY, published=Listed((NOON,)), edits=edits)

    notice = feed.notices(NOON + 2 * HOUR)[0]

    assert (notice.title, notice.text) == ("T", "<p>final</p>")


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("desk", DESKS, ids=lambda desk: desk.title)
def test_a_feed_reader_finds_every_entry(desk: Desk, dialect: Dialect) -> None:
    feed = Newsroom("/f", desk=desk, published=Every(HOUR, NOON - 8 * HOUR), dialect=dialect)
    document = parsed(feed)

    notices = feed.notices(NOON)
    assert document.feed.title == desk.title
    assert [entry.title for entry in document.entries] == [notice.title for notice in notices]
    assert [entry.link for entry in document.entries] == [notice.link for notice in notices]


VERSIONS: dict[str, tuple[Dialect, str, str]] = {
    "RSS 2.0": (Dialect.RSS, "rss20", "application/rss+xml; charset=utf-8"),
    "Atom 1.0": (Dialect.ATOM, "atom10", "application/atom+xml; charset=utf-8"),
    "RDF, that is RSS 1.0": (Dialect.RDF, "rss10", "application/rdf+xml; charset=utf-8"),
    "RSS 0.91": (Dialect.RSS_091, "rss091u", "text/xml; charset=utf-8"),
}


@pytest.mark.parametrize(("dialect", "version", "content_type"), VERSIONS.values(), ids=VERSIONS)
def test_dialect(dialect: Dialect, version: str, content_type: str) -> None:
    feed = Newsroom("/f", desk=HARBOUR, published=Listed((NOON,)), dialect=dialect)
    answer = feed.answer(Request(path="/f", at=NOON))

    assert parsed(feed).version == version
    assert answer.headers.get("Content-Type") == content_type


@pytest.mark.parametrize("dialect", Dialect)
def test_an_empty_feed_is_a_feed_without_a_date(dialect: Dialect) -> None:
    feed = Newsroom("/f", desk=HARBOUR, published=Listed(()), dialect=dialect)
    answer = feed.answer(Request(path="/f", at=NOON))

    assert parsed(feed).entries == []
    assert answer.headers.get("Last-Modified") is None
    assert answer.headers.get("ETag") is not None


def test_rss_has_html_both_ways_authors_and_one_entry_without_a_guid() -> None:
    feed = Newsroom("/f", desk=HARBOUR, published=Listed((NOON,) * 4))
    document = parsed(feed)
    by_number = dict(zip((4, 3, 2, 1), document.entries, strict=True))

    assert [number for number, entry in by_number.items() if "id" not in entry] == [3]
    assert by_number[1].author == "Jürgen Äppelwoi"
    assert by_number[1].content[0].value == feed.notices(NOON)[3].text
    assert by_number[2].summary == feed.notices(NOON)[2].text
    assert [tag.term for tag in by_number[1].tags] == ["Sperrung", "Nordbecken"]
    assert by_number[4].enclosures[0].href == f"{HARBOUR.home}audio/kanal-12.ogg"
    assert by_number[1].published_parsed[:4] == (2025, 6, 2, 12)
    assert b"<![CDATA[" in body(feed)
    assert b"&lt;p&gt;" in body(feed)


def test_atom_has_relative_links_under_a_base() -> None:
    feed = Newsroom("/f", desk=LIGHTHOUSE, published=Listed((NOON,) * 2), dialect=Dialect.ATOM)
    entry = parsed(feed).entries[0]

    assert b'href="watch/2"' in body(feed)
    assert entry.link == "https://skarvoy.example/log/watch/2"
    assert entry.enclosures[0].href == "https://skarvoy.example/log/photos/lens.jpg"


def test_an_atom_entry_that_is_corrected_says_so() -> None:
    edit = Edit(number=1, at=NOON + HOUR, text="<p>x</p>")
    feed = Newsroom(
        "/f", desk=LIGHTHOUSE, published=Listed((NOON,)), dialect=Dialect.ATOM, edits=(edit,)
    )
    entry = parsed(feed, NOON + HOUR).entries[0]

    assert (entry.published_parsed[3], entry.updated_parsed[3]) == (12, 13)


def test_an_old_encoding_keeps_what_it_lacks_as_references() -> None:
    feed = Newsroom(
        "/f",
        desk=WRECKS,
        published=Listed((NOON,) * 3),
        dialect=Dialect.RSS_091,
        encoding="iso-8859-1",
    )

    assert "Señora Muñoz".encode("latin-1") in body(feed)
    assert b"&#381;i&#382;kov" in body(feed)
    assert "Žižkov" in parsed(feed).entries[0].title


def test_content_is_a_function_of_the_clock_alone() -> None:
    feed = Newsroom("/f", desk=HARBOUR, published=Every(HOUR, NOON - 9 * HOUR), gzips=True)
    asking = Request(path="/f", at=NOON, headers=Headers((("Accept-Encoding", "gzip"),)))

    assert feed.answer(asking) == feed.answer(asking)
