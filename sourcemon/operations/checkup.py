"""A look at our own part of the installation: database, contact, clock, schedule."""

from __future__ import annotations

from datetime import datetime, timedelta

from sourcemon.core import checkup
from sourcemon.core.cadence import is_public_host
from sourcemon.core.checkup import Finding, State
from sourcemon.operations.deps import Deps
from sourcemon.store import listing
from sourcemon.store.session import instant


def examine(deps: Deps) -> tuple[Finding, ...]:
    """How database, contact, clock and schedule stand, in this order.

    Raises:
        DatabaseUnavailable: the database failed, so that nothing can be said of the rest.
    """
    with deps.database.read() as session:
        watched = listing.sources(session)
        at = instant(session, deps.clock.lease_instant())
    now = deps.clock.now()
    waiting = [o for o in watched if o.next_poll_at <= at and not _is_claimed(o.claimed_until, at)]
    since = [max(o.next_poll_at, o.source.created_at) for o in waiting]
    longest = now - min(since) if since else timedelta(0)
    public = sum(is_public_host(o.source.url) for o in watched)
    return (
        Finding(
            subject="database",
            state=State.OK,
            message=f"{deps.database.shown}, {len(watched)} sources",
        ),
        checkup.contact(deps.policies.contact, public),
        checkup.clock(now, at),
        checkup.schedule(len(waiting), longest),
    )


def _is_claimed(until: datetime | None, at: datetime) -> bool:
    return until is not None and until > at
