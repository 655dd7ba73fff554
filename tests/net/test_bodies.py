"""Bodies: unpacked, bounded, or given up with a reason."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Iterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core.replies import ErrorCategory, FetchLimits, Headers
from sourcemon.net.bodies import Body, read_body

TEXT = b"<rss>" + b"<item>word</item>" * 300 + b"</rss>"
GZIP = gzip.compress(TEXT, mtime=0)
ZLIB = zlib.compress(TEXT)
RAW = zlib.compress(TEXT, wbits=-15)
LIMITS = FetchLimits(max_body_bytes=2_000_000)


def read(
    data: bytes,
    coding: str | None = None,
    *,
    step: int = 1000,
    length: int | None = None,
    limits: FetchLimits = LIMITS,
) -> Body:
    fields = [] if coding is None else [("Content-Encoding", coding)]
    if length is not None:
        fields.append(("Content-Length", str(length)))
    pieces = (data[at : at + step] for at in range(0, len(data), step))
    return read_body(pieces, headers=Headers(tuple(fields)), limits=limits, host="kiosk.test:80")


USABLE = {
    "plain": (TEXT, None),
    "plain by name": (TEXT, "identity"),
    "plain under a name that is no coding": (TEXT, "UTF-8"),
    "gzip": (GZIP, "gzip"),
    "gzip in capitals with blanks": (GZIP, " GZip "),
    "gzip by its old name": (GZIP, "x-gzip"),
    "gzip in two members": (gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:]), "gzip"),
    "gzip with an empty member": (gzip.compress(b"") + GZIP, "gzip"),
    "gzip with padding behind": (GZIP + b"\x00" * 20, "gzip"),
    "gzip with a torn magic behind": (GZIP + b"\x1f", "gzip"),
    "plain, labelled gzip": (TEXT, "gzip"),
    "a gzip file without a label": (GZIP, None),
    "deflate in its wrapper": (ZLIB, "deflate"),
    "deflate without it": (RAW, "deflate"),
    "deflate with more behind": (ZLIB + b"tail", "deflate"),
    "gzip in gzip": (gzip.compress(GZIP), "gzip, gzip"),
    "deflate, then gzip": (gzip.compress(ZLIB), "deflate, gzip"),
    "gzip and a word for nothing": (GZIP, "identity, gzip"),
}


@pytest.mark.parametrize("step", [1, 2, 7, 100_000])
@pytest.mark.parametrize(("data", "coding"), USABLE.values(), ids=USABLE)
def test_usable(data: bytes, coding: str | None, step: int) -> None:
    assert read(data, coding, step=step) == Body(content=TEXT, received=len(data))


@pytest.mark.parametrize("coding", [None, "gzip", "deflate", "gzip, deflate"])
def test_nothing_is_nothing_in_every_coding(coding: str | None) -> None:
    assert read(b"", coding) == Body()


def test_a_body_of_one_byte_of_gzips_magic_is_plain() -> None:
    assert read(b"\x1f", "gzip").content == b"\x1f"


UNUSABLE = {
    "brotli": (TEXT, "br", ErrorCategory.PARSE),
    "zstandard": (TEXT, "zstd", ErrorCategory.PARSE),
    "brotli inside gzip": (GZIP, "br, gzip", ErrorCategory.PARSE),
    "four codings": (GZIP, "gzip,gzip,gzip,gzip", ErrorCategory.PARSE),
    "damaged gzip": (GZIP[:30] + b"\xff\xff\xff" + GZIP[33:], "gzip", ErrorCategory.PARSE),
    "a wrong checksum": (GZIP[:-8] + bytes(8), "gzip", ErrorCategory.PARSE),
    "plain, labelled deflate": (TEXT, "deflate", ErrorCategory.PARSE),
    "gzip without its end": (GZIP[:-20], "gzip", ErrorCategory.NETWORK),
    "gzip without its checksum": (GZIP[:-8], "gzip", ErrorCategory.NETWORK),
    "the second member torn": (GZIP + GZIP[:40], "gzip", ErrorCategory.NETWORK),
    "deflate without its end": (ZLIB[:-9], "deflate", ErrorCategory.NETWORK),
    "one byte of deflate": (b"\x78", "deflate", ErrorCategory.NETWORK),
}


@pytest.mark.parametrize(("data", "coding", "category"), UNUSABLE.values(), ids=UNUSABLE)
def test_unusable(data: bytes, coding: str, category: ErrorCategory) -> None:
    body = read(data, coding)
    assert body.content == b""
    assert body.failure is not None
    assert body.failure.category is category
    assert body.failure.message.startswith("kiosk.test:80 ")


def test_an_encoding_that_was_not_asked_for_is_named() -> None:
    failure = read(TEXT, "br").failure
    assert failure is not None
    assert "sent an encoding that was not asked for ('br')" in failure.message


SIZES = {
    "exactly the limit": (2_000_000, True),
    "one byte more": (2_000_001, False),
}


@pytest.mark.parametrize(("size", "fits"), SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("coding", [None, "gzip"])
def test_the_limit_counts_unpacked_bytes(size: int, fits: bool, coding: str | None) -> None:
    noise = bytes(range(256)) * (size // 256 + 1)
    data = noise[:size] if coding is None else gzip.compress(noise[:size])
    limits = FetchLimits(max_body_bytes=2_000_000, max_ratio=10_000)
    body = read(data, coding, limits=limits, step=4096)
    assert (len(body.content) == size) is fits
    assert (body.failure is None) is fits


def test_an_announced_length_beyond_the_limit_is_refused_without_reading() -> None:
    pieces = iter([b"<rss>"])
    headers = Headers((("Content-Length", "5000000000"),))
    body = read_body(pieces, headers=headers, limits=LIMITS, host="kiosk.test:80")
    assert next(pieces) == b"<rss>"
    assert body.failure is not None
    assert body.failure.category is ErrorCategory.TOO_LARGE
    assert body.received == 0


LENGTHS = {
    "too short": ("10", None, ErrorCategory.NETWORK),
    "overridden by chunks": ("10", "chunked", None),
    "no number": ("ten", None, None),
    "a number without end": ("9" * 5000, None, ErrorCategory.TOO_LARGE),
}


@pytest.mark.parametrize(("length", "transfer", "category"), LENGTHS.values(), ids=LENGTHS)
def test_content_length(length: str, transfer: str | None, category: ErrorCategory | None) -> None:
    fields = [("content-length", length)]
    if transfer:
        fields.append(("transfer-encoding", transfer))
    headers = Headers(tuple(fields))
    body = read_body([b"12345"], headers=headers, limits=LIMITS, host="h")
    assert (body.failure.category if body.failure else None) is category


RATIOS = {
    "beyond the ratio, over a megabyte": (1_500_000, False),
    "beyond the ratio, but small": (900_000, True),
}


@pytest.mark.parametrize(("size", "usable"), RATIOS.values(), ids=RATIOS)
def test_the_ratio_counts_from_a_megabyte(size: int, usable: bool) -> None:
    body = read(gzip.compress(bytes(size)), "gzip")
    assert (body.failure is None) is usable


def bombs() -> dict[str, tuple[bytes, str]]:
    zeros = gzip.compress(bytes(8_000_000))
    return {
        "one member": (zeros, "gzip"),
        "gzip in gzip": (gzip.compress(zeros), "gzip, gzip"),
        "without a label": (zeros, "identity"),
        "deflate": (zlib.compress(bytes(8_000_000)), "deflate"),
        "a bomb between two codings": (gzip.compress(gzip.compress(b"") * 110_000), "gzip, gzip"),
    }


BOMBS = bombs()


@pytest.mark.parametrize(("data", "coding"), BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("ratio", [100, 1_000_000])
def test_a_bomb_is_noticed_within_the_limit_of_memory(data: bytes, coding: str, ratio: int) -> None:
    limits = FetchLimits(max_body_bytes=2_000_000, max_ratio=ratio)
    tracemalloc.start()
    try:
        body = read(data, coding, limits=limits, step=65_536)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert body.failure is not None
    assert body.failure.category is ErrorCategory.TOO_LARGE
    assert peak < 2_000_000 + 700_000


def test_a_large_body_is_held_once() -> None:
    piece = bytes(50_000)
    limits = FetchLimits(max_body_bytes=4_000_000)
    tracemalloc.start()
    try:
        body = read_body((piece for _ in range(80)), headers=Headers(), limits=limits, host="h")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(body.content) == 4_000_000
    assert peak < 4_000_000 + 700_000


def test_an_exception_of_the_transport_is_a_failure_of_the_body() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"begun"
        raise httpx.ReadTimeout("silence")

    body = read_body(pieces(), headers=Headers(), limits=LIMITS, host="h")
    assert body.failure is not None
    assert body.failure.category is ErrorCategory.TIMEOUT
    assert body.received == 5


def test_a_mistake_of_ours_is_raised() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"begun"
        raise httpx.StreamConsumed

    with pytest.raises(httpx.StreamConsumed):
        read_body(pieces(), headers=Headers(), limits=LIMITS, host="h")


@given(
    parts=st.lists(st.binary(max_size=300), max_size=5),
    step=st.integers(1, 50),
    coding=st.sampled_from(["gzip", "deflate", "raw", "gzip, gzip"]),
)
def test_what_was_packed_is_unpacked_however_it_arrives(
    parts: list[bytes], step: int, coding: str
) -> None:
    content = b"".join(parts)
    match coding:
        case "deflate":
            data = zlib.compress(content)
        case "raw":
            coding, data = "deflate", zlib.compress(content, wbits=-15)
        case _:
            data = b"".join(map(gzip.compress, parts)) or gzip.compress(b"")
            data = gzip.compress(data) if "," in coding else data
    assert read(data, coding, step=step).content == content


@given(data=st.binary(max_size=400), coding=st.sampled_from(["gzip", "deflate", "gzip, deflate"]))
def test_no_bytes_raise(data: bytes, coding: str) -> None:
    read(b"\x1f\x8b\x08\x00" + data, coding)
    read(data, coding)
