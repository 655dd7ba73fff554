"""What the oracle reads from an answer's headers, as a table."""

from __future__ import annotations

import ast
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import sourcemon.replay
from sourcemon.core.replies import Headers
from sourcemon.replay.asks import AskKind, asks_of

NOON = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
DATE = ("Date", "Mon, 02 Jun 2025 12:00:00 GMT")
AHEAD = "Mon, 02 Jun 2025 12:02:00 GMT"
FLOOR, STOP = AskKind.FLOOR, AskKind.STOP

Fields = tuple[tuple[str, str], ...]

ASKS: dict[str, tuple[int, Fields, list[tuple[AskKind, float]]]] = {
    "nothing said, nothing asked": (200, (), []),
    "a poll interval is a floor": (200, (("X-Poll-Interval", "900"),), [(FLOOR, 900)]),
    "a poll interval on a 304": (304, (("X-Poll-Interval", "60"),), [(FLOOR, 60)]),
    "a poll interval on a redirect": (302, (("X-Poll-Interval", "60"),), [(FLOOR, 60)]),
    "a poll interval in words": (200, (("X-Poll-Interval", "often"),), []),
    "max-age is a floor": (200, (("Cache-Control", "public, max-age=300"),), [(FLOOR, 300)]),
    "max-age in quotes": (200, (("Cache-Control", 'max-age="300"'),), [(FLOOR, 300)]),
    "s-maxage speaks to shared caches": (200, (("Cache-Control", "s-maxage=300"),), []),
    "max-age on a fault counts": (500, (("Cache-Control", "max-age=300"),), [(FLOOR, 300)]),
    "max-age on a redirect speaks of the redirect": (
        301,
        (("Cache-Control", "max-age=300"),),
        [],
    ),
    "max-age less its age": (
        200,
        (("Cache-Control", "max-age=300"), ("Age", "100")),
        [(FLOOR, 200)],
    ),
    "max-age that is used up": (200, (("Cache-Control", "max-age=300"), ("Age", "300")), []),
    "no-cache voids freshness": (
        200,
        (("Cache-Control", "no-cache, max-age=300"), ("Expires", AHEAD)),
        [],
    ),
    "no-store in a second field voids it too": (
        200,
        (("Cache-Control", "max-age=300"), ("Cache-Control", "no-store")),
        [],
    ),
    "must-revalidate speaks of stale answers": (
        200,
        (("Cache-Control", "max-age=300, must-revalidate"),),
        [(FLOOR, 300)],
    ),
    "a year of freshness binds for a day": (
        200,
        (("Cache-Control", "max-age=31536000"),),
        [(FLOOR, 86_400)],
    ),
    "Expires is a floor": (200, (("Expires", AHEAD),), [(FLOOR, 120)]),
    "Expires counts from a wrong Date": (
        200,
        (("Expires", "Thu, 01 Jan 1970 00:01:00 GMT"), ("Date", "Thu, 01 Jan 1970 00:00:00 GMT")),
        [(FLOOR, 60)],
    ),
    "Expires in the past": (200, (("Expires", "Mon, 02 Jun 2025 11:00:00 GMT"),), []),
    "Expires that is no date": (200, (("Expires", "0"),), []),
    "Retry-After on 429 is a stop": (429, (("Retry-After", "120"),), [(STOP, 120)]),
    "Retry-After on 503 as a date": (503, (("Retry-After", AHEAD),), [(STOP, 120)]),
    "Retry-After on a redirect": (302, (("Retry-After", "120"),), [(STOP, 120)]),
    "Retry-After on a 200 means nothing": (200, (("Retry-After", "120"),), []),
    "Retry-After of zero": (429, (("Retry-After", "0"),), []),
    "Retry-After in words": (429, (("Retry-After", "soon"),), []),
    "Retry-After with a fraction": (429, (("Retry-After", "1.5"),), [(STOP, 1.5)]),
    "Retry-After of 30 days binds to the second": (
        429,
        (("Retry-After", "2592000"),),
        [(STOP, 2_592_000)],
    ),
    "Retry-After of more is implausible": (429, (("Retry-After", "2592001"),), [(STOP, 86_400)]),
    "Retry-After beyond all numbers": (429, (("Retry-After", "9" * 400),), [(STOP, 86_400)]),
    "a limit used up until its reset": (
        403,
        (("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1748866500")),
        [(STOP, 900)],
    ),
    "a reset in another form than GitHub's": (
        429,
        (("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "900")),
        [],
    ),
    "a limit with something left": (
        403,
        (("X-RateLimit-Remaining", "3"), ("X-RateLimit-Reset", "1748866500")),
        [],
    ),
    "a used-up limit on a 200 stops nothing yet": (
        200,
        (("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1748866500")),
        [],
    ),
    "every field asks for itself": (
        503,
        (("X-Poll-Interval", "10"), ("Cache-Control", "max-age=20"), ("Retry-After", "30")),
        [(FLOOR, 10), (FLOOR, 20), (STOP, 30)],
    ),
}


@pytest.mark.parametrize(("status", "fields", "expected"), ASKS.values(), ids=ASKS)
def test_asks(status: int, fields: Fields, expected: list[tuple[AskKind, float]]) -> None:
    asks = asks_of(status, Headers((*fields, DATE)), at=NOON)

    assert [(ask.kind, (ask.until - NOON).total_seconds()) for ask in asks] == expected


def test_dates_without_a_date_of_the_answer_ask_nothing() -> None:
    assert asks_of(503, Headers((("Retry-After", AHEAD),)), at=NOON) == ()


def test_freshness_and_dates_count_from_the_second() -> None:
    at = NOON + timedelta(milliseconds=700)
    fields = (
        DATE,
        ("Cache-Control", "max-age=60"),
        ("Retry-After", AHEAD),
        ("X-Poll-Interval", "9"),
    )

    asks = asks_of(503, Headers(fields), at=at)

    assert [ask.until - NOON for ask in asks] == [
        timedelta(seconds=9.7),
        timedelta(seconds=60),
        timedelta(seconds=120),
    ]


def test_the_room_reads_headers_with_its_own_eyes() -> None:
    """Of the product it knows the shape of headers and nothing else, least of all its rules."""
    room = Path(sourcemon.replay.__file__).parent
    imported = {
        node.module
        for path in room.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
    }

    ours = {name for name in imported if name.startswith("sourcemon")}
    assert {name for name in ours if not name.startswith("sourcemon.replay")} == {
        "sourcemon.core.replies"
    }
