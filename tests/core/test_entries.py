"""What makes two entries the same item, what makes one edited, and what text can be stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core.entries import (
    Enclosure,
    Entry,
    content_hash,
    identity,
    identity_hash,
    storable,
)
from tests.core.handmade import NOW

LINK = "https://gazette.test/1"
IDENTITY = {
    "the guid comes first": (Entry(guid="1", url=LINK, title="t"), "guid:1"),
    "a guid is trimmed": (Entry(guid=" \n1\t"), "guid:1"),
    "a guid counts by case": (Entry(guid="aB"), "guid:aB"),
    "a guid of zero is one": (Entry(guid="0", url=LINK), "guid:0"),
    "a guid that is a link stays a guid": (Entry(guid=LINK, url=LINK), f"guid:{LINK}"),
    "a blank guid is none": (Entry(guid=" \t\n", url=LINK), "link://gazette.test/1"),
    "an empty guid is none": (Entry(guid="", url=LINK), "link://gazette.test/1"),
    "without a guid the link": (Entry(url=LINK, title="t"), "link://gazette.test/1"),
}


@pytest.mark.parametrize("entry, expected", IDENTITY.values(), ids=IDENTITY)
def test_identity(entry, expected):
    assert identity(entry) == expected


SAME = {
    "links over http and https": (Entry(url="http://a.test/1"), Entry(url="https://a.test/1")),
    "links with and without tracking": (
        Entry(url="https://a.test/1?utm_source=rss&id=3"),
        Entry(url="https://a.test/1?id=3"),
    ),
    "a guid under another link": (Entry(guid="1", url=LINK), Entry(guid="1", url=LINK + "0")),
    "a link under another title": (Entry(url=LINK, title="a"), Entry(url=LINK, title="b")),
    "neither guid nor link, the same content": (
        Entry(title="t", content="c", author="one"),
        Entry(title="t", content="c", author="another"),
    ),
    "nothing at all": (Entry(), Entry()),
}
DIFFERENT = {
    "anchors on one page, as a changelog has": (
        Entry(url="https://a.test/changes#1.0"),
        Entry(url="https://a.test/changes#1.1"),
    ),
    "links with and without a fragment": (
        Entry(url="https://a.test/1#top"),
        Entry(url="https://a.test/1"),
    ),
    "guids by case": (Entry(guid="a"), Entry(guid="A")),
    "guids over http and https": (Entry(guid="http://a.test/1"), Entry(guid="https://a.test/1")),
    "a guid and the link it looks like": (
        Entry(guid="//gazette.test/1"),
        Entry(url=LINK),
    ),
    "links by their query": (Entry(url=LINK + "?id=1"), Entry(url=LINK + "?id=2")),
    "links by a query in Latin-1": (Entry(url=LINK + "?q=%E4"), Entry(url=LINK + "?q=%F6")),
    "titles": (Entry(title="a"), Entry(title="b")),
    "contents": (Entry(title="a", content="1"), Entry(title="a", content="2")),
    "summaries": (Entry(title="a", summary="1"), Entry(title="a", summary="2")),
}


@pytest.mark.parametrize("one, other", SAME.values(), ids=SAME)
def test_the_same_item(one, other):
    assert identity(one) == identity(other)


@pytest.mark.parametrize("one, other", DIFFERENT.values(), ids=DIFFERENT)
def test_different_items(one, other):
    assert identity(one) != identity(other)


def test_an_identity_is_stored_under_64_hex_digits():
    assert len(identity_hash("guid:" + "x" * 100_000)) == 64
    assert int(identity_hash(""), 16) > 0


@given(st.text(), st.text())
def test_identities_differ_where_their_hashes_do(one, other):
    assert (identity_hash(one) == identity_hash(other)) is (one == other)


FULL = Entry(
    guid="1",
    url=LINK,
    title="a title",
    author="somebody",
    published_at=NOW,
    updated_at=NOW,
    summary="in short",
    content="<p>at length</p>",
    categories=("news",),
    enclosures=(Enclosure(url=f"{LINK}.mp3", type="audio/mpeg", length=7, duration="1:00"),),
    image=f"{LINK}.png",
    language="en",
    comments_url=f"{LINK}#comments",
)
LATER = NOW + timedelta(seconds=1)
NOTICED = {
    "title": {"title": "another title"},
    "no title": {"title": None},
    "link": {"url": f"{LINK}/b"},
    "content": {"content": "<p>at more length</p>"},
    "summary": {"summary": "shorter"},
    "published": {"published_at": LATER},
    "published no more": {"published_at": None},
    "updated": {"updated_at": LATER},
    "enclosure gone": {"enclosures": ()},
    "enclosure at another URL": {"enclosures": (replace(FULL.enclosures[0], url=LINK),)},
    "enclosure of another type": {"enclosures": (replace(FULL.enclosures[0], type="audio/ogg"),)},
    "enclosure of another length": {"enclosures": (replace(FULL.enclosures[0], length=8),)},
    "enclosure of another duration": {
        "enclosures": (replace(FULL.enclosures[0], duration="2:00"),)
    },
    "one more enclosure": {"enclosures": FULL.enclosures * 2},
}
IGNORED = {
    "author": {"author": "somebody else"},
    "categories": {"categories": ("news", "more")},
    "guid": {"guid": "2"},
    "image": {"image": None},
    "language": {"language": "de"},
    "comments": {"comments_url": None},
}


@pytest.mark.parametrize("edit", NOTICED.values(), ids=NOTICED)
def test_content_hash_notices_what_a_reader_sees(edit):
    assert content_hash(replace(FULL, **edit)) != content_hash(FULL)


@pytest.mark.parametrize("edit", IGNORED.values(), ids=IGNORED)
def test_content_hash_ignores_the_rest(edit):
    assert content_hash(replace(FULL, **edit)) == content_hash(FULL)


def test_a_text_that_moves_to_another_field_is_noticed():
    assert content_hash(Entry(title="a")) != content_hash(Entry(content="a"))
    assert content_hash(Entry(content="a")) != content_hash(Entry(summary="a"))


def test_hashes_are_for_good():
    """Stored hashes must survive releases: an accidental change would edit every item at once."""
    assert content_hash(Entry(title="a title", url=LINK)) == (
        "062d5fe583de4c9815f2fcc9336daecb4174a769ce3e668a19b665d0dea9f3fc"
    )
    assert identity(Entry(title="a title", content="c")) == (
        "hash:a4958a74f5d1a40330de33cee53584319abd8da39e5650a1600d6f2736cb34f8"
    )


STORABLE = {
    "plain": ("plain", "plain"),
    "nothing": ("", ""),
    "NUL is taken out": ("a\x00b\x00", "ab"),
    "a lone high surrogate": ("a\ud83db", "a\ufffdb"),
    "a lone low surrogate": ("a\ude00b", "a\ufffdb"),
    "a lone surrogate at the end": ("a\ud83d", "a\ufffd"),
    "surrogates the wrong way round": ("\ude00\ud83d", "\ufffd\ufffd"),
    "a pair is its character": ("\ud83d\ude00", "\N{GRINNING FACE}"),
    "a pair parted by NUL is its character": ("\ud83d\x00\ude00", "\N{GRINNING FACE}"),
    "a character outside the plane": ("\N{GRINNING FACE}", "\N{GRINNING FACE}"),
    "a byte order mark in front": ("\ufeffa", "\ufeffa"),
    "a reversed byte order mark in front": ("\ufffea", "\ufffea"),
    "other control characters stay": ("a\x01\x1f\x7f\x85b", "a\x01\x1f\x7f\x85b"),
}


@pytest.mark.parametrize("text, expected", STORABLE.values(), ids=STORABLE)
def test_storable(text, expected):
    assert storable(text) == expected


any_text = st.text(st.characters() | st.characters(categories=["Cs"]) | st.just("\x00"))


@given(any_text)
def test_storable_text_can_be_stored_and_stays_as_it_is(text):
    once = storable(text)
    assert "\x00" not in once
    assert once.encode("utf-8").decode("utf-8") == once
    assert storable(once) == once


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_text_that_can_be_stored_is_not_touched(text):
    assert storable(text) == text


@given(st.builds(Entry, guid=any_text, title=any_text, content=any_text, url=st.text()))
def test_no_text_makes_identity_or_hash_raise(entry):
    assert len(content_hash(entry)) == 64
    assert len(identity_hash(identity(entry))) == 64
