"""Step 1: may this source be polled now? The claim comes first, then the state is read again."""

from __future__ import annotations

from datetime import datetime

from sourcemon.core.cadence import is_public_host
from sourcemon.core.decisions import next_poll_at
from sourcemon.core.paging import Walk
from sourcemon.core.poll_state import PollState, PollStatus
from sourcemon.core.replies import Validators
from sourcemon.core.results import Deferral, DeferralKind
from sourcemon.core.schedule import Objection
from sourcemon.core.sources import Source, SourceId
from sourcemon.errors import BadSetting
from sourcemon.operations import kinds
from sourcemon.operations.deps import CrashPoint, Deps, Policies
from sourcemon.operations.poll_context import Poll, PollContext
from sourcemon.store import claims, polls, sources
from sourcemon.store.session import instant


def check_schedule(
    deps: Deps, source_id: SourceId, *, force: bool = False, token: str | None = None
) -> Poll | Deferral:
    """A poll ready for its first request, or the reason why there is none.

    ``token`` is a claim that the caller holds already; without one the source is claimed here. A
    deferral leaves no claim behind and corrects the cached next poll. ``force`` drops our own
    cadence and sends no validators; nothing else of a poll knows of it.

    Raises:
        UnknownSource: no source has that id.
        BadSetting: the source is not on this machine and no contact is set.
        ClaimLost: the claim under ``token`` is gone.
    """
    now = deps.clock.now()
    with deps.database.write() as session:
        source = sources.get(session, source_id)
        require_contact(source.url, deps.policies)
        if token is None:
            token = deps.clock.token()
            lease = deps.policies.claim_lease
            at = instant(session, deps.clock.lease_instant())
            if not claims.take(session, source_id, token=token, lease=lease, instant=at):
                return _busy(source)
        state = polls.lock(session, source_id, token=token)
        deferral = _deferral(source, state, now, force=force)
        if deferral is not None:
            cached = next_poll_at(state.schedule, enabled=source.enabled, status=state.status)
            polls.cache_next_poll(session, source_id, cached)
            claims.release(session, [source_id], token=token)
            return deferral
        polls.close_interrupted(session, source_id, now=now)
    deps.reached(CrashPoint.CLAIMED)
    return _begun(source, state, now, token=token, force=force)


def require_contact(url: str, policies: Policies) -> None:
    """Refuse to leave this machine without saying who we are.

    Raises:
        BadSetting: ``url`` is not on this machine and no contact is set.
    """
    if policies.contact is None and is_public_host(url):
        raise BadSetting(
            "no contact is set, and servers must be able to tell who asks: set"
            " SOURCEMON_CONTACT to an address or a page, e.g. mailto:ops@example.org"
        )


def _deferral(source: Source, state: PollState, now: datetime, *, force: bool) -> Deferral | None:
    """Why the source is not polled now; whether it may be polled at all comes before ``force``."""
    enable = f"`sourcemon enable {source.id}`"
    if not source.enabled:
        return _refused(source, DeferralKind.DISABLED, f"the source is switched off; {enable}")
    if state.status is PollStatus.GONE:
        why = f"the server said that it is gone ({state.last_error}); {enable} to try again"
        return _refused(source, DeferralKind.GONE, why)
    if state.status is PollStatus.FAILED:
        why = f"an operator must act: {state.last_error}; then {enable}"
        return _refused(source, DeferralKind.FAILED, why)
    binding = state.schedule.binding(force=force)
    if binding is None or binding.until <= now:
        return None
    return _not_due(source, binding)


def _begun(source: Source, state: PollState, now: datetime, *, token: str, force: bool) -> Poll:
    held = Validators() if force else state.validators
    context = PollContext(
        source=source,
        token=token,
        forced=force,
        started_at=now,
        held=held,
        known_body_hash=None if force else state.body_hash,
    )
    return Poll(context=context, walk=Walk(plan=kinds.first_request(source, held)))


def _refused(source: Source, kind: DeferralKind, reason: str) -> Deferral:
    return Deferral(source_id=source.id, source_name=source.name, kind=kind, reason=reason)


def _busy(source: Source) -> Deferral:
    reason = "another worker is polling it at this moment"
    return _refused(source, DeferralKind.BUSY, reason)


def _not_due(source: Source, binding: Objection) -> Deferral:
    return Deferral(
        source_id=source.id,
        source_name=source.name,
        kind=DeferralKind.NOT_DUE,
        reason=f"{binding.name}: {binding.because}",
        until=binding.until,
        objection=binding,
    )
