"""What the regular upkeep mends, and when a scheduled run has lost its reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sourcemon.core.schedule import NEVER
from sourcemon.core.sources import SourceId


@dataclass(frozen=True, slots=True, kw_only=True)
class Upkeep:
    """What one round of upkeep did; all zero when nothing had gone wrong."""

    claims_freed: int
    """Claims that had expired: their workers died or were stopped hard."""
    runs_closed: int
    """Runs that those workers had left open, now failed as interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledPoll:
    """A run of ``poll-source`` that waits for its instant."""

    source_id: SourceId
    at: datetime
    force: bool


def has_lost_its_reason(scheduled: ScheduledPoll, next_poll_at: datetime | None) -> bool:
    """Whether the run would find nothing to do.

    ``next_poll_at`` is the source's cached next poll, far away for one that waits for an operator
    and ``None`` for one that is no more. A forced run is not bound by the cadence in it, so only
    a source that nobody may poll makes it pointless.
    """
    if next_poll_at is None:
        return True
    return next_poll_at >= NEVER if scheduled.force else next_poll_at > scheduled.at
