"""Adding sources and switching them on and off."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from sourcemon.core.decisions import EVER, next_poll_at
from sourcemon.core.entries import storable
from sourcemon.core.poll_state import enabled_again
from sourcemon.core.sources import (
    MAX_NAME_LENGTH,
    NewSource,
    Source,
    SourceId,
    SourceKind,
    interval_problem,
)
from sourcemon.core.urls import pollable_url
from sourcemon.errors import Refused
from sourcemon.operations.check_schedule import require_contact
from sourcemon.operations.deps import Deps
from sourcemon.store import health, polls, sources


def add(
    deps: Deps,
    url: str,
    *,
    kind: SourceKind = SourceKind.FEED,
    name: str | None = None,
    interval: timedelta | None = None,
) -> Source:
    """Register a source without asking its server; its first poll is due at once.

    The name defaults to the host and path of the URL.

    Raises:
        BadUrl: ``url`` cannot be polled.
        Refused: the name is empty or too long, or the interval is out of range.
        DuplicateSource: the URL is watched already.
        BadSetting: the source is not on this machine and no contact is set.
    """
    stored_url = pollable_url(url)
    require_contact(stored_url, deps.policies)
    new = NewSource(
        kind=kind,
        url=stored_url,
        name=_name(name, stored_url),
        interval=_interval(deps.policies.default_interval if interval is None else interval),
    )
    with deps.database.write() as session:
        source = sources.add(session, new, now=deps.clock.now())
        polls.create(session, source.id, next_poll_at=EVER)
        health.create(session, source.id)
    return source


def enable(deps: Deps, source_id: SourceId) -> Source:
    """Switch a source on, and let it be polled again if it had failed for good or was gone.

    Our back-off and circuit end: somebody acted. The server's objections and our interval stay.

    Raises:
        UnknownSource: no source has that id.
    """
    return _switch(deps, source_id, enabled=True)


def disable(deps: Deps, source_id: SourceId) -> Source:
    """Switch a source off: it is not polled, not even by force, until it is enabled.

    Raises:
        UnknownSource: no source has that id.
    """
    return _switch(deps, source_id, enabled=False)


def _switch(deps: Deps, source_id: SourceId, *, enabled: bool) -> Source:
    """Set the switch and, in the same transaction, the cached next poll that depends on it."""
    with deps.database.write() as session:
        sources.set_enabled(session, source_id, enabled=enabled)
        state = polls.hold(session, source_id)
        if enabled:
            state = enabled_again(state)
            polls.start_afresh(session, source_id, state)
        due = next_poll_at(state.schedule, enabled=enabled, status=state.status)
        polls.cache_next_poll(session, source_id, due)
        return sources.get(session, source_id)


def _name(name: str | None, url: str) -> str:
    """The given name, storable and trimmed, or one made of the URL."""
    if name is None:
        parts = urlsplit(url)
        return f"{parts.netloc}{parts.path.rstrip('/')}"[:MAX_NAME_LENGTH]
    trimmed = " ".join(storable(name).split())
    if not 1 <= len(trimmed) <= MAX_NAME_LENGTH:
        raise Refused(f"a name has 1 to {MAX_NAME_LENGTH} characters, this one has {len(trimmed)}")
    return trimmed


def _interval(interval: timedelta) -> timedelta:
    problem = interval_problem(interval)
    if problem is not None:
        raise Refused(problem)
    return interval
