"""Publishers' texts: bounded, storable, and plain where HTML has no place."""

from __future__ import annotations

import html
import html.entities
import re

from sourcemon.core.entries import storable

LONGEST_NAME = 1_000
LONGEST_TITLE = 10_000
LONGEST_HTML = 1_000_000

_BLANKS = re.compile(r"[ \t\r\n\f]+")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,39});")
_TAG = re.compile(
    r"</?(?:(?P<inside>a|abbr|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|img|ins|kbd|mark|q|s|samp"
    r"|small|span|strike|strong|su[bp]|time|tt|u|var|wbr)|blockquote|br|center|div|h[1-6r]|li|ol|p"
    r"|pre|ul)(?=[\s/>])[^<>]*>",
    re.IGNORECASE,
)


def text(value: object, *, longest: int | None) -> str | None:
    """``value`` storable, trimmed and cut to ``longest`` characters; ``None`` if blank or no text.

    ``longest=None`` never cuts.
    """
    if not isinstance(value, str):
        return None
    return storable(value.strip()[:longest]).strip() or None


def plain(value: object, *, longest: int, markup: bool = False) -> str | None:
    """As :func:`text`, in one line and with HTML's character references decoded once.

    Publishers escape titles once too often far more often than they write about ``&amp;``. Tags
    are taken out only of text that is declared to be ``markup``, and then only those of HTML's
    text elements: "Vec<T>" stays as it is.
    """
    found = text(value, longest=longest)
    if found is None:
        return None
    if markup:
        found = _TAG.sub(lambda tag: "" if tag["inside"] else " ", found)
    return storable(_BLANKS.sub(" ", _REFERENCE.sub(_decoded, found))).strip() or None


def _decoded(reference: re.Match[str]) -> str:
    """The character that a reference stands for; a name that HTML does not know stays."""
    name = reference[0][1:]
    known = html.unescape(reference[0]) if name.startswith("#") else html.entities.html5.get(name)
    return reference[0] if known is None else known
