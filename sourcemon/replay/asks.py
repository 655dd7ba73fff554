"""What an answer asked its client to wait for, read from the headers that were sent.

This is the oracle's own reading of the RFCs. It shares no code with ``sourcemon.core.headers`` and
must not: two readers that agree are evidence, one reader that agrees with itself is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum

from sourcemon.core.replies import Headers

LONGEST_FLOOR = timedelta(days=1)
"""Freshness beyond this binds for this long."""
LONGEST_STOP = timedelta(days=30)
"""A wait beyond this is implausible and binds for :data:`IMPLAUSIBLE_BINDS`."""
IMPLAUSIBLE_BINDS = timedelta(hours=24)

_FIRST_REFUSAL = 300
"""From this status on ``Retry-After`` has a meaning; on a 200 it has none."""
_REDIRECTS = frozenset({300, 301, 302, 303, 307, 308})
_LIMITS = frozenset({403, 429})
_MAX_AGE = re.compile(r'\bmax-age\s*=\s*"?(\d{1,9})')


class AskKind(StrEnum):
    """What an ask binds."""

    FLOOR = "floor"
    """The next poll of the same path and query: there will be nothing new before."""
    STOP = "stop"
    """Every request to the same path: stay away."""


@dataclass(frozen=True, slots=True)
class Ask:
    """An instant, on the site's clock, before which a client was asked not to come, and by what."""

    kind: AskKind
    until: datetime
    because: str


def asks_of(status: int, headers: Headers, *, at: datetime) -> tuple[Ask, ...]:
    """Every ask of an answer made at ``at``, floors first; those in the past are left out.

    Durations count from ``at``, freshness and dates from the second of ``at``, as a client that
    trusts ``Date`` would have it; so the oracle is never stricter than the RFC.
    """
    found = [*_floors(status, headers, at), *_stops(status, headers, at)]
    return tuple(ask for ask in found if ask.until > at)


def _floors(status: int, headers: Headers, at: datetime) -> Iterator[Ask]:
    for value in headers.all("x-poll-interval"):
        if (wait := _duration(value)) is not None:
            yield Ask(AskKind.FLOOR, at + _plausible(wait), f"X-Poll-Interval: {value}")
    # A redirect's freshness speaks of the redirect, not of the feed behind it.
    if status not in _REDIRECTS:
        yield from _freshness(headers, at.replace(microsecond=0))


def _freshness(headers: Headers, sent_at: datetime) -> Iterator[Ask]:
    """Floors from ``max-age`` and ``Expires``, unless the answer may not be reused unasked."""
    cache_control = ", ".join(headers.all("cache-control")).lower()
    if "no-cache" in cache_control or "no-store" in cache_control:
        return
    age = _duration(headers.get("age") or "0") or timedelta(0)
    for seconds in _MAX_AGE.findall(cache_control):
        lifetime = min(timedelta(seconds=int(seconds)) - age, LONGEST_FLOOR)
        yield Ask(AskKind.FLOOR, sent_at + lifetime, f"Cache-Control: max-age={seconds}")
    for value in headers.all("expires"):
        if (lifetime_left := _since_date(value, headers)) is not None:
            until = sent_at + min(lifetime_left, LONGEST_FLOOR)
            yield Ask(AskKind.FLOOR, until, f"Expires: {value}")


def _stops(status: int, headers: Headers, at: datetime) -> Iterator[Ask]:
    """``Retry-After`` on 3xx, 4xx and 5xx; the window's end of a limit that is used up."""
    if status < _FIRST_REFUSAL:
        return
    for value in headers.all("retry-after"):
        because = f"Retry-After: {value}"
        if (wait := _duration(value)) is not None:
            yield Ask(AskKind.STOP, at + _plausible(wait), because)
        elif (ahead := _since_date(value, headers)) is not None:
            yield Ask(AskKind.STOP, at.replace(microsecond=0) + _plausible(ahead), because)
    if status in _LIMITS and headers.get("x-ratelimit-remaining") == "0":
        yield from _window_ends(headers)


def _window_ends(headers: Headers) -> Iterator[Ask]:
    """``X-RateLimit-Reset`` in epoch seconds, GitHub's form; other forms are not read."""
    for value in headers.all("x-ratelimit-reset"):
        if re.fullmatch(r"[0-9]{10}", value):
            until = datetime.fromtimestamp(int(value), UTC)
            yield Ask(AskKind.STOP, until, f"X-RateLimit-Reset: {value}")


def _duration(value: str) -> timedelta | None:
    """A count of seconds, perhaps with a fraction; ``None`` for any other text."""
    if not re.fullmatch(r"\s*[0-9]+(\.[0-9]*)?\s*", value):
        return None
    return timedelta(seconds=min(float(value), 1e9))


def _since_date(value: str, headers: Headers) -> timedelta | None:
    """From the answer's own ``Date`` to an HTTP-date; ``None`` when either cannot be read."""
    try:
        sent, named = (parsedate_to_datetime(text) for text in (headers.get("date") or "", value))
        return named - sent
    except (ValueError, TypeError):
        return None


def _plausible(wait: timedelta) -> timedelta:
    return wait if wait <= LONGEST_STOP else IMPLAUSIBLE_BINDS
