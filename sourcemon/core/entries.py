"""An entry as its publisher sent it: the value, its identity, and what of it a reader sees."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sourcemon.core.urls import comparable_url


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """A file that belongs to an entry; ``length`` in bytes, ``duration`` as it was written."""

    url: str
    type: str | None = None
    length: int | None = None
    duration: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a page. Texts are as sent (HTML included) and storable (:func:`storable`).

    Links are absolute http(s) URLs; instants are aware UTC, and ``None`` where the publisher's
    text names no possible instant.
    """

    guid: str | None = None
    url: str | None = None
    title: str | None = None
    author: str | None = None
    published_at: datetime | None = None
    updated_at: datetime | None = None
    summary: str | None = None
    content: str | None = None
    categories: tuple[str, ...] = ()
    enclosures: tuple[Enclosure, ...] = ()
    image: str | None = None
    language: str | None = None
    comments_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page decoded into entries, in the publisher's order; possibly none."""

    entries: tuple[Entry, ...]
    title: str | None = None
    """The feed's own title."""
    is_whole: bool = True
    """Whether the document held no further entries: it was neither torn nor cut off by us."""
    degraded: str | None = None
    """Why the document is faulty (torn, not well-formed) though entries could be read."""


class Unreadability(StrEnum):
    """Why a body is no page of its kind."""

    EMPTY_BODY = "empty_body"
    NOT_A_FEED = "not_a_feed"
    MALFORMED = "malformed"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A body that is no page of its kind; the message says what it looks like instead."""

    reason: Unreadability
    message: str


def storable(text: str) -> str:
    """``text`` as both databases can hold it: without NUL, lone surrogates replaced by U+FFFD."""
    without_nul = text.replace("\x00", "")
    return without_nul.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def identity(entry: Entry) -> str:
    """What makes two entries the same item: the guid, else the link, else the content.

    A guid counts case-sensitively and trimmed; blank is none, ``"0"`` is one. A link counts
    without scheme, default port and tracking parameters; its fragment counts, since the entries
    of a changelog may all point to one page. The prefix keeps a guid that looks like a link apart
    from that link.
    """
    guid = (entry.guid or "").strip()
    if guid:
        return f"guid:{guid}"
    if entry.url:
        return f"link:{comparable_url(entry.url)}{_fragment(entry.url)}"
    return f"hash:{_sha256([entry.title, entry.url, entry.content or entry.summary])}"


def _fragment(url: str) -> str:
    """The fragment of a link with its hash, empty where there is none."""
    _, mark, fragment = url.partition("#")
    return f"{mark}{fragment}" if fragment else ""


def identity_hash(key: str) -> str:
    """The 64 hex digits under which an identity is stored and looked up, whatever its length."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def content_hash(entry: Entry) -> str:
    """A hash over what a reader sees: title, link, text, enclosures and dates.

    Two entries of the same identity and the same hash are the same item unchanged; a moved
    category or a new author is no update.
    """
    return _sha256(
        [
            entry.title,
            entry.url,
            entry.content,
            entry.summary,
            [[e.url, e.type, e.length, e.duration] for e in entry.enclosures],
            entry.published_at.isoformat() if entry.published_at else None,
            entry.updated_at.isoformat() if entry.updated_at else None,
        ]
    )


def _sha256(value: object) -> str:
    """The hash of a JSON value in canonical form: compact, sorted keys, ASCII escapes."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
