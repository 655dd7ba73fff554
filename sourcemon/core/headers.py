"""Header fields to instants: how long a server asks us to stay away.

Nothing here raises, whatever a server sends; a field that cannot be read is no hint.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from sourcemon.core.replies import Headers, Hop, Reply, Response
from sourcemon.core.schedule import Objection, ObjectionName

LONGEST_PLAUSIBLE = timedelta(days=30)
"""A server may ask for this much and gets it, to the second."""
IMPLAUSIBLE_BECOMES = timedelta(hours=24)
LONGEST_FRESHNESS = timedelta(days=1)
"""Freshness beyond a day is a cache's setting, not a wish about polls."""

_SHOWN = 60
_SECONDS = re.compile(r"\s*\+?(\d+)(?:\.(\d*))?\s*")
_DIRECTIVE = re.compile(r'([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,;"]+)))?')
_NOT_FRESH = ("no-cache", "no-store")
"""Void a freshness, unless they name the fields that they are about (RFC 9111 5.2.2.4)."""


def http_date(text: str | None) -> datetime | None:
    """The instant of an HTTP-date in any of its three forms, or ``None`` (RFC 9110 5.6.7)."""
    if not text or len(text) > 100:
        return None
    try:
        parsed = parsedate_to_datetime(text.strip())
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def retry_after(headers: Headers, *, received_at: datetime) -> Objection | None:
    """The latest instant that ``Retry-After`` names, or ``None`` when none lies ahead.

    Seconds count from receipt, fractions rounded up; a date counts from the response's own
    ``Date``, else from receipt, so that a server's wrong clock does no harm. More than 30 days is
    implausible and becomes 24 hours (RFC 9110 section 10.2.3).
    """
    waits = (
        _plausible(wait, f"Retry-After: {_shown(value)}", received_at=received_at)
        for value in headers.all("retry-after")
        if (wait := _retry_wait(value, headers, received_at)) is not None
    )
    return _latest(waits, ObjectionName.RETRY)


def poll_floor(headers: Headers, *, received_at: datetime) -> Objection | None:
    """The latest instant before which the server would have nothing new, or ``None``.

    The latest of ``X-Poll-Interval``, ``Cache-Control: max-age`` minus ``Age`` and ``Expires``
    minus ``Date``. ``no-cache`` and ``no-store`` void the last two. ``must-revalidate`` does not:
    it speaks of what happens once the answer is stale (RFC 9111 section 5.2.2.2).
    """
    return _latest(_floors(headers, received_at), ObjectionName.FLOOR)


def server_objections(reply: Reply) -> tuple[Objection, ...]:
    """What one reply, its redirects included, asks of us: at most one floor and one retry.

    ``Retry-After`` counts on 3xx, 4xx and 5xx, on a 200 it means nothing. The freshness of a
    redirect speaks of the redirect and is no floor; its ``X-Poll-Interval`` is. A redirect counts
    even if nothing came of going where it pointed.
    """
    floors = [_interval_of(hop) for hop in reply.hops]
    retries = [_stop(hop) for hop in reply.hops]
    if isinstance(reply, Response):
        floors.append(poll_floor(reply.headers, received_at=reply.received_at))
        retries.append(_stop(reply))
    return tuple(o for o in (_last(floors), _last(retries)) if o is not None)


def _stop(answer: Response | Hop) -> Objection | None:
    """The ``Retry-After`` of an answer whose status gives it a meaning."""
    if answer.status < 300:
        return None
    return retry_after(answer.headers, received_at=answer.received_at)


def _interval_of(hop: Hop) -> Objection | None:
    """The poll interval that a redirect asks for."""
    floors = _poll_intervals(hop.headers, hop.received_at)
    return _latest(floors, ObjectionName.FLOOR)


def _floors(headers: Headers, received_at: datetime) -> Iterator[tuple[datetime, str]]:
    """Every floor in the headers: the instant and the words for it."""
    yield from _poll_intervals(headers, received_at)
    directives = _cache_control(headers)
    if not any(directives.get(name) == "" for name in _NOT_FRESH):
        yield from _max_age(headers, directives.get("max-age"), received_at)
        yield from _expires(headers, received_at)


