"""What is watched: the configuration of a source, and nothing of its state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType

SourceId = NewType("SourceId", int)

MIN_INTERVAL = timedelta(seconds=10)
MAX_INTERVAL = timedelta(days=30)
MAX_NAME_LENGTH = 200


class SourceKind(StrEnum):
    """How a source is asked and read; each kind is an adapter, never a branch in the pipeline."""

    FEED = "feed"
    """RSS, Atom or RDF: one page, entries known by guid, link or content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSource:
    """A source about to be registered; its URL is a :func:`sourcemon.core.urls.pollable_url`."""

    kind: SourceKind
    url: str
    name: str
    interval: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A registered source as its operator configured it."""

    id: SourceId
    kind: SourceKind
    url: str
    name: str
    interval: timedelta
    """The wanted time from the end of one poll to the next."""
    enabled: bool
    created_at: datetime


def interval_problem(interval: timedelta) -> str | None:
    """What is wrong with a polling interval, or ``None`` when 10 s <= interval <= 30 days."""
    if MIN_INTERVAL <= interval <= MAX_INTERVAL:
        return None
    return f"an interval is between 10 seconds and 30 days, not {interval.total_seconds():.13g} s"
