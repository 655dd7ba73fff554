"""Taking due sources for one tick of the fleet, and giving back those that were not reached."""

from __future__ import annotations

from collections.abc import Sequence

from sourcemon.core.dispatch import ClaimedSource
from sourcemon.operations.check_schedule import require_contact
from sourcemon.operations.deps import Deps
from sourcemon.store import claims
from sourcemon.store.session import instant


def claim_due(deps: Deps, *, limit: int) -> tuple[ClaimedSource, ...]:
    """Up to ``limit`` due sources, the longest overdue first, each now ours to poll.

    Raises:
        BadSetting: one of them is not on this machine and no contact is set; none is claimed then.
        DatabaseUnavailable: the database failed.
        ValueError: ``limit`` is below 1.
    """
    if limit < 1:
        raise ValueError(f"limit must be >= 1, got {limit}")
    with deps.database.write() as session:
        claimed = claims.take_due(
            session,
            token=deps.clock.token(),
            limit=limit,
            lease=deps.policies.claim_lease,
            instant=instant(session, deps.clock.lease_instant()),
        )
        for source in claimed:
            require_contact(f"http://{source.host}", deps.policies)
    return claimed


def release_unstarted(deps: Deps, claimed: Sequence[ClaimedSource]) -> None:
    """Give back sources that this tick has no time left for, exactly as they were."""
    with deps.database.write() as session:
        for source in claimed:
            claims.release(session, [source.source_id], token=source.token)
