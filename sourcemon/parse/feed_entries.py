"""feedparser's mapping of an entry to our value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from sourcemon.core.entries import Enclosure, Entry
from sourcemon.parse.adjusted_parsers import BASE, IS_PERMALINK, LANGUAGE, MOST_PARTS
from sourcemon.parse.dates import instant
from sourcemon.parse.feedparser_seam import RawFeed
from sourcemon.parse.links import absolute_url
from sourcemon.parse.texts import LONGEST_HTML, LONGEST_NAME, LONGEST_TITLE, plain, text

_LARGEST_LENGTH = 2**63 - 1
_ADDRESS_FIRST = re.compile(r"[^\s@]+@\S+ \((.+)\)")
_ADDRESS_LAST = re.compile(r"([^<]*[^<\s]) ?<[^<>@]+@[^<>]+>")

Raw = Mapping[str, object]


def entry_of(raw: Raw, *, feed: RawFeed, url: str, language: str | None) -> Entry:
    """The entry that ``raw`` describes.

    Texts are cut, titles after 10 000 characters and HTML after a million; a guid never is.
    ``url`` is the document's own; ``language`` is the one of an entry that names none.
    """
    base = text(raw.get(BASE), longest=LONGEST_TITLE) or url
    return Entry(
        guid=text(raw.get("id"), longest=None),
        url=_link(raw, base),
        title=title_of(raw, feed=feed),
        author=_author(raw) or (_author(feed.feed) if feed.is_atom else None),
        published_at=_published_at(raw, feed=feed),
        updated_at=_updated_at(raw, feed=feed),
        summary=_summary(raw),
        content=_content(raw),
        categories=_categories(raw),
        enclosures=_enclosures(raw, base),
        image=_image(raw, base),
        language=_language(raw) or language,
        comments_url=absolute_url(raw.get("comments"), base=base) or _linked(raw, base, "replies"),
    )


def title_of(raw: Raw, *, feed: RawFeed) -> str | None:
    """The title of a feed or an entry as plain text; only Atom says whether it is markup."""
    kind = _mapping(raw.get("title_detail")).get("type")
    markup = feed.is_atom and kind in ("text/html", "application/xhtml+xml")
    return plain(raw.get("title"), longest=LONGEST_TITLE, markup=markup)


def _link(raw: Raw, base: str) -> str | None:
    """Where to read the entry: its alternate link, a guid that is an address, or its own address.

    A guid counts unless it is marked as no permalink; "17" is not an address, whatever the mark.
    """
    permalink = str(raw.get("id") or "") if raw.get(IS_PERMALINK) else ""
    return (
        _linked(raw, base, "alternate", kind="html")
        or _linked(raw, base, "alternate")
        or absolute_url(permalink, base=base if permalink.startswith("/") else "")
        or _linked(raw, base, "self")
    )


def _linked(raw: Raw, base: str, relation: str, *, kind: str = "") -> str | None:
    """The first usable URL linked to by ``relation`` and a media type with ``kind`` in it."""
    urls = (
        absolute_url(link.get("href"), base=base)
        for link in _mappings(raw.get("links"))
        if link.get("rel") == relation and kind in str(link.get("type"))
    )
    return next((url for url in urls if url), None)


def _author(raw: Raw) -> str | None:
    """The names of all authors, or their e-mail addresses where they have no name."""
    names = (
        _name(author.get("name") or author.get("email")) for author in _mappings(raw.get("authors"))
    )
    found = ", ".join(dict.fromkeys(name for name in names if name))
    return text(found, longest=LONGEST_NAME)


def _name(author: object) -> str | None:
    """The name in "address (name)", which RSS asks for, or in "name <address>"."""
    found = plain(author, longest=LONGEST_NAME)
    named = _ADDRESS_FIRST.fullmatch(found or "") or _ADDRESS_LAST.fullmatch(found or "")
    return named[1] if named else found


def _published_at(raw: Raw, *, feed: RawFeed) -> datetime | None:
    """When the entry came out. In RSS ``dc:date`` tells it where ``pubDate`` does not."""
    named = instant(raw.get("published"))
    return named or (None if feed.is_atom else instant(raw.get("dc_date")))


def _updated_at(raw: Raw, *, feed: RawFeed) -> datetime | None:
    """When the entry was last changed, if that is said at all."""
    return instant(raw.get("updated")) or (instant(raw.get("dc_date")) if feed.is_atom else None)


def _summary(raw: Raw) -> str | None:
    """The description or summary; a copy of the content that feedparser put there is none."""
    own = raw.get("summary") if raw.get("summary_detail") else None
    texts = (own, raw.get("itunes_summary"), raw.get("media_description"))
    return next((found for each in texts if (found := text(each, longest=LONGEST_HTML))), None)


def _content(raw: Raw) -> str | None:
    """The first content that is text; what is linked or encoded is not fetched or decoded."""
    texts = (
        text(content.get("value"), longest=LONGEST_HTML)
        for content in _mappings(raw.get("content"))
        if _is_text(str(content.get("type")))
    )
    return next((found for found in texts if found), None)


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text") or media_type.endswith(("html", "xml"))


def _categories(raw: Raw) -> tuple[str, ...]:
    """The terms in the publisher's order, each once."""
    tags = _mappings(raw.get("tags"))
    terms = (plain(tag.get("term") or tag.get("label"), longest=LONGEST_NAME) for tag in tags)
    return tuple(dict.fromkeys(term for term in terms if term))[:MOST_PARTS]


