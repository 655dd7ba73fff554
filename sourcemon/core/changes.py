"""Which entries of a page are new, edited or known already?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from sourcemon.core.entries import Entry, content_hash, identity, identity_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """How many entries of a walk came to what; every entry is counted exactly once."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicate: int = 0
    quarantined: int = 0
    ignored: int = 0
    failed: int = 0

    @property
    def entries_seen(self) -> int:
        """The sum of all counters."""
        return sum(getattr(self, field.name) for field in fields(self))

    def __add__(self, other: Counters) -> Counters:
        return Counters(
            **{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry to be written, with the hashes by which it is known from now on."""

    key: str
    key_hash: str
    content_hash: str
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a page does to the items of its source; each key hash stands in one of the three."""

    created: tuple[Change, ...]
    updated: tuple[Change, ...]
    unchanged: tuple[str, ...]
    """Key hashes of items that are listed again as they were."""
    duplicate: int
    """Entries that repeat an identity inside the page; the last of them is the one that counts."""

    def counters(self) -> Counters:
        """The counters of a page of which everything could be written."""
        return Counters(
            created=len(self.created),
            updated=len(self.updated),
            unchanged=len(self.unchanged),
            duplicate=self.duplicate,
        )


def keyed(entries: Sequence[Entry]) -> dict[str, Change]:
    """The entries by key hash, in their order; a repeated identity keeps its last entry."""
    found: dict[str, Change] = {}
    for entry in entries:
        key = identity(entry)
        hashed = identity_hash(key)
        found[hashed] = Change(
            key=key, key_hash=hashed, content_hash=content_hash(entry), entry=entry
        )
    return found


def changes(by_key: Mapping[str, Change], known: Mapping[str, str], *, seen: int) -> Changes:
    """What a page of ``seen`` entries changes, given the content hash of every known item.

    ``by_key`` is what :func:`keyed` made of the entries; ``known`` has the same keys.
    """
    return Changes(
        created=tuple(c for h, c in by_key.items() if h not in known),
        updated=tuple(
            c for h, c in by_key.items() if known.get(h, c.content_hash) != c.content_hash
        ),
        unchanged=tuple(h for h, c in by_key.items() if known.get(h) == c.content_hash),
        duplicate=seen - len(by_key),
    )
