"""DTDs and what refers to them: taken out of a document before any XML parser sees it."""

from __future__ import annotations

import html
import html.entities
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sourcemon.core.entries import storable

LARGEST_EXPANSION = 64_000
"""As many characters may all references to a document's own entities add up to."""

_PROLOG = re.compile(r"(?:\s|<\?.*?\?>|<!--.*?-->)*+", re.DOTALL)
_DOCTYPE = re.compile(r"<!DOCTYPE\b(.*?)(?=<[A-Za-z_]|\Z)", re.DOTALL | re.IGNORECASE)
_ENTITY = re.compile(r"""<!ENTITY\s+([\w.-]+)\s+(?:"([^"<&%]*|&#\w+;)"|'([^'<&%]*|&#\w+;)')\s*>""")
_REFERENCE = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)"
    r"|&(?!(?:lt|gt|amp|quot|apos);)"
    r"(?:\#(?P<decimal>[0-9]{1,7});|\#x(?P<hex>[0-9A-Fa-f]{1,6});|(?P<name>\w{1,40});)?",
    re.DOTALL,
)
_SURROGATES = range(0xD800, 0xE000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a document's DTD said about entities."""

    entities: Mapping[str, str]
    """Name → text, of those whose value is plain text or one character reference."""
    elsewhere: bool
    """It named another document with more declarations, which nobody reads."""


def end_of_prolog(xml: str) -> int:
    """Where the instructions, comments and blanks before the DTD or the root element end."""
    found = _PROLOG.match(xml)
    return found.end() if found else 0


def without_doctype(xml: str) -> tuple[str, Declared]:
    """``xml`` without its DTD, and the declarations that do no harm.

    A DTD may name files and addresses to fetch and entities that expand without end, so none ever
    reaches an XML parser. An entity that refers to another one is as good as undeclared.
    """
    doctype = _DOCTYPE.match(xml, end_of_prolog(xml))
    if not doctype:
        return xml, Declared(entities={}, elsewhere=False)
    head = doctype[1].partition("[")[0]
    entities = {name: html.unescape(a or b) for name, a, b in _ENTITY.findall(doctype[1])}
    elsewhere = "SYSTEM" in head or "PUBLIC" in head
    return xml[doctype.end() :], Declared(entities=entities, elsewhere=elsewhere)


def with_known_references(xml: str, declared: Declared) -> tuple[str, tuple[str, ...]]:
    """``xml`` with no references but to characters and XML's own five entities, and its faults.

    HTML's entities and the declared ones become what they stand for, and any other ``&`` is taken
    literally. CDATA sections, comments and instructions stay as they are.
    """
    faults: set[str] = set()
    left = LARGEST_EXPANSION

    def corrected(found: re.Match[str]) -> str:
        nonlocal left
        name = found["name"]
        if not found[0].startswith("&"):
            return found[0]
        if found["decimal"] or found["hex"]:
            return _character(found, faults)
        if name in declared.entities and len(declared.entities[name]) <= left:
            left -= len(declared.entities[name])
            return html.escape(declared.entities[name])
        known = html.entities.html5.get(f"{name};")
        if not (known and declared.elsewhere):
            faults.add("references to undeclared entities" if name else "bare ampersands")
        return html.escape(known) if known else f"&amp;{found[0][1:]}"

    corrected_xml = _REFERENCE.sub(corrected, xml)
    return (storable(corrected_xml) if faults else corrected_xml), tuple(sorted(faults))


def _character(found: re.Match[str], faults: set[str]) -> str:
    """A character reference, or what is left of one to a character that XML forbids.

    Half of a surrogate pair stays as it is; the caller joins it with the other half.
    """
    number = int(found["decimal"]) if found["decimal"] else int(found["hex"], 16)
    if number in _SURROGATES:
        faults.add("references to half characters")
        return chr(number)
    if number in (0x9, 0xA, 0xD) or 0x20 <= number <= 0xFFFD or 0x10000 <= number <= 0x10FFFF:
        return found[0]  # XML 1.0 section 2.2
    faults.add("references to control characters")
    return ""
