"""What a scripted feed is asked and what it answers, as values. No content, no sockets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from enum import Enum, auto
from threading import Event
from typing import Protocol

from sourcemon.core.replies import Headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A GET as it reached the site. Two requests of one site never share a serial."""

    path: str
    query: str = ""
    headers: Headers = Headers()
    at: datetime
    """When it arrived, on the site's clock."""
    serial: int = 0
    """Its place in the site's order of arrival, from 0."""

    def without(self, *names: str) -> Request:
        """This request as if the fields ``names`` had not been sent."""
        return replace(self, headers=_without(self.headers, names))


class Silence(Enum):
    """How a site that sends nothing at all behaves."""

    HANGS = auto()
    """It keeps the connection open until the client leaves or the site stops."""
    RESETS = auto()
    """It resets the connection at once."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The body leaves in pieces of ``size`` bytes, ``pause_s`` real seconds before each."""

    size: int
    pause_s: float

    def __post_init__(self) -> None:
        if self.size < 1 or self.pause_s < 0:
            raise ValueError(f"a pace needs size >= 1 and pause_s >= 0, got {self}")


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """Two events by which a test holds answers: the site sets ``entered``, the test ``release``."""

    entered: Event = field(default_factory=Event)
    """Set when the first request has arrived and is being held."""
    release: Event = field(default_factory=Event)
    """Once set, the held answer and all later ones pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What goes out, and how. The site adds ``Date``, ``Server`` and ``Content-Length``."""

    status: int
    headers: Headers = Headers()
    body: bytes = b""
    delay_s: float = 0.0
    """Real seconds before the status line."""
    pace: Pace | None = None
    gate: Gate | None = None
    withheld: int = 0
    """Bytes at the end of the body that are promised and never sent; the connection then closes."""
    silence: Silence | None = None
    """If set, nothing is sent, whatever the other fields say."""

    def __post_init__(self) -> None:
        if not 0 <= self.withheld <= len(self.body):
            raise ValueError(f"cannot withhold {self.withheld} of {len(self.body)} bytes")
        if self.delay_s < 0:
            raise ValueError(f"delay_s must be >= 0, got {self.delay_s}")

    def with_header(self, name: str, value: str) -> Answer:
        """This answer with ``name: value`` in the place of every field of that name."""
        kept = _without(self.headers, (name,))
        return replace(self, headers=Headers((*kept.fields, (name, value))))

    def without_headers(self, *names: str) -> Answer:
        """This answer without any field of these names."""
        return replace(self, headers=_without(self.headers, names))


class Feed(Protocol):
    """A script for one path: a pure function of the request, which carries the instant.

    It does not wait, send or keep count; what takes time is said in the answer.
    """

    @property
    def path(self) -> str:
        """The exact path it answers, with its leading slash and without a query."""
        ...

    def answer(self, request: Request) -> Answer:
        """The answer to a request for :attr:`path`. Called from many threads at once."""
        ...


def http_date(at: datetime) -> str:
    """``at`` as an IMF-fixdate, fractions of a second cut off (RFC 9110 section 5.6.7)."""
    return format_datetime(at.astimezone(UTC), usegmt=True)


def _without(headers: Headers, names: tuple[str, ...]) -> Headers:
    """``headers`` less every field of these names, case ignored."""
    dropped = {name.lower() for name in names}
    return Headers(tuple(f for f in headers.fields if f[0].lower() not in dropped))
