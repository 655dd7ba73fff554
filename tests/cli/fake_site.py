"""A site without a network: it honours validators, counts what it was asked, and may fail."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sourcemon.core.replies import (
    ErrorCategory,
    Failure,
    Headers,
    NoResponse,
    Reply,
    RequestPlan,
    Response,
)


@dataclass(slots=True, kw_only=True)
class Feed:
    """What the site answers under one URL."""

    titles: tuple[str, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    unreachable: bool = False
    meanwhile: Callable[[], None] = lambda: None
    """Happens while the request is under way."""

    def body(self) -> bytes:
        """An RSS document with an item for each title."""
        items = "".join(
            f"<item><guid>{number}</guid><link>https://site.test/{number}</link>"
            f"<title>{title}</title></item>"
            for number, title in enumerate(self.titles, start=1)
        )
        channel = f"<channel><title>A feed</title>{items}</channel>"
        return f'<?xml version="1.0"?><rss version="2.0">{channel}</rss>'.encode()


class FakeSite:
    """The way to a network that has these feeds and nothing else."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.feeds: dict[str, Feed] = {}
        self.asked: list[str] = []
        self._now = now

    def fetch(self, plan: RequestPlan, *, heard: object = None) -> Reply:
        """The answer of the feed under the plan's URL, 404 where there is none."""
        self.asked.append(plan.url)
        feed = self.feeds.get(plan.url, Feed(status=404))
        feed.meanwhile()
        now = self._now()
        if feed.unreachable:
            failure = Failure(ErrorCategory.NETWORK, "connection refused")
            return NoResponse(url=plan.url, failure=failure, sent_at=now, received_at=now)
        body = feed.body()
        etag = f'"{hashlib.sha256(body).hexdigest()[:8]}"'
        status = feed.status
        if status == 200 and plan.validators.etag == etag:
            status, body = 304, b""
        headers = {"Content-Type": "application/rss+xml", "ETag": etag, **feed.headers}
        return Response(
            url=plan.url,
            status=status,
            headers=Headers(tuple(headers.items())),
            body=body,
            sent_at=now,
            received_at=now,
            conditional=bool(plan.validators),
        )

    def close(self) -> None:
        """Nothing is open."""