def _poll_intervals(headers: Headers, received_at: datetime) -> Iterator[tuple[datetime, str]]:
    for value in headers.all("x-poll-interval"):
        wait = _seconds(value)
        if wait:
            because = f"X-Poll-Interval: {_shown(value)}"
            yield _plausible(wait, because, received_at=received_at)


def _max_age(
    headers: Headers, value: str | None, received_at: datetime
) -> Iterator[tuple[datetime, str]]:
    lifetime = _seconds(value) if value else None
    if lifetime is not None:
        age = _seconds(headers.get("age") or "") or timedelta(0)
        because = f"Cache-Control: max-age={_shown(value or '')}"
        yield from _fresh(lifetime - age, because, received_at)


def _expires(headers: Headers, received_at: datetime) -> Iterator[tuple[datetime, str]]:
    value = headers.get("expires")
    expires = http_date(value)
    if expires is not None:
        sent = http_date(headers.get("date")) or received_at
        yield from _fresh(expires - sent, f"Expires: {_shown(value or '')}", received_at)


def _fresh(
    lifetime: timedelta, because: str, received_at: datetime
) -> Iterator[tuple[datetime, str]]:
    """A floor for what is left of a freshness lifetime, a day at most; none when it is over."""
    if lifetime > LONGEST_FRESHNESS:
        yield received_at + LONGEST_FRESHNESS, f"{because} (clamped to 1 day)"
    elif lifetime > timedelta(0):
        yield received_at + lifetime, because


def _plausible(wait: timedelta, because: str, *, received_at: datetime) -> tuple[datetime, str]:
    """The instant after ``wait``, or after 24 hours when it exceeds 30 days; the words say so."""
    if wait > LONGEST_PLAUSIBLE:
        return received_at + IMPLAUSIBLE_BECOMES, f"{because} (implausible, clamped to 24 h)"
    return received_at + wait, because


def _retry_wait(value: str, headers: Headers, received_at: datetime) -> timedelta | None:
    """How long a ``Retry-After`` value asks to wait; ``None`` for zero, past, unreadable."""
    wait = _seconds(value)
    if wait is None and (until := http_date(value)) is not None:
        wait = until - (http_date(headers.get("date")) or received_at)
    return wait if wait and wait > timedelta(0) else None


def _seconds(text: str) -> timedelta | None:
    """A count of seconds, a fraction rounded up; ``None`` when the text is no such number.

    Of several in one field, as proxies merge them, the largest.
    """
    if "," in text:
        parts = [_seconds(part) for part in text.split(",")]
        counts = [part for part in parts if part is not None]
        return max(counts) if len(counts) == len(parts) else None
    match = _SECONDS.fullmatch(text)
    if match is None or not match[1].isascii():
        return None
    digits = match[1].lstrip("0")
    whole = int(digits or "0") if len(digits) <= 10 else 10**10
    return timedelta(seconds=whole + math.ceil(float(f"0.{match[2] or 0}")))


def _cache_control(headers: Headers) -> dict[str, str]:
    """The directives of all ``Cache-Control`` fields; of repeated ones the largest number."""
    found: dict[str, str] = {}
    for value in headers.all("cache-control"):
        for name, quoted, plain in _DIRECTIVE.findall(value):
            text = quoted or plain
            earlier = _seconds(found.get(name.lower(), ""))
            later = _seconds(text)
            if earlier is None or (later is not None and later > earlier):
                found[name.lower()] = text
    return found


def _latest(found: Iterator[tuple[datetime, str]], name: ObjectionName) -> Objection | None:
    """The latest of the instants as an objection; of equal ones the first."""
    best: tuple[datetime, str] | None = None
    for until, because in found:
        if best is None or until > best[0]:
            best = (until, because)
    return Objection(name, *best) if best else None


def _last(objections: list[Objection | None]) -> Objection | None:
    """The objection with the latest instant; of equal ones the first."""
    present = [o for o in objections if o is not None]
    return max(present, key=lambda o: o.until, default=None)


def _shown(value: str) -> str:
    """A header value short enough for a sentence, without control characters."""
    printable = "".join(c if c.isprintable() else "?" for c in value.strip())
    return printable if len(printable) <= _SHOWN else printable[: _SHOWN - 1] + "…"
