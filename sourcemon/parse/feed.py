"""A feed's bytes to a page: RSS 0.9x, 1.0 and 2.0, Atom 0.3 and 1.0."""

from __future__ import annotations

from sourcemon.core.entries import Page, Unreadability, Unreadable
from sourcemon.parse.adjusted_parsers import MOST_ENTRIES
from sourcemon.parse.appearance import appearance
from sourcemon.parse.document import BLANK, FEED_ELEMENTS, Document, prepared
from sourcemon.parse.encoding import decoded
from sourcemon.parse.feed_entries import entry_of, title_of
from sourcemon.parse.feedparser_seam import Crash, RawFeed, read_document
from sourcemon.parse.texts import LONGEST_NAME, text


def read_feed(
    body: bytes, *, url: str, content_type: str | None, content_language: str | None = None
) -> Page | Unreadable:
    """The page in ``body``, whatever the bytes are; nothing is raised, fetched or opened.

    ``url`` is where the document was fetched from in the end: relative URLs are resolved against
    it, unless ``xml:base`` or the link of an RSS channel stands nearer. Of ``content_type`` only
    its charset counts, and not against what the bytes say. ``content_language`` is the language of
    a feed that names none.

    A feed without entries is a page. A document that is not well-formed is a page with
    ``degraded`` set as long as it has entries, else it is malformed. Of a torn one the entries
    before the tear are kept, and not the one that the tear goes through.
    """
    source = decoded(body, content_type=content_type)
    if not source.text.strip(BLANK):
        return Unreadable(Unreadability.EMPTY_BODY, "the body is empty")
    document = prepared(source.text)
    may_be_feed = document.root in FEED_ELEMENTS
    raw = read_document(document.xml, base_url=url) if may_be_feed else None
    if isinstance(raw, Crash):
        return Unreadable(Unreadability.MALFORMED, f"the feed cannot be read: {raw.text}")
    if raw is None or not (raw.version or raw.entries):
        looks = appearance(source.text, root=document.root)
        return Unreadable(Unreadability.NOT_A_FEED, f"the body looks like {looks}, not like a feed")
    return _page(raw, document, url=url, language=content_language, stray=source.fault)


def _page(
    raw: RawFeed, document: Document, *, url: str, language: str | None, stray: str | None
) -> Page | Unreadable:
    """The page that feedparser found in a document."""
    if not raw.entries and (document.torn or raw.fault):
        reason = "it breaks off before its first whole entry" if document.torn else raw.fault
        return Unreadable(Unreadability.MALFORMED, f"the feed cannot be read: {reason}")
    own = text(raw.feed.get("language"), longest=LONGEST_NAME)
    assumed = own or text((language or "").partition(",")[0], longest=LONGEST_NAME)
    return Page(
        entries=tuple(entry_of(each, feed=raw, url=url, language=assumed) for each in raw.entries),
        title=title_of(raw.feed, feed=raw),
        is_whole=raw.is_whole and not document.torn,
        degraded=_degraded(raw, document, stray=stray),
    )


def _degraded(raw: RawFeed, document: Document, *, stray: str | None) -> str | None:
    """Everything that is wrong with the document, the worst first."""
    faults = [
        "it breaks off after its last whole entry" if document.torn else "",
        raw.fault or "",
        "" if raw.is_whole else f"only its first {MOST_ENTRIES} entries are read",
        *document.faults,
        stray or "",
    ]
    return "; ".join(fault for fault in faults if fault) or None
