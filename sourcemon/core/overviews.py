"""What lists and answers are made of: sources, runs and items as a person asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sourcemon.core.changes import Counters
from sourcemon.core.health import Grade
from sourcemon.core.poll_state import PollState
from sourcemon.core.schedule import Objection, Schedule
from sourcemon.core.sources import Source, SourceId


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOverview:
    """A source, how its polls went, and when the next one comes."""

    source: Source
    state: PollState
    grade: Grade | None
    rolling_success_rate: Decimal | None
    items: int
    next_poll_at: datetime
    """The cached answer of the due index."""
    claimed_until: datetime | None
    """Set while a worker holds the right to poll it, or held it when it died."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOverview:
    """One poll as it was recorded."""

    id: int
    source_id: SourceId
    source_name: str
    status: str
    forced: bool
    started_at: datetime
    finished_at: datetime | None
    duration_ms: int | None
    http_status: int | None
    bytes_received: int
    pages_fetched: int
    counters: Counters
    stop_reason: str | None
    error_category: str | None
    error: str | None
    decision: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOverview:
    """One item without its long parts."""

    id: int
    source_id: SourceId
    source_name: str
    guid: str | None
    url: str | None
    title: str | None
    author: str | None
    published_at: datetime | None
    updated_at: datetime | None
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a source is polled when it is: every objection, and which one decides."""

    overview: SourceOverview
    schedule: Schedule
    now: datetime
    binding: Objection | None
    binding_forced: Objection | None
    """The objection that would decide a forced poll."""
    last_runs: tuple[RunOverview, ...]
    """Newest first."""

    @property
    def is_due(self) -> bool:
        """Whether nothing speaks against an unforced poll now."""
        return self.binding is None or self.binding.until <= self.now
