"""Replies, entries and sources made by hand, and the instants of the tests of core."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from sourcemon.core.replies import (
    ErrorCategory,
    Failure,
    Headers,
    Hop,
    NoResponse,
    RequestPlan,
    Response,
    Validators,
)
from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.core.sources import Source, SourceId, SourceKind

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
URL = "https://gazette.test/feed.xml"
MICROSECOND = timedelta(microseconds=1)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

Fields = Iterable[tuple[str, str]]


def http(instant: datetime) -> str:
    """An instant as an HTTP-date in its preferred form."""
    return instant.strftime("%a, %d %b %Y %H:%M:%S GMT")


def headers(*fields: tuple[str, str]) -> Headers:
    return Headers(fields)


def objection(
    name: ObjectionName, until: datetime = NOW, because: str = "because it is so"
) -> Objection:
    return Objection(name, until, because)


def hop(status: int = 301, fields: Fields = (), *, received_at: datetime = NOW) -> Hop:
    return Hop(url=URL, status=status, headers=Headers(tuple(fields)), received_at=received_at)


def response(
    status: int = 200,
    fields: Fields = (),
    *,
    body: bytes = b"<rss/>",
    body_failure: Failure | None = None,
    hops: tuple[Hop, ...] = (),
    received_at: datetime = NOW,
) -> Response:
    return Response(
        url=URL,
        status=status,
        headers=Headers(tuple(fields)),
        body=b"" if body_failure else body,
        body_failure=body_failure,
        hops=hops,
        sent_at=received_at,
        received_at=received_at,
        bytes_received=len(body),
    )


def no_response(
    category: ErrorCategory = ErrorCategory.TIMEOUT,
    *,
    hops: tuple[Hop, ...] = (),
    received_at: datetime = NOW,
) -> NoResponse:
    failure = Failure(category, f"gazette.test:443 {category}")
    return NoResponse(
        url=URL, failure=failure, hops=hops, sent_at=received_at, received_at=received_at
    )


def plan(validators: Validators = Validators()) -> RequestPlan:
    return RequestPlan(url=URL, accept="*/*", validators=validators)


def source(
    *,
    url: str = URL,
    interval: timedelta = HOUR,
    kind: SourceKind = SourceKind.FEED,
) -> Source:
    return Source(
        id=SourceId(7),
        kind=kind,
        url=url,
        name="The Gazette",
        interval=interval,
        enabled=True,
        created_at=NOW - DAY,
    )
