"""Bytes to text: which character encoding a document is in."""

from __future__ import annotations

import codecs
import encodings
import encodings.aliases
import re
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, len(codecs.BOM_UTF8), "utf-8"),
    (codecs.BOM_UTF32_LE, 4, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, 4, "utf-32-be"),
    (codecs.BOM_UTF16_LE, 2, "utf-16-le"),
    (codecs.BOM_UTF16_BE, 2, "utf-16-be"),
    (b"<\x00?\x00", 0, "utf-16-le"),  # no mark, but "<?" in this encoding (XML 1.0, appendix F)
    (b"\x00<\x00?", 0, "utf-16-be"),
)
_DECLARATION = re.compile(rb"\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']([^\"']{1,40})[\"']")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s\"';,]{1,40})", re.IGNORECASE)

_MULTI_BYTE = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "cp950": "big5hkscs",
    "shift_jis": "cp932",
    "cp932": "cp932",
    "euc_jp": "euc_jp",
    "iso2022_jp": "iso2022_jp",
    "euc_kr": "cp949",
    "cp949": "cp949",
}
_SINGLE_BYTE = {
    "ascii": "cp1252",
    "latin_1": "cp1252",
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    **{f"iso8859_{part}": f"iso8859_{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"cp125{page}": f"cp125{page}" for page in range(9)},
    **{name: name for name in ("cp866", "cp874", "koi8_r", "koi8_u", "mac_roman")},
}
_CODECS = {"utf_8": "utf-8", **_MULTI_BYTE, **_SINGLE_BYTE}
"""Python's name of a declared encoding → the superset that publishers mean by it.

After the WHATWG Encoding standard. No other name is ever looked up: Python would search for a
module, and has codecs that are no character encodings (``unicode_escape``) or take quadratic time
(``idna``). UTF-16 and UTF-32 are missing on purpose: a declaration that could be read byte by byte
is not in them.
"""

_WINDOWS_1252 = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)
}
_BEYOND_ASCII = re.compile("[\x80-\ud7ff\ue000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a body; ``fault`` says what of it is not in the document's own encoding."""

    text: str
    fault: str | None = None


def decoded(body: bytes, *, content_type: str | None) -> Decoded:
    """``body`` as text; every body has one.

    The byte order mark decides, then the bytes: what is valid UTF-8 is UTF-8 unless a multi-byte
    encoding is declared. Then the XML declaration and last the ``charset`` of ``content_type``.
    A media type without ``charset`` says nothing, ``text/xml`` included (RFC 7303 section 3).
    """
    for mark, length, codec in _MARKS:
        if body.startswith(mark):
            return Decoded(body[length:].decode(codec, "replace"))
    named = [codec for codec in (_declared(body), _sent(content_type)) if codec]
    for codec in _in_order(named):
        try:
            return Decoded(body.decode(codec))
        except UnicodeDecodeError:
            continue
    return _with_stray_bytes(body, codec=named[0] if named else "utf-8")


def _in_order(named: list[str]) -> list[str]:
    """The encodings to try: UTF-8 first, because no other text passes for it.

    Except that of two-byte encodings, where a short text can, and of ISO-2022-JP, which is ASCII.
    """
    if named and named[0] in _MULTI_BYTE.values():
        return [*named, "utf-8"]
    return ["utf-8", *named]


def _with_stray_bytes(body: bytes, *, codec: str) -> Decoded:
    """``body`` in ``codec`` although not all of it is.

    In UTF-8 the bytes that do not belong are read as Windows-1252, which is what editors leave
    behind. A body with nothing else beyond ASCII simply is Windows-1252: no fault.
    """
    if codec != "utf-8":
        return Decoded(body.decode(codec, "replace"), f"bytes that are not {codec}")
    text = body.decode("utf-8", "surrogateescape")
    mixed = _BEYOND_ASCII.search(text)
    return Decoded(text.translate(_WINDOWS_1252), "bytes that are not UTF-8" if mixed else None)


def _declared(body: bytes) -> str | None:
    """The codec that the XML declaration names, if it is one we know."""
    found = _DECLARATION.match(body[:1000].lstrip())
    return _codec(found[1].decode("ascii", "replace")) if found else None


def _sent(content_type: str | None) -> str | None:
    """The codec that the media type names, if it is one we know."""
    found = _CHARSET.search(content_type or "")
    return _codec(found[1]) if found else None


def _codec(label: str) -> str | None:
    """The codec for an encoding's label, ``None`` for one that we do not read."""
    name = encodings.normalize_encoding(label.lower()).removeprefix("x_")
    return _CODECS.get(encodings.aliases.aliases.get(name, name))
