"""Regular upkeep of our own tables: what dead workers left behind."""

from __future__ import annotations

from collections.abc import Sequence

from sourcemon.core.upkeep import ScheduledPoll, Upkeep, has_lost_its_reason
from sourcemon.operations.deps import Deps
from sourcemon.store import claims, listing, polls
from sourcemon.store.session import instant


def reconcile(deps: Deps) -> Upkeep:
    """Free claims that have expired and close the runs that nobody works on any more.

    Neither is needed for a source to be polled again: a claim that has expired is taken anyway,
    and its taker closes the run. This keeps the history honest for sources that are not due.
    """
    with deps.database.write() as session:
        at = instant(session, deps.clock.lease_instant())
        freed = claims.free_expired(session, instant=at)
        closed = polls.close_orphans(session, now=deps.clock.now())
    return Upkeep(claims_freed=freed, runs_closed=closed)


def pointless(deps: Deps, scheduled: Sequence[ScheduledPoll]) -> tuple[ScheduledPoll, ...]:
    """Those of the scheduled polls that would find nothing to do."""
    ids = [poll.source_id for poll in scheduled]
    with deps.database.read() as session:
        due = {o.source.id: o.next_poll_at for o in listing.sources(session, ids)}
    return tuple(p for p in scheduled if has_lost_its_reason(p, due.get(p.source_id)))
