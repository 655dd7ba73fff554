"""Items: new ones, edited ones, those listed again, and the one that cannot be stored."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from sourcemon.core.changes import Changes, Counters, changes, keyed
from sourcemon.core.entries import Enclosure, Entry, identity, identity_hash, storable
from sourcemon.core.sources import SourceId
from sourcemon.errors import DatabaseUnavailable
from sourcemon.store import items, polls
from sourcemon.store.session import Database
from sourcemon.store.tables import ItemContentRow, ItemRow, PollStateRow
from tests.store.stored import (
    NOON,
    TICK,
    Row,
    add_source,
    add_sources,
    minutes,
    out_of_order,
    row,
    rows,
    statements,
)

OURS = SourceId(1)
LONE_SURROGATE = "broken \ud800 text"
"""Half of a character; no encoding that a database uses has a place for it."""

FULL = Entry(
    guid="tag:kiosk.test,2025:1",
    url="https://kiosk.test/1",
    title="Ein Titel",
    author="Ana, Bo",
    published_at=NOON - minutes(5),
    updated_at=NOON - minutes(4) + TICK,
    summary="<p>short</p>",
    content="<p>long</p>",
    categories=("news", "Österreich"),
    enclosures=(
        Enclosure(url="https://kiosk.test/1.mp3", type="audio/mpeg", length=2**40, duration="1:02"),
        Enclosure(url="https://kiosk.test/1.pdf"),
    ),
    image="https://kiosk.test/1.png",
    language="de-AT",
    comments_url="https://kiosk.test/1#comments",
)


def entry(number: int, **fields: Any) -> Entry:
    return replace(
        Entry(guid=f"guid-{number}", url=f"https://kiosk.test/{number}", title=f"Title {number}"),
        **fields,
    )


def page(
    database: Database,
    entries: Sequence[Entry],
    *,
    source_id: int = OURS,
    now: datetime = NOON,
) -> Counters:
    """What a page of these entries comes to, by the same steps that a poll takes."""
    by_key = keyed(entries)
    with database.write() as session:
        known = items.known(session, SourceId(source_id), by_key)
        found = changes(by_key, known, seen=len(entries))
        return items.write(session, SourceId(source_id), found, now=now)


def stored(database: Database) -> list[Row]:
    """The items with their contents, the newest first."""
    contents = {row["item_id"]: row for row in rows(database, ItemContentRow)}
    found = [{**row, **contents[row["id"]]} for row in rows(database, ItemRow)]
    return found[::-1]


def titles(database: Database) -> list[str]:
    return [row["title"] for row in stored(database)]


def test_every_field_of_a_new_entry_is_stored(database):
    add_source(database)
    assert page(database, [FULL]) == Counters(created=1)
    (found,) = stored(database)
    del found["id"], found["item_id"], found["content_hash"]
    assert found == {
        "source_id": OURS,
        "key": "guid:tag:kiosk.test,2025:1",
        "key_hash": identity_hash("guid:tag:kiosk.test,2025:1"),
        "guid": FULL.guid,
        "url": FULL.url,
        "title": FULL.title,
        "author": FULL.author,
        "published_at": FULL.published_at,
        "updated_at": FULL.updated_at,
        "image": FULL.image,
        "language": FULL.language,
        "comments_url": FULL.comments_url,
        "first_seen_at": NOON,
        "last_seen_at": NOON,
        "summary": FULL.summary,
        "content": FULL.content,
        "categories": ["news", "Österreich"],
        "enclosures": [
            {
                "url": "https://kiosk.test/1.mp3",
                "type": "audio/mpeg",
                "length": 2**40,
                "duration": "1:02",
            },
            {"url": "https://kiosk.test/1.pdf", "type": None, "length": None, "duration": None},
        ],
    }


def test_an_entry_with_nothing_but_a_guid_is_an_item(database):
    add_source(database)
    assert page(database, [Entry(guid="1")]) == Counters(created=1)
    (found,) = stored(database)
    assert {found[name] for name in ("url", "title", "content", "categories", "enclosures")} == {
        None
    }


def test_the_first_of_a_page_is_the_newest_item(database):
    add_source(database)
    page(database, [entry(3), entry(2), entry(1)])
    page(database, [entry(5), entry(4), entry(3)])
    assert titles(database) == [f"Title {number}" for number in (5, 4, 3, 2, 1)]


def test_an_entry_that_is_listed_again_is_unchanged_and_only_seen(database):
    add_source(database)
    page(database, [FULL])
    (before,) = stored(database)
    assert page(database, [FULL], now=NOON + minutes(30)) == Counters(unchanged=1)
    assert stored(database) == [{**before, "last_seen_at": NOON + minutes(30)}]


def test_an_item_that_is_no_longer_listed_stays_as_it_was_last_seen(database):
    add_source(database)
    page(database, [entry(1)])
    page(database, [entry(2)], now=NOON + minutes(30))
    assert [row["last_seen_at"] for row in stored(database)] == [NOON + minutes(30), NOON]


EDITS: dict[str, Any] = {
    "title": "Another title",
    "url": "https://kiosk.test/moved",
    "summary": "<p>shorter</p>",
    "content": None,
    "published_at": NOON,
    "updated_at": None,
    "enclosures": (),
}


@pytest.mark.parametrize("field", EDITS)
def test_an_edited_entry_updates_its_item_and_no_other(database, field):
    add_source(database)
    page(database, [FULL, entry(2)])
    before, other = stored(database)
    edited = replace(FULL, **{field: EDITS[field]})
    assert page(database, [edited], now=NOON + minutes(30)) == Counters(updated=1)
    after, other_after = stored(database)
    assert after["content_hash"] != before["content_hash"]
    assert after == {
        **before,
        field: EDITS[field] or None,
        "content_hash": after["content_hash"],
        "last_seen_at": NOON + minutes(30),
    }
    assert other_after == other


def test_a_page_may_hold_all_kinds_at_once(database):
    add_source(database)
    page(database, [entry(1), entry(2), entry(3)])
    found = page(
        database,
        [entry(5), entry(4), entry(1), entry(2, title="edited"), entry(4, title="again")],
        now=NOON + minutes(30),
    )
    assert found == Counters(created=2, updated=1, unchanged=1, duplicate=1)
    assert titles(database) == ["Title 5", "again", "Title 1", "edited", "Title 3"]


def test_of_a_guid_that_a_page_repeats_the_later_entry_wins(database):
    add_source(database)
    page_of_twins = [entry(1, title="first"), entry(2), entry(1, title="second")]
    assert page(database, page_of_twins) == Counters(created=2, duplicate=1)
    assert sorted(titles(database)) == ["Title 2", "second"]
    assert page(database, page_of_twins) == Counters(unchanged=2, duplicate=1)


def test_an_empty_page_changes_nothing(database):
    add_source(database)
    page(database, [entry(1)])
    before = stored(database)
    assert page(database, [], now=NOON + minutes(30)) == Counters()
    assert stored(database) == before


def test_the_same_guid_in_two_sources_is_two_items(database):
    add_sources(database, 2)
    assert page(database, [entry(1, title="ours")], source_id=1) == Counters(created=1)
    assert page(database, [entry(1, title="theirs")], source_id=2) == Counters(created=1)
    edited = entry(1, title="ours, edited")
    assert page(database, [edited], source_id=1) == Counters(updated=1)
    found = [(row["source_id"], row["title"]) for row in rows(database, ItemRow)]
    assert found == [(1, "ours, edited"), (2, "theirs")]


APART = {
    "capitals": ("yt:video:AbC", "yt:video:aBc"),
    "letters that look alike": ("caf\u00e9", "cafe\u0301"),
    "a guid that is a link, and a link": ("https://kiosk.test/1", None),
    "a sharp s": ("straße", "strasse"),
    "leading zeros": ("01", "1"),
}


@pytest.mark.parametrize(("one", "other"), APART.values(), ids=APART)
def test_identities_are_told_apart_by(database, one, other):
    add_source(database)
    twins = [entry(1, guid=one), entry(1, guid=other)]
    assert page(database, twins) == Counters(created=2)
    assert page(database, twins) == Counters(unchanged=2)
    assert {row["guid"] for row in stored(database)} == {one, other}


NASTY = {
    "an emoji of several characters": "👩🏽‍🚀 and 🏳️‍🌈",
    "right to left": "\u202b\u0645\u0631\u062d\u0628\u0627\u202c \u202eabc\u202c",
    "all the quotes": "'\"`´‘’“”\\'; DROP TABLE items; --",
    "what looks like a parameter": "%s %(name)s :name ? $1 {0} %%",
    "blanks of all kinds": "a\tb\r\nc\u00a0d\u2028e\u200bf\ufeffg",
    "control characters": "bell \x07, escape \x1b, delete \x7f",
    "the last character there is": "\U0010ffff and \ufffe",
    "a megabyte": "lorem ipsum " * 90_000,
    "a megabyte that cannot be compressed": "".join(
        random.Random(2).choices(string.ascii_letters, k=1_000_000)
    ),
    "nothing but a blank": " ",
}


@pytest.mark.parametrize("text", NASTY.values(), ids=NASTY)
def test_any_text_comes_back_as_it_was(database, text):
    add_source(database)
    nasty = replace(
        FULL,
        guid=f"guid {text}",
        title=text,
        author=text,
        summary=text,
        content=text,
        categories=(text, text),
        enclosures=(Enclosure(url=text, type=text),),
    )
    assert page(database, [nasty]) == Counters(created=1)
    assert page(database, [nasty]) == Counters(unchanged=1)
    (found,) = stored(database)
    assert found["guid"] == f"guid {text}"
    assert {found[name] for name in ("title", "author", "summary", "content")} == {text}
    assert found["categories"] == [text, text]
    assert (found["enclosures"][0]["url"], found["enclosures"][0]["type"]) == (text, text)
    assert found["key"] == identity(nasty)


UNSTORABLE = {
    "NUL": ("a\x00b\x00", "ab"),
    "half a character": ("a\ud800b", "a\ufffdb"),
    "half a character, doubly": ("\udc00\ud800", "\ufffd\ufffd"),
    "two halves that belong together": ("\ud83d\ude00", "\U0001f600"),
    "NUL and half a character": ("\x00\udfff", "\ufffd"),
}


@pytest.mark.parametrize(("sent", "kept"), UNSTORABLE.values(), ids=UNSTORABLE)
def test_text_made_storable_comes_back_so_in_every_field(database, sent, kept):
    add_source(database)
    text = storable(sent)
    mended = Entry(
        guid=text,
        url=f"https://kiosk.test/{text}",
        title=text,
        content=text,
        categories=(text,),
        enclosures=(Enclosure(url=text),),
    )
    assert page(database, [mended]) == Counters(created=1)
    assert page(database, [mended]) == Counters(unchanged=1)
    (found,) = stored(database)
    assert (found["guid"], found["title"], found["content"]) == (kept, kept, kept)
    assert (found["categories"], found["enclosures"][0]["url"]) == ([kept], kept)


LONG = "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=8_000))
LONGEST = {
    "a URL of 8000 characters": {"guid": None, "url": f"https://kiosk.test/{LONG}"[:8_000]},
    "a guid of 8000 characters": {"guid": LONG},
    "a guid of a million characters": {"guid": LONG * 125},
}


@pytest.mark.parametrize("fields", LONGEST.values(), ids=LONGEST)
def test_an_identity_may_be_as_long_as_it_likes(database, fields):
    add_source(database)
    assert page(database, [entry(1, **fields)]) == Counters(created=1)
    assert page(database, [entry(1, **fields)]) == Counters(unchanged=1)
    (found,) = stored(database)
    assert {name: found[name] for name in fields} == fields


DATES = {
    "long ago": datetime(1, 1, 2, tzinfo=UTC),
    "before 1970": datetime(1901, 12, 13, 20, 45, 51, tzinfo=UTC),
    "after 2038": datetime(2106, 2, 7, 6, 28, 16, tzinfo=UTC),
    "at the end of time": datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
}


@pytest.mark.parametrize("instant", DATES.values(), ids=DATES)
def test_any_possible_date_comes_back_as_it_was(database, instant):
    add_source(database)
    dated = entry(1, published_at=instant, updated_at=instant)
    assert page(database, [dated]) == Counters(created=1)
    (found,) = stored(database)
    assert (found["published_at"], found["updated_at"]) == (instant, instant)


# ── How many statements ────────────────────────────────────────────────────────────────────────


def executed(database: Database, entries: Sequence[Entry]) -> list[str]:
    """The statements of one page, each by its first words."""
    with statements(database) as seen:
        page(database, entries)
    return [statement.split("(")[0][:24] for statement in seen]


def test_a_page_of_fifty_takes_as_many_statements_as_one_of_five(database):
    """New, edited and unchanged entries in it; and at most two look-ups."""
    sources = add_sources(database, 2)
    found = []
    for source, size in zip(sources, (5, 50), strict=True):
        kept = [entry(number) for number in range(2 * size)]
        edited = [replace(each, title="edited") for each in kept[:size]]
        new = [entry(1_000 + number) for number in range(size)]
        page(database, kept, source_id=source.id)
        with statements(database) as seen:
            counters = page(database, [*new, *edited, *kept[size:]], source_id=source.id)
        assert counters == Counters(created=size, updated=size, unchanged=size)
        found.append([statement.split()[0] for statement in seen])
    assert found[0] == found[1]
    assert found[1].count("SELECT") <= 2


def test_a_page_of_nothing_new_takes_one_look_up_and_one_write(database):
    add_source(database)
    entries = [entry(number) for number in range(50)]
    page(database, entries)
    with statements(database) as seen:
        page(database, entries)
    assert [statement.split()[0] for statement in seen] == ["SELECT", "UPDATE"]


def test_a_very_large_page_is_stored_whole(database):
    add_source(database)
    entries = [entry(number) for number in range(1_200)]
    assert page(database, entries) == Counters(created=1_200)
    assert titles(database) == [f"Title {number}" for number in range(1_200)]
    edited = [replace(each, title="edited") for each in entries]
    assert page(database, edited) == Counters(updated=1_200)
    assert set(titles(database)) == {"edited"}


# ── One bad entry ──────────────────────────────────────────────────────────────────────────────

BAD = {
    "its title": {"title": LONE_SURROGATE},
    "its guid": {"guid": LONE_SURROGATE},
    "its content": {"content": LONE_SURROGATE},
    "its summary": {"summary": LONE_SURROGATE},
    "a date without a zone": {"published_at": NOON.replace(tzinfo=None)},
}


@pytest.mark.parametrize(
    ("fields", "place"), [*zip(BAD.values(), (0, 1, 2, 3, 4), strict=True)], ids=BAD
)
def test_a_new_entry_that_cannot_be_stored_costs_itself_alone(database, fields, place):
    add_source(database)
    entries = [entry(number) for number in range(5)]
    entries[place] = entry(place, **fields)
    assert page(database, entries) == Counters(created=4, failed=1)
    assert sorted(titles(database)) == [f"Title {n}" for n in range(5) if n != place]
    assert len(rows(database, ItemContentRow)) == 4


def test_a_bad_entry_does_not_turn_the_order_of_the_others_round(database):
    add_source(database)
    page(database, [entry(4), entry(3), entry(2, title=LONE_SURROGATE), entry(1)])
    assert titles(database) == ["Title 4", "Title 3", "Title 1"]


@pytest.mark.parametrize("fields", BAD.values(), ids=BAD)
def test_an_edit_that_cannot_be_stored_costs_itself_alone(database, fields):
    add_source(database)
    page(database, [entry(number) for number in range(4)])
    if "guid" in fields:
        fields = {"comments_url": LONE_SURROGATE, "title": "edited"}
    entries = [
        entry(0, title="edited"),
        entry(1, **fields),
        entry(2, title="edited"),
        entry(3),
        entry(4),
    ]
    found = page(database, entries, now=NOON + minutes(30))
    assert found == Counters(created=1, updated=2, unchanged=1, failed=1)
    by_guid = {row["guid"]: row for row in stored(database)}
    assert {guid: row["title"] for guid, row in by_guid.items()} == {
        "guid-0": "edited",
        "guid-1": "Title 1",
        "guid-2": "edited",
        "guid-3": "Title 3",
        "guid-4": "Title 4",
    }
    assert by_guid["guid-1"]["last_seen_at"] == NOON
    assert by_guid["guid-3"]["last_seen_at"] == NOON + minutes(30)


def test_an_edit_that_could_not_be_stored_is_tried_again(database):
    add_source(database)
    page(database, [entry(1)])
    assert page(database, [entry(1, title=LONE_SURROGATE)]) == Counters(failed=1)
    assert page(database, [entry(1, title="mended")]) == Counters(updated=1)


def test_a_page_of_nothing_but_bad_entries_is_no_fault_of_ours(database):
    add_source(database)
    entries = [entry(number, title=LONE_SURROGATE) for number in range(3)]
    assert page(database, entries) == Counters(failed=3)
    assert stored(database) == []


def test_the_transaction_goes_on_after_a_bad_entry(database):
    """The poll's own state is written in a session that has seen the failure."""
    add_source(database)
    by_key = keyed([entry(1, title=LONE_SURROGATE), entry(2)])
    found = changes(by_key, {}, seen=2)
    with database.write() as session:
        assert items.write(session, OURS, found, now=NOON).failed == 1
        polls.cache_next_poll(session, OURS, NOON + minutes(30))
    assert row(database, PollStateRow)["next_poll_at"] == NOON + minutes(30)
    assert titles(database) == ["Title 2"]


