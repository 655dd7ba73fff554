"""Text to XML that is safe, and as well-formed as it can be made without losing anything.

What is corrected here reaches feedparser's strict parser, which understands namespaces; all else
falls to its loose one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sourcemon.parse.references import end_of_prolog, with_known_references, without_doctype

BLANK = " \t\r\n\ufeff\x00"
"""What a document may begin and end with without meaning anything."""

FEED_ELEMENTS = frozenset({"rss", "rdf", "feed", "channel", "entry"})
"""Local names, in lower case, of the elements that feeds and single entries begin with."""

_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]+")
_XML_DECLARATION = re.compile(r"<\?xml\s[^>]*>")
_ROOT = re.compile(r"""<([A-Za-z_][^\s/>"']*)((?:[^>"']|"[^"]*"|'[^']*')*+)""")
_BEFORE_FEED = re.compile(
    r".{1,4096}?(?=<(?:rss|feed|rdf:RDF)\s[^>]{0,2000}?\b(?:version|xmlns)\b)", re.DOTALL
)
_AFTER_FEED = re.compile(r"[^>]*>(?:\s|<!--.*?-->|<\?.*?\?>)*+", re.DOTALL)
_ENTRY_START = re.compile(r"<(?:[\w.-]+:)?(?:item|entry)[\s>]", re.IGNORECASE)
_ENTRY_END = re.compile(r"</(?:[\w.-]+:)?(?:item|entry)\s*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """XML without declaration and DTD; a torn one is closed after its last whole entry."""

    xml: str
    root: str
    """The root element's local name in lower case; ``""`` if the text does not begin like XML."""
    torn: bool
    """The text ended before its root element did."""
    faults: tuple[str, ...]
    """What had to be corrected, other than the tear."""


def prepared(text: str) -> Document:
    """``text`` as a document; every text makes one."""
    text = text.strip(BLANK)
    allowed = _FORBIDDEN.sub("", text)
    xml, declared = without_doctype(_without_declaration(allowed))
    xml, unknown = with_known_references(xml, declared)
    feed = _without_text_after(_without_text_before(xml))
    root, torn = _root(feed)
    controls = ("control characters",) if allowed != text else ()
    around = ("text around the feed",) if feed != xml else ()
    return Document(
        xml=_closed(feed, root) if torn else feed,
        root=_local(root),
        torn=torn,
        faults=(*around, *controls, *unknown),
    )


def _without_declaration(xml: str) -> str:
    """``xml`` without its declaration, which speaks of bytes and of XML 1.1."""
    found = _XML_DECLARATION.match(xml)
    return xml[found.end() :] if found else xml


def _without_text_before(xml: str) -> str:
    """``xml`` from the feed's first tag on: servers print warnings before it, or a page around it.

    Inside of something else only an element with a version or a namespace counts as a feed's.
    """
    before = None if _local(_root(xml)[0]) in FEED_ELEMENTS else _BEFORE_FEED.match(xml)
    return xml[before.end() :] if before else xml


def _without_text_after(xml: str) -> str:
    """``xml`` up to the feed's last tag and the comments that follow it."""
    root, _ = _root(xml)
    ends = re.finditer(rf"</{re.escape(root)}\s*>", xml) if _local(root) in FEED_ELEMENTS else ()
    end = max((found.start() for found in ends), default=-1)
    after = _AFTER_FEED.match(xml, end) if end >= 0 else None
    return xml[: after.end()] if after else xml


def _root(xml: str) -> tuple[str, bool]:
    """The name of the root element, and whether its end is missing; without root nothing is."""
    found = _ROOT.match(xml, end_of_prolog(xml))
    if not found:
        return "", False
    has_end = found[2].endswith("/") or _has_end(found[1], xml)
    return found[1], not has_end


def _has_end(root: str, xml: str) -> bool:
    """Whether the root's end stands in ``xml`` as a tag, not as text or the beginning of a name."""
    end = re.compile(rf"</{re.escape(root)}\s*(?:>|\Z)", re.IGNORECASE)
    found = None
    for found in end.finditer(xml):  # noqa: B007 - the last one counts
        pass
    if found is None:
        return False
    opened = max(xml.rfind("<![CDATA[", 0, found.start()), xml.rfind("<!--", 0, found.start()))
    closed = max(xml.rfind("]]>", 0, found.start()), xml.rfind("-->", 0, found.start()))
    return opened <= closed


def _local(name: str) -> str:
    """An element's name without its prefix, in lower case."""
    return name.rpartition(":")[2].lower()


def _closed(xml: str, root: str) -> str:
    """``xml`` up to the end of its last whole entry, with the elements around it closed.

    An entry that the tear goes through is left out: without its guid it would be another one.
    """
    ends = [found.end() for found in _ENTRY_END.finditer(xml)]
    begin = _ENTRY_START.search(xml)
    kept = xml[: ends[-1]] if ends else xml[: begin.start()] if begin else xml
    channel = "</channel>" if kept.count("<channel") > kept.count("</channel") else ""
    return f"{kept}{channel}</{root}>"
