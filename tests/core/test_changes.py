"""Each entry of a page is counted once: created, updated, unchanged or a duplicate."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core.changes import Counters, changes, keyed
from sourcemon.core.entries import Entry, content_hash, identity, identity_hash


def entry(guid: str, title: str = "a title") -> Entry:
    return Entry(guid=guid, title=title)


def key_of(each: Entry) -> str:
    return identity_hash(identity(each))


def known_as(*entries: Entry) -> dict[str, str]:
    return {key_of(each): content_hash(each) for each in entries}


def changed(page, known):
    return changes(keyed(page), known, seen=len(page))


A, B = entry("a"), entry("b")
EDITED = entry("a", "another title")

PAGES = {
    "an empty page": ([], {}, Counters()),
    "an empty page of a known source": ([], known_as(A), Counters()),
    "a new entry": ([A], {}, Counters(created=1)),
    "a known entry": ([A], known_as(A), Counters(unchanged=1)),
    "an edited entry": ([EDITED], known_as(A), Counters(updated=1)),
    "an entry that is listed no more is not counted": (
        [A],
        known_as(A, B),
        Counters(unchanged=1),
    ),
    "a new one beside a known one": ([A, B], known_as(B), Counters(created=1, unchanged=1)),
    "a new one twice": ([A, A], {}, Counters(created=1, duplicate=1)),
    "a known one twice": ([A, A], known_as(A), Counters(unchanged=1, duplicate=1)),
    "a new one twice, the second time edited": (
        [A, EDITED],
        {},
        Counters(created=1, duplicate=1),
    ),
    "a known one, then edited": ([A, EDITED], known_as(A), Counters(updated=1, duplicate=1)),
    "edited, then as it was": ([EDITED, A], known_as(A), Counters(unchanged=1, duplicate=1)),
    "four times the same": ([A] * 4, {}, Counters(created=1, duplicate=3)),
}


@pytest.mark.parametrize("page, known, expected", PAGES.values(), ids=PAGES)
def test_counters_of_a_page(page, known, expected):
    assert changed(page, known).counters() == expected


def test_of_a_repeated_identity_the_last_entry_counts():
    (created,) = changed([A, B, EDITED], known_as(B)).created
    assert created.entry == EDITED
    assert created.content_hash == content_hash(EDITED)


def test_a_change_carries_the_identity_it_is_known_by():
    (updated,) = changed([EDITED], known_as(A)).updated
    assert updated.key == "guid:a"
    assert updated.key_hash == key_of(A)


def test_unchanged_items_are_named_by_key_hash():
    assert changed([A, B], known_as(A, B)).unchanged == (key_of(A), key_of(B))


def test_the_publishers_order_is_kept():
    page = [entry(guid) for guid in "zaymb"]
    assert [c.entry.guid for c in changed(page, {}).created] == list("zaymb")


entries = st.builds(entry, st.sampled_from("abcdef"), st.sampled_from(["one", "two"]))


@given(page=st.lists(entries, max_size=12), earlier=st.lists(entries, max_size=6))
def test_counters_add_up(page, earlier):
    counters = changed(page, known_as(*earlier)).counters()
    assert counters.entries_seen == len(page)
    assert counters.duplicate == len(page) - len({e.guid for e in page})


@given(page=st.lists(entries, max_size=12), earlier=st.lists(entries, max_size=6))
def test_a_page_seen_again_changes_nothing(page, earlier):
    known = known_as(*earlier)
    first = changed(page, known)
    for change in (*first.created, *first.updated):
        known[change.key_hash] = change.content_hash
    again = changed(page, known)
    assert (again.created, again.updated) == ((), ())


@given(page=st.lists(entries, max_size=12), earlier=st.lists(entries, max_size=6))
def test_each_key_stands_in_one_of_the_three(page, earlier):
    found = changed(page, known_as(*earlier))
    keys = [
        *(c.key_hash for c in found.created),
        *(c.key_hash for c in found.updated),
        *found.unchanged,
    ]
    assert sorted(keys) == sorted(keyed(page))


counts = st.builds(Counters, **{f.name: st.integers(0, 1000) for f in fields(Counters)})


@given(counts, counts)
def test_counters_of_two_pages_add_up_name_by_name(one, other):
    total = one + other
    assert total.entries_seen == one.entries_seen + other.entries_seen
    for field in fields(Counters):
        assert getattr(total, field.name) == getattr(one, field.name) + getattr(other, field.name)


def test_entries_seen_counts_every_counter():
    assert Counters(**{f.name: 1 for f in fields(Counters)}).entries_seen == 7
