"""What a body looks like that is no feed, in words for the operator."""

from __future__ import annotations

import html
import re

_LONGEST = 80
_SCANNED = 100_000
_TITLE = re.compile(r"<title\b[^<>]*>([^<]*)", re.IGNORECASE)
_PASSWORD = re.compile(r"<input\s[^<>]{0,1000}?\btype\s*=\s*[\"']?password", re.IGNORECASE)
_UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1f\ufffd]")

_HTML_ELEMENT = re.compile(
    "a|article|b|blockquote|body|br|center|div|em|font|footer|form|frameset|h[1-6]|head|header|hr"
    "|html|i|iframe|img|input|li|link|main|meta|nav|noscript|ol|p|pre|script|section|span|strong"
    "|style|table|title|ul"
)


def appearance(text: str, *, root: str) -> str:
    """What ``text`` looks like, say "an HTML page titled 'Sign in'" or "JSON".

    ``root`` is the local name of its first element in lower case, ``""`` if there is none.
    """
    begin = text[:_SCANNED].strip(" \t\r\n\ufeff\x00")
    if begin.startswith(("{", "[")):
        return "JSON"
    if _HTML_ELEMENT.fullmatch(root) or begin[:14].lower() == "<!doctype html":
        return _html(begin)
    if root:
        return f"XML with the root element <{_shown(root)}>"
    if len(_UNPRINTABLE.findall(begin[:1000])) * 10 > len(begin[:1000]):
        return "binary data"
    return f"plain text beginning {_shown(begin)!r}"


def _html(page: str) -> str:
    """An HTML page in words, with its title; one that asks for a password is a login page."""
    kind = "a login page" if _PASSWORD.search(page) else "an HTML page"
    found = _TITLE.search(page)
    title = _shown(html.unescape(found[1])) if found else ""
    return f"{kind} titled {title!r}" if title else kind


def _shown(text: str) -> str:
    """``text`` in one line, cut to what a message has room for."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
