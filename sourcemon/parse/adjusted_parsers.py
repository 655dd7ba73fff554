"""feedparser's two parsers, with what they do differently here, and the limits of what they read.

They alone, and :mod:`sourcemon.parse.feedparser_seam` which runs them, know feedparser.
"""

from __future__ import annotations

import html
from xml.sax import expatreader
from xml.sax.xmlreader import AttributesNSImpl

from feedparser.api import LooseFeedParser, StrictFeedParser
from feedparser.mixin import _FeedParserMixin

from sourcemon.core.urls import MAX_URL_LENGTH

BASE = "sourcemon_base"
"""Key of an entry: the URL that its relative URLs are relative to."""
LANGUAGE = "sourcemon_language"
"""Key of an entry: the language that ``xml:lang`` gives it."""
IS_PERMALINK = "sourcemon_is_permalink"
"""Key of an entry: its id may serve as its link."""

MOST_ENTRIES = 10_000
"""As many entries of one document are read, from its beginning."""
MOST_ELEMENTS = 300_000
"""As many elements may a document have: thirty for each of the most entries."""
DEEPEST = 10_000
"""As deep may elements nest; where HTML is not escaped, every <br> that nobody closes counts."""
MOST_PARTS = 200
"""As many attributes may an element have, and namespaces a feed; more categories are left out.

feedparser's time and memory grow with the square of these, of a text's lines and of the depth.
"""


class TooMuch(Exception):
    """The document is built to be expensive."""


class Enough(Exception):
    """All entries that are read of one document have been read."""


class Expat(expatreader.ExpatParser):
    """Reports a text in one piece, not line by line: feedparser's time grows with its square."""

    def reset(self) -> None:
        """Begin a new document."""
        super().reset()
        self._parser.buffer_text = True  # type: ignore[attr-defined] # typeshed leaves it out


class Adjusted(_FeedParserMixin):  # type: ignore[misc] # its base is untyped
    """What both parsers do differently here; handlers are found by the names of elements."""

    # A guid is an identity and stays as sent, wherever the feed was fetched from.
    can_be_relative_uri = _FeedParserMixin.can_be_relative_uri - {"id"}

    elements = 0

    def unknown_starttag(self, tag: str, attrs: list[tuple[str, str]]) -> None:
        """Begin any element.

        Raises:
            TooMuch: it is one too many, lies too deep, has too many attributes or too long a base.
        """
        self.elements += 1
        _refuse_more(self.elements, MOST_ELEMENTS, "elements")
        _refuse_more(len(attrs), MOST_PARTS, "attributes of an element")
        _refuse_more(self.depth, DEEPEST, "elements inside each other")
        super().unknown_starttag(tag, attrs)
        _refuse_more(len(self.baseuri), MAX_URL_LENGTH, "characters in a base URL")

    def track_namespace(self, prefix: str | None, uri: str) -> None:
        """Note a namespace.

        Raises:
            TooMuch: it is one too many.
        """
        super().track_namespace(prefix, uri)
        _refuse_more(len(self.namespaces_in_use), MOST_PARTS, "namespaces")

    def _add_tag(self, term: str | None, scheme: str | None, label: str | None) -> None:
        if len(self._get_context().get("tags", ())) < MOST_PARTS:
            super()._add_tag(term, scheme, label)

    def _start_item(self, attrs_d: dict[str, str]) -> None:
        if len(self.entries) == MOST_ENTRIES:
            raise Enough
        super()._start_item(attrs_d)
        self.entries[-1][BASE] = self.baseuri
        self.entries[-1][LANGUAGE] = self.lang
        self.entries[-1][IS_PERMALINK] = "id" in self.entries[-1]  # from rdf:about, an address

    _start_entry = _start_item

    def _end_guid(self) -> None:
        super()._end_guid()
        self._get_context()[IS_PERMALINK] = bool(self.guidislink)

    _end_id = _end_guid

    def _end_link(self) -> None:
        super()._end_link()
        inner = self.inentry or self.insource or self.inimage or self.intextinput
        link = self.feeddata.get("link")
        if link and not inner and not self.version.startswith("atom"):
            self._rebase(link)

    def _rebase(self, link: str) -> None:
        """Make a channel's link the base of what follows, except where ``xml:base`` named one."""
        if len(link) <= MAX_URL_LENGTH:
            old = self.document_base
            self.basestack[:] = [link if base == old else base for base in self.basestack]

    def _start_dc_date(self, attrs_d: dict[str, str]) -> None:
        # feedparser takes it for the date of the last change; in RSS it is the only date there is.
        self.push("dc_date", 1)

    def _end_dc_date(self) -> None:
        self.pop("dc_date")

    def _start_itunes_summary(self, attrs_d: dict[str, str]) -> None:
        # feedparser makes the second of several descriptions the content, whichever it is.
        self.push_content("itunes_summary", attrs_d, "text/plain", 1)

    def _end_itunes_summary(self) -> None:
        self.pop_content("itunes_summary")

    def _start_media_description(self, attrs_d: dict[str, str]) -> None:
        self.push_content("media_description", attrs_d, "text/plain", 1)

    def _end_media_description(self) -> None:
        self.pop_content("media_description")

    def _sync_author_detail(self, key: str = "author") -> None:
        # feedparser searches the text for an e-mail address, in time that grows with the square
        # of its length, and takes ".indu" for a top-level domain.
        authors = self._get_context().get(f"{key}s")
        if authors and not authors[-1]:
            authors[-1]["name"] = self._get_context().get(key)


class Strict(Adjusted, StrictFeedParser):  # type: ignore[misc] # its base is untyped
    """For well-formed documents: events from expat, names by namespace."""

    def startElementNS(  # noqa: N802 - the name is SAX's
        self, name: tuple[str | None, str], qname: str | None, attrs: AttributesNSImpl
    ) -> None:
        """Begin any element.

        Raises:
            TooMuch: it has too many attributes.
        """
        _refuse_more(len(attrs), MOST_PARTS, "attributes of an element")
        super().startElementNS(name, qname, attrs)


class Loose(Adjusted, LooseFeedParser):  # type: ignore[misc] # its base is untyped
    """For the rest: feedparser's SGML parser, names by prefix."""

    def _end_guid(self) -> None:
        # It leaves references in an identity that the strict parser decodes: one stray tag
        # elsewhere in the document must not make every item a new one.
        super()._end_guid()
        context = self._get_context()
        if context.get("id"):
            context["id"] = html.unescape(context["id"])

    _end_id = _end_guid


def _refuse_more(number: int, most: int, of_what: str) -> None:
    """Stop reading a document that has too many of something.

    Raises:
        TooMuch: ``number`` is over the limit.
    """
    if number > most:
        raise TooMuch(f"it has more than {most} {of_what}")
