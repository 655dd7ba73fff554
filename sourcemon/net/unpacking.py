"""Content codings undone in small pieces, so that a bomb is noticed before it goes off."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Protocol

from sourcemon.core.replies import Headers

PIECE = 65_536
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP, _ZLIB, _RAW = 31, 15, -15
_NO_CODING = frozenset({"", "identity", "none", "utf-8", "utf8"})
"""The last three are no codings at all, but servers send them (and browsers ignore them)."""
_MOST_CODINGS = 3


class UnknownCoding(Exception):
    """The body is coded in a way that was not offered; the message says how."""


class Unpacker(Protocol):
    """One coding being undone, for one body."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What ``data`` adds, in pieces of at most 64 KB; ``zlib.error`` when it is damaged."""

    def finish(self) -> bytes:
        """What was held back until the end was known."""

    def is_whole(self) -> bool:
        """Whether the data may end here."""


class Gunzip:
    """gzip with any number of members; data that does not begin as gzip passes unchanged.

    Servers do label plain bodies as gzip. What follows a member and begins no other is dropped:
    it is padding.
    """

    def __init__(self) -> None:
        self._held = b""
        self._member: zlib._Decompress | None = None
        self._members = 0
        self._is_plain = False
        self._is_over = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """As :meth:`Unpacker.feed`."""
        data, self._held = self._held + data, b""
        while data and not self._is_over:
            if self._member is None and not self._is_plain:
                data = self._begin(data)
            if self._is_plain:
                yield data
                return
            if self._member is not None:
                yield from _inflated(self._member, data)
                data = self._end(self._member)

    def finish(self) -> bytes:
        """The one byte of a plain body that could have begun as gzip."""
        return self._held if self._members == 0 else b""

    def is_whole(self) -> bool:
        """Whether every member that began has ended."""
        return self._member is None

    def _begin(self, data: bytes) -> bytes:
        """Decide what ``data`` begins; the part of it that can be used now."""
        if len(data) < len(_GZIP_MAGIC) and _GZIP_MAGIC.startswith(data):
            self._held = data
            return b""
        if data.startswith(_GZIP_MAGIC):
            self._member = zlib.decompressobj(_GZIP)
            self._members += 1
        else:
            self._is_plain = self._members == 0
            self._is_over = not self._is_plain
        return data

    def _end(self, member: zlib._Decompress) -> bytes:
        """What lies behind ``member`` if that has ended."""
        if not member.eof:
            return b""
        self._member = None
        return member.unused_data


class Inflate:
    """deflate, in the zlib wrapper of the standard or raw as some servers send it.

    RFC 9110 section 8.4.1.2, note.
    """

    def __init__(self) -> None:
        self._held = b""
        self._stream: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """As :meth:`Unpacker.feed`."""
        data, self._held = self._held + data, b""
        if self._stream is None:
            if len(data) < 2:
                self._held = data
                return
            self._stream = zlib.decompressobj(_ZLIB if _is_zlib(data) else _RAW)
        if not self._stream.eof:
            yield from _inflated(self._stream, data)

    def finish(self) -> bytes:
        """Nothing: a held byte is no stream."""
        return b""

    def is_whole(self) -> bool:
        """Whether nothing came, or all."""
        return not self._held if self._stream is None else self._stream.eof


def unpackers_for(headers: Headers) -> tuple[Unpacker, ...]:
    """What undoes the codings that ``headers`` name, in the order to apply.

    Without a coding it is a :class:`Gunzip`: files named ``feed.xml.gz`` come without the header.

    Raises:
        UnknownCoding: one was not offered, or there are more than three.
    """
    named = [
        coding
        for value in headers.all("content-encoding")
        for token in value.split(",")
        if (coding := token.strip().lower()) not in _NO_CODING
    ]
    if len(named) > _MOST_CODINGS:
        raise UnknownCoding(f"sent {len(named)} codings on top of each other")
    return tuple(_unpacker(coding) for coding in reversed(named)) or (Gunzip(),)


def _unpacker(coding: str) -> Unpacker:
    """A fresh unpacker.

    Raises:
        UnknownCoding: as :func:`unpackers_for`.
    """
    match coding:
        case "gzip" | "x-gzip":
            return Gunzip()
        case "deflate":
            return Inflate()
        case _:
            raise UnknownCoding(f"sent an encoding that was not asked for ({coding[:20]!r})")


def _inflated(stream: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """What ``data`` adds to a stream, in pieces.

    A full piece can leave output behind inside zlib although all input is used up: ask again.
    """
    while True:
        piece = stream.decompress(data, PIECE)
        if piece:
            yield piece
        data = stream.unconsumed_tail
        if stream.eof or not (data or len(piece) == PIECE):
            return


def _is_zlib(data: bytes) -> bool:
    """Whether two bytes are a zlib header (RFC 1950 section 2.2)."""
    method, flags = data[0], data[1]
    return method & 0x0F == 8 and method >> 4 <= 7 and (method << 8 | flags) % 31 == 0
