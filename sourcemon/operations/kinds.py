"""One adapter for each kind of source: how to ask, and how to read what comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from sourcemon.core.entries import Page, Unreadable
from sourcemon.core.replies import RequestPlan, Response, Validators
from sourcemon.core.sources import Source, SourceKind
from sourcemon.parse.feed import read_feed


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """What the pipeline asks of a kind; it never branches on the kind itself."""

    accept: str
    decode: Callable[[Response], Page | Unreadable]


def _feed_page(response: Response) -> Page | Unreadable:
    return read_feed(
        response.body,
        url=response.url,
        content_type=response.headers.get("content-type"),
        content_language=response.headers.get("content-language"),
    )


_FEED = Adapter(
    accept=(
        "application/atom+xml, application/rss+xml, application/rdf+xml;q=0.9,"
        " application/xml;q=0.8, text/xml;q=0.7, */*;q=0.1"
    ),
    decode=_feed_page,
)


def adapter_of(kind: SourceKind) -> Adapter:
    """The adapter of a kind."""
    match kind:
        case SourceKind.FEED:
            return _FEED
        case _:
            assert_never(kind)


def first_request(source: Source, validators: Validators) -> RequestPlan:
    """The request that a poll of the source begins with."""
    return RequestPlan(url=source.url, accept=adapter_of(source.kind).accept, validators=validators)
