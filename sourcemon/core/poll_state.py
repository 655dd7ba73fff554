"""What is remembered about polling one source, between one poll and the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from sourcemon.core.replies import ErrorCategory, Validators
from sourcemon.core.schedule import ObjectionName, Schedule


class PollStatus(StrEnum):
    """Whether a source may be polled at all; only an operator turns the last two back to idle."""

    IDLE = "idle"
    FAILED = "failed"
    """The server refused in a way that only an operator can mend."""
    GONE = "gone"
    """The server said 410: the resource is gone for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryProgress:
    """Where a source stands on its retry ladder; all at rest after a success."""

    attempt: int = 0
    """Retries granted in a row for this category; 0 when none is running."""
    category: ErrorCategory | None = None
    circuit_opened_at: datetime | None = None
    """Set from the first opening until a success, so that the next failure re-opens at once."""
    reopens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PollState:
    """The state of one source, owned by the verdict; the schedule holds its objections 1-4 and 8.

    The cache ``next_poll_at`` is no part of it: it is an answer, never an input.
    """

    status: PollStatus = PollStatus.IDLE
    schedule: Schedule = Schedule()
    validators: Validators = Validators()
    body_hash: str | None = None
    """SHA-256 of the newest body that was stored whole, in hex."""
    retry: RetryProgress = RetryProgress()
    consecutive_failures: int = 0
    last_polled_at: datetime | None = None
    last_success_at: datetime | None = None
    last_error: str | None = None


def enabled_again(state: PollState) -> PollState:
    """The state after an operator mended what was wrong: idle, our back-off and circuit lifted.

    What a server asked for stands, and so does our own interval.
    """
    schedule = state.schedule.without(ObjectionName.BACKOFF).without(ObjectionName.CIRCUIT)
    return replace(state, status=PollStatus.IDLE, schedule=schedule, retry=RetryProgress())
