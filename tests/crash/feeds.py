"""Feeds for polls that are cut off, and what is to be seen of each by whoever carries on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sourcemon.operations.deps import CrashPoint
from sourcemon.replay import (
    Edit,
    Feed,
    Listed,
    Newsroom,
    Notice,
    fails,
    poll_interval,
    retry_after,
)
from sourcemon.replay.waterside import HARBOUR
from tests.crash.world import INTERVAL, START

PATH = "/harbour/notices.xml"
ENTRIES = 3

WHOLE = (
    CrashPoint.CLAIMED,
    CrashPoint.ANNOUNCED,
    CrashPoint.HINTED,
    CrashPoint.PERSISTED,
    CrashPoint.BEFORE_VERDICT,
)
"""The points that a poll with a page passes."""
PAGELESS = tuple(point for point in WHOLE if point is not CrashPoint.PERSISTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """A feed, and what it makes of a poll that nobody cuts off."""

    feed: Callable[[Newsroom], Feed]
    status: str
    """What the poll comes to."""
    passes: tuple[CrashPoint, ...] = WHOLE
    is_second: bool = False
    """Whether a whole poll goes before."""
    asks_for: timedelta = timedelta(0)
    """How long the answer asks us to stay away."""
    objection: str | None = None
    """Under what name that is kept."""


def newsroom(path: str = PATH, *, entries: int = ENTRIES, later: int = 0) -> Newsroom:
    """A feed of so many entries, and ``later`` ones and a correction soon after the start."""
    published = [START - timedelta(hours=hours) for hours in range(entries, 0, -1)]
    published += [START + timedelta(minutes=number) for number in range(1, later + 1)]
    edits = (Edit(number=1, at=START + timedelta(minutes=5), title="Corrected"),) if later else ()
    return Newsroom(path, desk=HARBOUR, published=Listed(tuple(published)), edits=edits)


def _while_it_lasts(status: int) -> Callable[[Newsroom], Feed]:
    """Trouble that is over when the second poll after it comes."""
    return lambda feed: fails(feed, status=status, until=START + INTERVAL)


BEHAVIOURS = {
    "a plain page": Behaviour(feed=lambda feed: feed, status="completed"),
    "nothing new": Behaviour(
        feed=lambda feed: feed, status="not_modified", passes=PAGELESS, is_second=True
    ),
    "429 with Retry-After": Behaviour(
        feed=lambda feed: retry_after(_while_it_lasts(429)(feed), timedelta(minutes=30)),
        status="deferred",
        passes=PAGELESS,
        asks_for=timedelta(minutes=30),
        objection="retry_not_before_at",
    ),
    "503 with Retry-After": Behaviour(
        feed=lambda feed: retry_after(_while_it_lasts(503)(feed), timedelta(minutes=40)),
        status="deferred",
        passes=PAGELESS,
        asks_for=timedelta(minutes=40),
        objection="retry_not_before_at",
    ),
    "500": Behaviour(feed=_while_it_lasts(500), status="failed", passes=PAGELESS),
    "X-Poll-Interval": Behaviour(
        feed=lambda feed: poll_interval(feed, timedelta(minutes=15)),
        status="completed",
        asks_for=timedelta(minutes=15),
        objection="poll_floor_until",
    ),
    "new and corrected entries": Behaviour(
        feed=lambda feed: feed, status="completed", is_second=True
    ),
}


def published(feed: Newsroom) -> list[str]:
    """The titles of all that the feed shows in the end."""
    notices: tuple[Notice, ...] = feed.notices(START + timedelta(days=1))
    return sorted(notice.title for notice in notices)
