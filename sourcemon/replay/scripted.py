"""Behaviours that need no network trick: other statuses, other headers, validators that lie.

Each takes a feed and returns a feed of the same path, so that they compose:
``max_age(fails(newsroom, status=503, until=noon), timedelta(minutes=5))``.
Windows are half open: ``from_ <= now < until``, ``None`` being no bound.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta

from sourcemon.core.replies import Headers
from sourcemon.replay.answers import Answer, Feed, Request, http_date

SUCCESSES = frozenset({200, 304})
LIMITED = frozenset({429, 503})

_HTML = Headers((("Content-Type", "text/html; charset=utf-8"),))
_LOGIN_PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>Harbour Guest Wi-Fi</title></head>
<body><h1>Ahoy! Please sign in</h1>
<form method="post" action="/login"><label>Cabin <input name="cabin"></label>
<button>Go online</button></form></body></html>
"""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A feed that always gives the same answer."""

    path: str
    always: Answer

    def answer(self, request: Request) -> Answer:
        """The answer given at construction, whatever is asked."""
        return self.always


@dataclass(frozen=True, slots=True)
class During:
    """A feed for which ``instead`` answers between two instants."""

    feed: Feed
    instead: Feed
    from_: datetime | None = None
    until: datetime | None = None

    @property
    def path(self) -> str:
        """The path of the feed, not of its stand-in."""
        return self.feed.path

    def answer(self, request: Request) -> Answer:
        """The stand-in's answer inside the window, else the feed's."""
        begun = self.from_ is None or self.from_ <= request.at
        over = self.until is not None and self.until <= request.at
        return (self.instead if begun and not over else self.feed).answer(request)


@dataclass(frozen=True, slots=True)
class Altered:
    """A feed whose answers are changed on their way out, and before that, perhaps, the question."""

    feed: Feed
    alter: Callable[[Request, Answer], Answer]
    ask: Callable[[Request], Request] | None = None

    @property
    def path(self) -> str:
        """The path of the feed."""
        return self.feed.path

    def answer(self, request: Request) -> Answer:
        """The altered answer; ``alter`` sees the request as it came."""
        asked = self.ask(request) if self.ask else request
        return self.alter(request, self.feed.answer(asked))


def fails(
    feed: Feed, *, status: int, from_: datetime | None = None, until: datetime | None = None
) -> Feed:
    """An error status with a short HTML body inside the window."""
    body = f"<h1>{status}</h1><p>The replay site plays a fault.</p>".encode()
    failing = Fixed(feed.path, Answer(status=status, headers=_HTML, body=body))
    return During(feed, failing, from_, until)


def gone_from(feed: Feed, instant: datetime) -> Feed:
    """410 from ``instant`` on, for good."""
    return fails(feed, status=410, from_=instant)


def not_a_feed(feed: Feed, *, from_: datetime | None = None, until: datetime | None = None) -> Feed:
    """A captive portal's log-in page with status 200 inside the window."""
    portal = Fixed(feed.path, Answer(status=200, headers=_HTML, body=_LOGIN_PAGE.encode()))
    return During(feed, portal, from_, until)


def moved(path: str, to: str, *, status: int = 302) -> Feed:
    """A path that holds nothing but a redirect; ``to`` is a path of this site or a URL."""
    return Fixed(path, Answer(status=status, headers=Headers((("Location", to),))))


def redirects(
    feed: Feed,
    to: str,
    *,
    status: int = 302,
    from_: datetime | None = None,
    until: datetime | None = None,
) -> Feed:
    """A redirect in the place of the feed inside the window."""
    return During(feed, moved(feed.path, to, status=status), from_, until)


def retry_after(feed: Feed, wait: timedelta | datetime, *, on: AbstractSet[int] = LIMITED) -> Feed:
    """``Retry-After`` on these statuses: a duration as seconds, an instant as an HTTP-date."""
    value = http_date(wait) if isinstance(wait, datetime) else _seconds(wait)
    return says(feed, "Retry-After", value, on=on)


def max_age(feed: Feed, lifetime: timedelta, *, on: AbstractSet[int] | None = SUCCESSES) -> Feed:
    """``Cache-Control: max-age`` on these statuses, on all of them with ``None``."""
    return says(feed, "Cache-Control", f"max-age={_seconds(lifetime)}", on=on)


def expires(feed: Feed, lifetime: timedelta, *, on: AbstractSet[int] | None = SUCCESSES) -> Feed:
    """``Expires`` at the instant of the request + ``lifetime``."""

    def alter(request: Request, answer: Answer) -> Answer:
        if on is not None and answer.status not in on:
            return answer
        return answer.with_header("Expires", http_date(request.at + lifetime))

    return Altered(feed, alter)


def poll_interval(
    feed: Feed, interval: timedelta, *, on: AbstractSet[int] | None = SUCCESSES
) -> Feed:
    """``X-Poll-Interval`` in seconds, as GitHub's event feeds send it."""
    return says(feed, "X-Poll-Interval", _seconds(interval), on=on)


def says(feed: Feed, name: str, value: str, *, on: AbstractSet[int] | None = None) -> Feed:
    """Any header field, in the place of the feed's own of that name."""

    def alter(_request: Request, answer: Answer) -> Answer:
        speaks = on is None or answer.status in on
        return answer.with_header(name, value) if speaks else answer

    return Altered(feed, alter)


def no_validators(feed: Feed) -> Feed:
    """A site that has never heard of validators: none sent, none obeyed, always the whole body."""
    return Altered(
        feed,
        lambda _, answer: answer.without_headers("ETag", "Last-Modified"),
        lambda request: request.without("If-None-Match", "If-Modified-Since"),
    )


def volatile_etag(feed: Feed) -> Feed:
    """A new entity tag on every answer, so that a client that sends one back never gets a 304."""

    def ask(request: Request) -> Request:
        if request.headers.get("if-none-match") is None:
            return request
        return request.without("If-None-Match", "If-Modified-Since")

    return Altered(feed, lambda request, a: a.with_header("ETag", f'"v{request.serial}"'), ask)


def unconditional_304(
    feed: Feed, *, from_: datetime | None = None, until: datetime | None = None
) -> Feed:
    """304 to everything inside the window, even to a request without validators."""
    return During(feed, Fixed(feed.path, Answer(status=304)), from_, until)


def _seconds(duration: timedelta) -> str:
    return str(duration // timedelta(seconds=1))
