"""The rows of the write matrix: one outcome each, and what it does to every column.

A row is a reply to page one, what became of its page, and a value for each column: a literal one,
``UNTOUCHED``, ``CLEARED``, or ``SAID`` (the words that the run row has). ``half open`` holds what
differs when a circuit had been opened before.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from enum import Enum, auto
from typing import Any

from sourcemon.core.changes import Counters
from sourcemon.core.entries import Page, Unreadability, Unreadable
from sourcemon.core.paging import StopReason, hash_of
from sourcemon.core.poll_state import PollStatus, RetryProgress
from sourcemon.core.replies import ErrorCategory, Failure, Validators
from tests.core.handmade import HOUR, MINUTE, NOW, SECOND, hop, no_response, response

Row = dict[str, Any]
Category = ErrorCategory

RECEIVED = NOW
ENDED = NOW + 5 * SECOND
AT_MOST = timedelta(hours=24)


class Mark(Enum):
    """A value that depends on the state before, or on the run."""

    UNTOUCHED = auto()
    CLEARED = auto()
    SAID = auto()


UNTOUCHED, CLEARED, SAID = Mark

# Every response offers a floor and validators, whether they are to be taken or not.
OFFERED = [
    ("X-Poll-Interval", "300"),
    ("ETag", 'W/"new"'),
    ("Last-Modified", "Sat, 10 Jan 2026 11:00:00 GMT"),
]
NEW = Validators(OFFERED[1][1], OFFERED[2][1])
OPENED = RetryProgress(category=Category.NETWORK, circuit_opened_at=NOW - 3 * HOUR, reopens=1)
"""The retry progress of the state in which a circuit is half-open."""
BODY, KNOWN_BODY = b"<rss>new</rss>", b"<rss>known</rss>"


def answer(status: int = 200, retry_after: str | None = None, **kwargs: Any):
    """A response that offers everything, received before the poll ended."""
    hint = [] if retry_after is None else [("Retry-After", retry_after)]
    return response(status, [*OFFERED, *hint], body=BODY, received_at=RECEIVED, **kwargs)


def unusable(category: Category, message: str):
    return answer(body_failure=Failure(category, message))


COLUMNS = (
    "run", "stop reason", "error category", "cadence", "floor", "retry", "back-off", "circuit",
    "retry progress", "validators", "body hash", "last success", "failures", "poll status",
    "last error",
)  # fmt: skip

ATTEMPTED: Row = {
    **dict.fromkeys(COLUMNS, UNTOUCHED),
    "stop reason": None,
    "cadence": ENDED + HOUR,
    "floor": RECEIVED + 5 * MINUTE,
    "half open": {},
}
SUCCESS: Row = {
    **ATTEMPTED,
    "error category": None,
    "back-off": CLEARED,
    "circuit": CLEARED,
    "retry progress": CLEARED,
    "last success": ENDED,
    "failures": CLEARED,
    "last error": CLEARED,
}
COMPLETED: Row = {**SUCCESS, "run": "completed", "stop reason": StopReason.NO_NEXT_LINK}
STORED: Row = {**COMPLETED, "validators": NEW, "body hash": hash_of(BODY)}


def failed(category: Category, *, wait: timedelta, circuit: timedelta, attempt: int = 1) -> Row:
    """A failure on a rung of the ladder; half-open it opens the circuit for the third time."""
    reopened = {
        "back-off": CLEARED,
        "circuit": ENDED + min(4 * circuit, AT_MOST),
        "retry progress": RetryProgress(category=category, circuit_opened_at=ENDED, reopens=2),
    }
    return {
        **ATTEMPTED,
        "run": "failed",
        "error category": category,
        "back-off": ENDED + wait,
        "retry progress": RetryProgress(attempt=attempt, category=category),
        "failures": 4,
        "last error": SAID,
        "half open": reopened,
    }


LIMITED_ONCE = replace(OPENED, attempt=1, category=Category.RATE_LIMITED)


def limited(*, wait: timedelta) -> Row:
    """A limit: deferred and neutral, held back from receipt."""
    return {
        **ATTEMPTED,
        "run": "deferred",
        "error category": Category.RATE_LIMITED,
        "retry": RECEIVED + wait,
        "retry progress": RetryProgress(attempt=1, category=Category.RATE_LIMITED),
        "half open": {"retry progress": LIMITED_ONCE},
    }


REFUSED_4XX = failed(Category.HTTP, wait=45 * MINUTE, circuit=2 * HOUR)
FAILED_5XX = failed(Category.HTTP, wait=10 * MINUTE, circuit=90 * MINUTE)
ODD = failed(Category.HTTP, wait=10 * MINUTE, circuit=90 * MINUTE)
NO_CREDENTIALS = failed(Category.AUTH, wait=HOUR, circuit=4 * HOUR)
UNREAD = failed(Category.PARSE, wait=30 * MINUTE, circuit=2 * HOUR)
TOO_LARGE = failed(Category.TOO_LARGE, wait=30 * MINUTE, circuit=2 * HOUR)
# The state before holds one network failure already, so this is the second of three.
UNREACHED = failed(Category.NETWORK, wait=5 * MINUTE, circuit=HOUR, attempt=2)
OURS: Row = {
    **ATTEMPTED,
    "run": "failed",
    "error category": Category.INTERNAL,
    "back-off": ENDED + 10 * MINUTE,
}


def silent(row: Row) -> Row:
    """A row without a response: there were no headers to take a floor from."""
    return {**row, "floor": UNTOUCHED}


def not_a_page(reason: Unreadability) -> Row:
    return {"reply": answer(), "then": Unreadable(reason, "it looks like HTML"), **UNREAD}


WHOLE = Page(entries=()), Counters(created=2, unchanged=1)
TORN = Page(entries=(), is_whole=False, degraded="torn after 2 entries"), Counters(created=2)
SLOPPY = Page(entries=(), degraded="not well-formed in line 7"), Counters(created=2)
INCOMPLETE = Page(entries=()), Counters(created=2, failed=1)

# fmt: off
ROWS: dict[str, Row] = {
    "200, stored whole": {"of": "200", "reply": answer(), "then": WHOLE, **STORED},
    "200, stored whole, without validators": {
        "of": "200", "reply": response(200, OFFERED[:1], body=BODY), "then": WHOLE,
        **STORED, "validators": CLEARED,
    },
    "200, sloppy but whole": {"of": "200", "reply": answer(), "then": SLOPPY, **STORED},
    "200, torn": {"of": "200", "reply": answer(), "then": TORN, **COMPLETED},
    "200, an entry not stored": {"of": "200", "reply": answer(), "then": INCOMPLETE, **COMPLETED},
    "200, the bytes that are known": {
        "of": "200", "reply": response(200, OFFERED, body=KNOWN_BODY),
        **COMPLETED, "stop reason": StopReason.UNCHANGED_BODY, "validators": NEW,
    },
    "304": {"of": "304", "reply": answer(304), **SUCCESS, "run": "not_modified", "validators": NEW},
    "304 with Retry-After": {
        "of": "304", "reply": answer(304, "120"),
        **SUCCESS, "run": "not_modified", "validators": NEW, "retry": RECEIVED + 2 * MINUTE,
    },
    "429 with a hint": {"of": "429", "reply": answer(429, "120"), **limited(wait=2 * MINUTE)},
    "429 without a hint": {"of": "429", "reply": answer(429), **limited(wait=15 * MINUTE)},
    "429 with a useless hint": {
        "of": "429", "reply": answer(429, "0"), **limited(wait=15 * MINUTE),
    },
    "503 with a hint": {
        "of": "503 with Retry-After", "reply": answer(503, "7200"), **limited(wait=2 * HOUR),
    },
    "503 with a useless hint": {
        "of": "503 with Retry-After", "reply": answer(503, "soon"), **limited(wait=15 * MINUTE),
    },
    "403 with a hint": {"of": "secondary limit", "reply": answer(403, "1"), **limited(wait=SECOND)},
    "403 with a useless hint": {
        "of": "secondary limit", "reply": answer(403, "-1"), **limited(wait=15 * MINUTE),
    },
    "a redirect that says later": {
        "of": "3xx with Retry-After", "reply": answer(302, "120"), **limited(wait=2 * MINUTE),
    },
    "401": {"of": "401", "reply": answer(401), **NO_CREDENTIALS},
    "403": {
        "of": "403 without rate-limit signs", "reply": answer(403),
        **failed(Category.BLOCKED, wait=HOUR, circuit=4 * HOUR),
    },
    "404": {"of": "404", "reply": answer(404), **REFUSED_4XX},
    "404 with Retry-After": {
        "of": "404", "reply": answer(404, "120"), **REFUSED_4XX, "retry": RECEIVED + 2 * MINUTE,
    },
    "410": {
        "of": "410", "reply": answer(410),
        **failed(Category.GONE, wait=45 * MINUTE, circuit=2 * HOUR), "poll status": PollStatus.GONE,
    },
    "422": {"of": "422", "reply": answer(422), **REFUSED_4XX},
    "400": {"of": "any other 4xx", "reply": answer(400), **REFUSED_4XX},
    "407": {"of": "any other 4xx", "reply": answer(407), **NO_CREDENTIALS},
    "408": {"of": "408", "reply": answer(408), **REFUSED_4XX},
    "421": {"of": "421", "reply": answer(421), **REFUSED_4XX},
    "425": {"of": "425", "reply": answer(425), **REFUSED_4XX},
    "451": {"of": "451", "reply": answer(451), **REFUSED_4XX},
    "302 without Location": {"of": "3xx without Location", "reply": answer(302), **ODD},
    "300": {"of": "3xx without Location", "reply": answer(300), **ODD},
    "500": {"of": "5xx", "reply": answer(500), **FAILED_5XX},
    "503 without a hint": {"of": "5xx", "reply": answer(503), **FAILED_5XX},
    "502 with Retry-After": {
        "of": "5xx", "reply": answer(502, "120"), **FAILED_5XX, "retry": RECEIVED + 2 * MINUTE,
    },
    "timeout": {
        "of": "timeout", "reply": no_response(Category.TIMEOUT),
        **silent(failed(Category.TIMEOUT, wait=2 * MINUTE, circuit=HOUR)),
    },
    "timeout behind a redirect that asked for a floor": {
        "of": "timeout", "reply": no_response(Category.TIMEOUT, hops=(hop(301, OFFERED),)),
        **failed(Category.TIMEOUT, wait=2 * MINUTE, circuit=HOUR),
    },
    "connection refused": {
        "of": "connect", "reply": no_response(Category.NETWORK), **silent(UNREACHED),
    },
    "no such host": {"of": "DNS", "reply": no_response(Category.NETWORK), **silent(UNREACHED)},
    "TLS": {
        "of": "TLS", "reply": no_response(Category.TLS),
        **silent(failed(Category.TLS, wait=10 * MINUTE, circuit=90 * MINUTE)),
    },
    "refused by our guard": {
        "of": "refused by our guard", "reply": no_response(Category.REFUSED),
        **silent(failed(Category.REFUSED, wait=10 * MINUTE, circuit=90 * MINUTE)),
    },
    "too many redirects": {
        "of": "redirect limit", "reply": no_response(Category.REFUSED, hops=(hop(302),) * 5),
        **silent(failed(Category.REFUSED, wait=10 * MINUTE, circuit=90 * MINUTE)),
    },
    "headers too large": {
        "of": "body too large", "reply": no_response(Category.TOO_LARGE), **silent(TOO_LARGE),
    },
    "body too large": {
        "of": "body too large", "reply": unusable(Category.TOO_LARGE, "over 10 MB"), **TOO_LARGE,
    },
    "body torn": {
        "of": "body torn", "reply": unusable(Category.NETWORK, "ended early"), **UNREACHED,
    },
    "body undecodable": {
        "of": "body undecodable", "reply": unusable(Category.PARSE, "no gzip"), **UNREAD,
    },
    "not a feed": {"of": "not a feed", **not_a_page(Unreadability.NOT_A_FEED)},
    "malformed": {"of": "malformed", **not_a_page(Unreadability.MALFORMED)},
    "empty body": {"of": "malformed", **not_a_page(Unreadability.EMPTY_BODY)},
    "unexpected 304": {
        "of": "unexpected 304", "reply": answer(304), "forced": True, **ODD, "validators": CLEARED,
    },
    "fault of ours with a page waiting": {
        "of": "fault of ours", "reply": answer(), "then": "fault", **OURS,
    },
    "fault of ours before the reply": {"of": "fault of ours", "reply": None, **silent(OURS)},
    "stopped with a page waiting": {
        "of": "fault of ours", "reply": answer(), "then": "stopped",
        **OURS, "stop reason": StopReason.INTERRUPTED,
    },
}
# fmt: on
