"""One request to the replay site and what became of it, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sourcemon.core.replies import Headers
from sourcemon.replay.asks import Ask


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """A line of the access log. Secrets are not kept, only whether one was sent."""

    serial: int
    """Its place in the order of arrival, from 0."""
    at: datetime
    """When it arrived, on the site's clock."""
    began_s: float
    """When it arrived, in seconds of the real monotonic clock."""
    ended_s: float | None = None
    """Taken just before the last byte left, so that no client can act on it earlier; ``None``
    while the answer is under way."""
    method: str
    host: str | None
    path: str
    query: str
    user_agent: str | None
    accept: str | None
    if_none_match: str | None
    if_modified_since: str | None
    has_authorization: bool
    status: int | None = None
    """``None`` until the head of the answer is sent: so for good when the site stays silent."""
    body_bytes: int = 0
    """Bytes of the body that were sent."""
    asks: tuple[Ask, ...] = ()
    """What the answer asked the client to wait for."""

    @property
    def is_conditional(self) -> bool:
        """Whether a validator was sent."""
        return self.if_none_match is not None or self.if_modified_since is not None


def arrival(
    *, serial: int, at: datetime, began_s: float, method: str, target: str, headers: Headers
) -> Access:
    """The log line of a request that has just been read; ``target`` is its path with its query."""
    path, _, query = target.partition("?")
    return Access(
        serial=serial,
        at=at,
        began_s=began_s,
        method=method,
        host=headers.get("host"),
        path=path,
        query=query,
        user_agent=headers.get("user-agent"),
        accept=headers.get("accept"),
        if_none_match=headers.get("if-none-match"),
        if_modified_since=headers.get("if-modified-since"),
        has_authorization=headers.get("authorization") is not None,
    )