def _enclosures(raw: Raw, base: str) -> tuple[Enclosure, ...]:
    """The files that belong to the entry; the first one has the duration, which is the entry's."""
    duration = text(raw.get("itunes_duration"), longest=LONGEST_NAME)
    found: list[Enclosure] = []
    for link in _mappings(raw.get("links")):
        url = absolute_url(link.get("href"), base=base)
        if link.get("rel") == "enclosure" and url and len(found) < MOST_PARTS:
            found.append(
                Enclosure(
                    url=url,
                    type=text(link.get("type"), longest=LONGEST_NAME),
                    length=_length(link.get("length")),
                    duration=None if found else duration,
                )
            )
    return tuple(found)


def _length(value: object) -> int | None:
    """The number of bytes in an attribute; ``None`` for anything but a plain number."""
    digits = value.strip() if isinstance(value, str) else ""
    if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(_LARGEST_LENGTH))):
        return None
    return int(digits) if int(digits) <= _LARGEST_LENGTH else None


def _image(raw: Raw, base: str) -> str | None:
    """The picture that stands for the entry: thumbnail, podcast cover, or media content."""
    candidates = (
        *(thumbnail.get("url") for thumbnail in _mappings(raw.get("media_thumbnail"))),
        _mapping(raw.get("image")).get("href"),
        *(media.get("url") for media in _mappings(raw.get("media_content")) if _is_image(media)),
    )
    return next((url for each in candidates if (url := absolute_url(each, base=base))), None)


def _is_image(media: Raw) -> bool:
    return media.get("medium") == "image" or str(media.get("type")).startswith("image/")


def _language(raw: Raw) -> str | None:
    """The language that the entry itself names."""
    return text(raw.get("language"), longest=LONGEST_NAME) or text(
        raw.get(LANGUAGE), longest=LONGEST_NAME
    )


def _mapping(value: object) -> Raw:
    """``value`` if it is a mapping, without feedparser's aliases between keys; else nothing."""
    return dict(value) if isinstance(value, dict) else {}


def _mappings(value: object) -> Iterator[Raw]:
    """The mappings in ``value`` if it is a list, as :func:`_mapping`; else none."""
    values = value if isinstance(value, list) else []
    return (dict(each) for each in values if isinstance(each, dict))
