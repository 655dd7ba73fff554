"""A local web site with scripted feeds, for the demonstration and the tests."""

from sourcemon.replay.access import Access
from sourcemon.replay.access_log import AccessLog
from sourcemon.replay.answers import Answer, Feed, Request
from sourcemon.replay.asks import Ask, AskKind
from sourcemon.replay.conditional import EtagKind
from sourcemon.replay.demo import DEMO_SOURCES, DemoSource, demo_feeds
from sourcemon.replay.desks import Attachment, Desk, Edit, Notice, Story
from sourcemon.replay.dialects import Dialect
from sourcemon.replay.early import EarlyRequest
from sourcemon.replay.newsroom import Every, Listed, Newsroom, Rhythm
from sourcemon.replay.scripted import (
    Altered,
    During,
    Fixed,
    expires,
    fails,
    gone_from,
    max_age,
    moved,
    no_validators,
    not_a_feed,
    poll_interval,
    redirects,
    retry_after,
    says,
    unconditional_304,
    volatile_etag,
)
from sourcemon.replay.site import ReplaySite
from sourcemon.replay.wire import Held, drip, resets, silent, slow, torn

__all__ = [
    "DEMO_SOURCES",
    "Access",
    "AccessLog",
    "Altered",
    "Answer",
    "Ask",
    "AskKind",
    "Attachment",
    "DemoSource",
    "Desk",
    "Dialect",
    "During",
    "EarlyRequest",
    "Edit",
    "EtagKind",
    "Every",
    "Feed",
    "Fixed",
    "Held",
    "Listed",
    "Newsroom",
    "Notice",
    "ReplaySite",
    "Request",
    "Rhythm",
    "Story",
    "demo_feeds",
    "drip",
    "expires",
    "fails",
    "gone_from",
    "max_age",
    "moved",
    "no_validators",
    "not_a_feed",
    "poll_interval",
    "redirects",
    "resets",
    "retry_after",
    "says",
    "silent",
    "slow",
    "torn",
    "unconditional_304",
    "volatile_etag",
]
