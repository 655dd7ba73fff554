"""Runs feedparser: a document in, plain mappings out.

``feedparser.parse`` itself is not called. It opens the URLs and files that a text names, guesses
encodings with whatever detector is installed, and takes half a date for one of today. Its two
parsers are run here on a text that is decoded and free of DTDs already.
"""

from __future__ import annotations

import xml.sax.handler
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar
from xml.sax import SAXException

from sourcemon.core.entries import storable
from sourcemon.parse.adjusted_parsers import Adjusted, Enough, Expat, Loose, Strict, TooMuch

_LONGEST_FAULT = 200
_Parser = TypeVar("_Parser", bound="Adjusted")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFeed:
    """What feedparser found, under its own keys; a feed can put any type of value under any key."""

    version: str
    """``"rss20"``, ``"atom10"`` …; ``""`` when no kind of feed was recognised."""
    feed: Mapping[str, object]
    entries: Sequence[Mapping[str, object]]
    is_whole: bool
    """Whether there are no entries after these."""
    fault: str | None
    """Why the document could not be read as it should, else ``None``."""

    @property
    def is_atom(self) -> bool:
        """It is Atom of any version, not RSS or RDF."""
        return self.version.startswith("atom")


@dataclass(frozen=True, slots=True)
class Crash:
    """feedparser cannot read the document at all; the text says why."""

    text: str


def read_document(document: str, *, base_url: str) -> RawFeed | Crash:
    """The feed in ``document``, read strictly, or loosely where it is not well-formed.

    Nothing is opened or asked of the system. Relative URLs in links and in HTML become absolute;
    where feedparser fails on a piece of HTML, all HTML stays as sent. HTML is not sanitized.
    ``document`` must be free of DTDs (:func:`sourcemon.parse.references.without_doctype`).
    """
    fault = None
    for resolve in (True, False):
        try:
            found = _read(document, base_url, resolve=resolve)
        except TooMuch as problem:
            return Crash(str(problem))
        except Exception as problem:  # noqa: BLE001 - feedparser raises anything: KeyError, ValueError …
            fault = storable(
                f"feedparser raises {type(problem).__name__}: {problem}"[:_LONGEST_FAULT]
            )
        else:
            return replace(found, fault=found.fault or fault)
    return Crash(str(fault))


def _read(document: str, base_url: str, *, resolve: bool) -> RawFeed:
    """As :func:`read_document`.

    Raises:
        Exception: any, from within feedparser.
    """
    strict = _prepared(Strict(base_url, None, "utf-8"), base_url, resolve=resolve)
    try:
        is_whole = _to_the_end(partial(_feed_expat, document, strict))
    except SAXException as problem:
        fault = f"it is not well-formed: {problem.getMessage()}"
        loose = _prepared(Loose(base_url, None, "utf-8", {}), base_url, resolve=resolve)
        is_whole = _to_the_end(partial(loose.feed, document))
        return _raw_feed(loose, is_whole=is_whole, fault=fault)
    return _raw_feed(strict, is_whole=is_whole, fault=None)


def _to_the_end(parse: Callable[[], None]) -> bool:
    """Whether ``parse`` came to the end of the document before it had read enough."""
    try:
        parse()
    except Enough:
        return False
    return True


def _prepared(parser: _Parser, base_url: str, *, resolve: bool) -> _Parser:
    """``parser`` with what ``feedparser.parse`` would set from its arguments."""
    parser.resolve_relative_uris = resolve
    parser.sanitize_html = False
    parser.document_base = base_url
    return parser


def _feed_expat(document: str, handler: Strict) -> None:
    """Run ``document`` through expat, which fetches nothing, into ``handler``.

    Raises:
        SAXException: the document is not well-formed.
    """
    reader = Expat()
    reader.setFeature(xml.sax.handler.feature_namespaces, 1)
    reader.setContentHandler(handler)
    reader.setErrorHandler(handler)
    reader.feed(document)
    reader.close()


def _raw_feed(parser: Adjusted, *, is_whole: bool, fault: str | None) -> RawFeed:
    """What ``parser`` gathered, as dicts without feedparser's aliases between keys."""
    return RawFeed(
        version=parser.version,
        feed=dict(parser.feeddata),
        entries=[dict(entry) for entry in parser.entries],
        is_whole=is_whole,
        fault=fault,
    )
