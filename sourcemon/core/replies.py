"""What a request to the world came to, as a value: a response, or the failure to get one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class ErrorCategory(StrEnum):
    """Why a poll failed; stored in ``poll_runs.error_category`` and the key of the retry table."""

    NETWORK = "network"
    TIMEOUT = "timeout"
    TLS = "tls"
    HTTP = "http"
    AUTH = "auth"
    BLOCKED = "blocked"
    RATE_LIMITED = "rate_limited"
    PARSE = "parse"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    GONE = "gone"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that went wrong in the world: its category and a sentence a person can read."""

    category: ErrorCategory
    message: str


@dataclass(frozen=True, slots=True)
class Headers:
    """Header fields in the order they came, looked up without regard to case; nothing is merged."""

    fields: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str | None:
        """The first value of the field ``name``, or ``None`` when it was not sent."""
        return next(self.all(name), None)

    def all(self, name: str) -> Iterator[str]:
        """Every value of the field ``name``, in order."""
        wanted = name.lower()
        return (value for key, value in self.fields if key.lower() == wanted)


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave us to ask "changed since?" with, kept and returned byte for byte."""

    etag: str | None = None
    last_modified: str | None = None

    def __bool__(self) -> bool:
        return self.etag is not None or self.last_modified is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPlan:
    """One GET to be made: where, what we accept, and the validators that make it conditional."""

    url: str
    accept: str
    validators: Validators = Validators()


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """The caps of one fetch, hops included; a server that exceeds one gets a :class:`Failure`."""

    max_body_bytes: int = 10_000_000
    """Bytes after decompression."""
    max_ratio: int = 100
    """Decompressed bytes per compressed byte, judged once a body exceeds 1 MB."""
    max_header_bytes: int = 65_536
    max_redirects: int = 5
    connect_timeout: timedelta = timedelta(seconds=5)
    read_timeout: timedelta = timedelta(seconds=15)
    """The longest silence between two pieces."""
    total_timeout: timedelta = timedelta(seconds=60)
    """From the first look-up to the last byte, over all hops: a slow drip ends here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One redirect: its status and headers, and the URL that sent it.

    The last one of a reply may not have been followed, where its target was refused.
    """

    url: str
    status: int
    headers: Headers
    received_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response with a status; its body may still be unusable, which ``body_failure`` says."""

    url: str
    """The URL that answered, after redirects."""
    status: int
    headers: Headers
    body: bytes
    body_failure: Failure | None = None
    """Set when the body was too large, torn or not to be unpacked; ``body`` is then empty."""
    hops: tuple[Hop, ...] = ()
    sent_at: datetime
    """When the last request was sent, the one that this answers."""
    received_at: datetime
    bytes_received: int = 0
    """Bytes of the final body as they came over the wire."""
    conditional: bool = False
    """Whether validators were sent to the URL that answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoResponse:
    """No usable status line: look-up, connection, TLS or time failed, or we refused to go there."""

    url: str
    """The URL that was being asked when it failed."""
    failure: Failure
    hops: tuple[Hop, ...] = ()
    sent_at: datetime
    received_at: datetime


Reply = Response | NoResponse