def test_a_good_page_is_written_without_a_savepoint_for_each_entry(database):
    """They cost thirty times as much; only a page with a bad entry pays for them."""
    add_source(database)
    good = [entry(number) for number in range(20)]
    assert len(executed(database, good)) < 10
    assert len(executed(database, [*good, entry(99, title=LONE_SURROGATE)])) < 10
    fresh = [entry(100 + number) for number in range(20)]
    assert len(executed(database, [*fresh, entry(99, title=LONE_SURROGATE)])) > 20


BROKEN = {"an insert": "INSERT", "a touch": "UPDATE", "a look-up": "SELECT"}


@pytest.mark.parametrize("statement", BROKEN.values(), ids=BROKEN)
def test_a_fault_of_the_database_is_nobodys_entry(database, statement):
    add_source(database)
    page(database, [entry(1)])
    before = stored(database)
    with out_of_order(database, statement), pytest.raises(DatabaseUnavailable):
        page(database, [entry(2), entry(1)], now=NOON + minutes(30))
    assert stored(database) == before


def test_unknown_and_foreign_items_are_not_known(database):
    add_sources(database, 2)
    page(database, [entry(1)], source_id=2)
    page(database, [entry(2)], source_id=1)
    by_key = keyed([entry(1), entry(2), entry(3)])
    with database.read() as session:
        known = items.known(session, OURS, by_key)
        assert known == {
            key: each.content_hash for key, each in by_key.items() if each.key == "guid:guid-2"
        }
        assert items.known(session, OURS, []) == {}


def test_no_changes_write_nothing(database):
    add_source(database)
    nothing = Changes(created=(), updated=(), unchanged=(), duplicate=0)
    with statements(database) as seen, database.write() as session:
        assert items.write(session, OURS, nothing, now=NOON) == Counters()
    assert seen == []
