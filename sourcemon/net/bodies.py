"""A response's body, unpacked within its limits; trouble with it is a value, too."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO

from sourcemon.core.replies import ErrorCategory, Failure, FetchLimits, Headers
from sourcemon.net.failures import WORLD, failure_of
from sourcemon.net.unpacking import UnknownCoding, Unpacker, unpackers_for

RATIO_COUNTS_FROM = 1_000_000
"""Small bodies of repeated text compress better than any limit that stops a bomb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A body as far as it could be used: all of it, or empty with the reason."""

    content: bytes = b""
    received: int = 0
    """Bytes as they came, before unpacking and without the framing of chunks."""
    failure: Failure | None = None


def read_body(pieces: Iterable[bytes], *, headers: Headers, limits: FetchLimits, host: str) -> Body:
    """Read and unpack ``pieces``; a body beyond a limit is given up at once.

    In memory are at no time more than ``max_body_bytes`` and an eighth, and a few pieces of 64 KB.
    The failure's category is TOO_LARGE, PARSE for what cannot be unpacked, NETWORK for what ends
    too early, or what :func:`failure_of` makes of an exception of the transport.

    Raises:
        Exception: what :func:`failure_of` raises.
    """
    meter = _Meter(limits)
    try:
        content = _content(pieces, headers, meter)
    except _Spoilt as spoilt:
        failure = Failure(spoilt.category, f"{host} {spoilt}")
    except WORLD as problem:
        failure = failure_of(problem, host=host)
    else:
        return Body(content=content, received=meter.received)
    return Body(received=meter.received, failure=failure)


class _Spoilt(Exception):
    """The body cannot be used."""

    def __init__(self, category: ErrorCategory, message: str) -> None:
        super().__init__(message)
        self.category = category


class _Meter:
    """Counts what came in and judges what comes out of every unpacker."""

    def __init__(self, limits: FetchLimits) -> None:
        self._limits = limits
        self.received = 0

    def cap(self, count: int) -> None:
        """Pass a body of ``count`` bytes.

        Raises:
            _Spoilt: they are too many.
        """
        limit = self._limits.max_body_bytes
        if count > limit:
            raise _Spoilt(ErrorCategory.TOO_LARGE, f"sent a body of more than {limit} bytes")

    def judge(self, produced: int) -> None:
        """Pass ``produced`` bytes, all that one unpacker has made so far.

        Raises:
            _Spoilt: they are too many, or too many for what came in.
        """
        self.cap(produced)
        ratio = self._limits.max_ratio
        if produced > RATIO_COUNTS_FROM and produced > ratio * self.received:
            what = f"sent a body that unpacks to more than {ratio} times its size"
            raise _Spoilt(ErrorCategory.TOO_LARGE, what)


def _content(pieces: Iterable[bytes], headers: Headers, meter: _Meter) -> bytes:
    """The whole body, unpacked.

    Raises:
        _Spoilt: it cannot be used.
    """
    announced = _announced_length(headers)
    meter.cap(announced or 0)
    content = BytesIO()  # gives its bytes away without a copy, unlike a list that is joined
    try:
        unpacked = _arrived(pieces, announced, meter)
        for unpacker in unpackers_for(headers):
            unpacked = _unpacked(unpacked, unpacker, meter)
        for piece in unpacked:
            content.write(piece)
    except UnknownCoding as problem:
        raise _Spoilt(ErrorCategory.PARSE, str(problem)) from problem
    except zlib.error as problem:
        what = f"sent a body that cannot be unpacked ({problem})"
        raise _Spoilt(ErrorCategory.PARSE, what) from problem
    return content.getvalue()


def _arrived(pieces: Iterable[bytes], announced: int | None, meter: _Meter) -> Iterator[bytes]:
    """``pieces``, counted.

    Raises:
        _Spoilt: too many bytes, or fewer than were announced.
    """
    for piece in pieces:
        meter.received += len(piece)
        meter.cap(meter.received)
        yield piece
    if announced is not None and meter.received < announced:
        what = f"broke off after {meter.received} of {announced} bytes"
        raise _Spoilt(ErrorCategory.NETWORK, what)


def _unpacked(pieces: Iterable[bytes], unpacker: Unpacker, meter: _Meter) -> Iterator[bytes]:
    """``pieces`` with one coding undone. Every stage is judged: one may hold another's bomb.

    Raises:
        _Spoilt: too many bytes, or the end is missing.
    """
    produced = 0
    for piece in pieces:
        for unpacked in unpacker.feed(piece):
            produced += len(unpacked)
            meter.judge(produced)
            yield unpacked
    if rest := unpacker.finish():
        yield rest
    if not unpacker.is_whole():
        what = "broke off in the middle of a compressed body"
        raise _Spoilt(ErrorCategory.NETWORK, what)


def _announced_length(headers: Headers) -> int | None:
    """``Content-Length``, unless ``Transfer-Encoding`` overrides it (RFC 9112 section 6.3)."""
    length = (headers.get("content-length") or "").strip()
    if headers.get("transfer-encoding") is not None or not length.isdecimal():
        return None
    return int(length[:20])
