"""Which attempts deserve a scheduled run of their own, so that people see what is to come.

Such a run is a hint: the row in the database decides, and the run asks it again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sourcemon.core.results import Deferral, DeferralKind, PollResult

WORTH_A_RUN = timedelta(minutes=2)
"""A run of its own costs seconds of a processor; nearer instants are left to the due index."""
LEFT_TO_THE_RUN = timedelta(minutes=2)
"""How long after its instant a run may come before the due index takes the source itself."""
MOST_OUTSTANDING = 200
"""With more scheduled runs than this the due index carries the rest alone."""


def retry_at(result: PollResult, *, now: datetime) -> datetime | None:
    """The instant of a retry that the ladder granted, if it is worth a scheduled run."""
    return result.next_poll_at if result.retries and _is_worth(result.next_poll_at, now) else None


def deferred_until(deferral: Deferral, *, now: datetime) -> datetime | None:
    """The instant that a poll a person asked for waits for, if it is worth a scheduled run."""
    until = deferral.until
    if deferral.kind is not DeferralKind.NOT_DUE or until is None:
        return None
    return until if _is_worth(until, now) else None


def _is_worth(instant: datetime, now: datetime) -> bool:
    return instant - now >= WORTH_A_RUN
