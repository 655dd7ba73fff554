"""A site that behaves: feeds that change, validators that match or do not, and trouble on request.

It answers what an HTTP client would have made of its answers; no socket is involved.
"""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any
from xml.sax.saxutils import escape

from sourcemon.clock import FakeClock
from sourcemon.core.replies import (
    ErrorCategory,
    Failure,
    Headers,
    Hop,
    NoResponse,
    Reply,
    RequestPlan,
    Response,
)

NO_HEADERS: Mapping[str, str] = MappingProxyType({})
Answer = Callable[["Feed", RequestPlan], Reply]


@dataclass
class Item:
    """An item of a feed as its publisher keeps it."""

    guid: str
    title: str
    text: str = "text"

    def xml(self) -> str:
        return (
            f"<item><guid isPermaLink='false'>{escape(self.guid)}</guid>"
            f"<title>{escape(self.title)}</title>"
            f"<link>https://kiosk.test/{escape(self.guid)}</link>"
            f"<description>{escape(self.text)}</description></item>"
        )


class Feed:
    """One feed. It answers 304 to whoever holds its newest validators, unless told otherwise."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.items: list[Item] = []
        self.built = 0
        """Shown in the document, so that its bytes can change while its items do not."""
        self.has_etag = True
        self.last_modified: str | None = None
        self.headers: dict[str, str] = {}
        """Header fields of every answer."""
        self.answer_time = timedelta(0)
        self._script: deque[Answer] = deque()

    # What the publisher does.

    def publish(self, *titles: str) -> None:
        """Put new items on top, the last one highest."""
        for title in titles:
            self.items.insert(0, Item(guid=f"guid {title}", title=title))

    def edit(self, title: str, text: str) -> None:
        """Change the text of an item."""
        for item in self.items:
            if item.title == title:
                item.text = text

    def then(self, *answers: Answer) -> None:
        """Give these answers first, one for each request; afterwards as ever."""
        self._script.extend(answers)

    # What is served.

    @property
    def document(self) -> bytes:
        items = "".join(item.xml() for item in self.items)
        return (
            '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel>'
            f"<title>Kiosk</title><lastBuildDate>{self.built}</lastBuildDate>{items}"
            "</channel></rss>"
        ).encode()

    @property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.document).hexdigest()[:8]}"'

    def validators(self) -> dict[str, str]:
        found = {"ETag": self.etag} if self.has_etag else {}
        return found | ({"Last-Modified": self.last_modified} if self.last_modified else {})

    def answer(self, plan: RequestPlan) -> Reply:
        self.clock.advance(self.answer_time)
        return self._script.popleft()(self, plan) if self._script else as_ever(self, plan)

    def response(
        self,
        plan: RequestPlan,
        status: int,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] = NO_HEADERS,
        **fields: Any,
    ) -> Response:
        now = self.clock.now()
        return Response(
            url=plan.url,
            status=status,
            headers=Headers(tuple((self.headers | dict(headers)).items())),
            body=body,
            sent_at=now - self.answer_time,
            received_at=now,
            bytes_received=len(body),
            conditional=bool(plan.validators),
            **fields,
        )


# ── Answers ────────────────────────────────────────────────────────────────────────────────────


def as_ever(feed: Feed, plan: RequestPlan) -> Response:
    """304 if the asker holds what is current, else the document."""
    asked = plan.validators
    if asked.etag is not None:
        current = feed.has_etag and asked.etag == feed.etag
    else:
        current = asked.last_modified is not None and asked.last_modified == feed.last_modified
    if current:
        return feed.response(plan, 304, headers=feed.validators())
    return whole(feed, plan)


def whole(feed: Feed, plan: RequestPlan) -> Response:
    """The document, whatever the asker holds: many servers do not understand the question."""
    return feed.response(plan, 200, body=feed.document, headers=feed.validators())


def status(
    code: int, headers: Mapping[str, str] = NO_HEADERS, *, body: bytes = b"", **fields: Any
) -> Answer:
    """An answer with this status."""
    return lambda feed, plan: feed.response(plan, code, headers=headers, body=body, **fields)


def body(content: bytes) -> Answer:
    """A 200 with other bytes than the document's, and with validators."""
    return lambda feed, plan: feed.response(
        plan, 200, body=content, headers={"ETag": '"other"', "Last-Modified": "today"}
    )


def torn(feed: Feed, plan: RequestPlan) -> Response:
    """The document without its end, as a server sends it that dies while it writes."""
    cut = feed.document.rindex(b"<item>") + 20
    return feed.response(plan, 200, body=feed.document[:cut], headers=feed.validators())


def unusable_body(category: ErrorCategory, message: str) -> Answer:
    """A 200 whose body could not be taken."""
    return lambda feed, plan: feed.response(
        plan, 200, headers=feed.validators(), body_failure=Failure(category, message)
    )


def no_answer(category: ErrorCategory, message: str) -> Answer:
    """Nothing: look-up, connection, TLS or time failed."""
    return lambda feed, plan: NoResponse(
        url=plan.url,
        failure=Failure(category, message),
        sent_at=feed.clock.now(),
        received_at=feed.clock.now(),
    )


def by_way_of(code: int, headers: Mapping[str, str], answer: Answer = as_ever) -> Answer:
    """A redirect with these headers that was followed, and the answer behind it."""

    def redirected(feed: Feed, plan: RequestPlan) -> Reply:
        final = answer(feed, plan)
        hop = Hop(
            url=plan.url,
            status=code,
            headers=Headers(tuple(headers.items())),
            received_at=feed.clock.now(),
        )
        fields = {name: getattr(final, name) for name in final.__slots__} | {"hops": (hop,)}
        return type(final)(**fields)

    return redirected


def fault(error: BaseException) -> Answer:
    """No answer at all: a mistake in our own client, or a stop from outside."""

    def raised(feed: Feed, plan: RequestPlan) -> Reply:
        raise error

    return raised


def meanwhile(happens: Callable[[], object], answer: Answer = as_ever) -> Answer:
    """Something happens while the request is under way; then comes the answer."""

    def delayed(feed: Feed, plan: RequestPlan) -> Reply:
        happens()
        return answer(feed, plan)

    return delayed


class FakeSite:
    """The world as the operations see it: a fetcher for all feeds; it keeps what it was asked."""

    def __init__(self, clock: FakeClock) -> None:
        self._feeds: dict[str, Feed] = defaultdict(lambda: Feed(clock))
        self._lock = threading.Lock()
        self.asked: list[RequestPlan] = []

    def feed(self, url: str) -> Feed:
        """The feed at a URL, which is there from the first time it is asked for."""
        with self._lock:
            return self._feeds[url]

    def close(self) -> None:
        """Nothing is held open."""

    def fetch(self, plan: RequestPlan, *, heard: object = None) -> Reply:
        with self._lock:
            self.asked.append(plan)
        return self.feed(plan.url).answer(plan)
