"""Step 3: decode the page that waits and store what is new in it, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass

from sourcemon.core.changes import Counters, changes, keyed
from sourcemon.core.entries import Page, Unreadable
from sourcemon.core.paging import after_page, after_unreadable
from sourcemon.operations import kinds
from sourcemon.operations.deps import CrashPoint, Deps
from sourcemon.operations.poll_context import Poll
from sourcemon.store import items, polls


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePersisted:
    """What became of a page: its counters, and whether it ended the walk."""

    counters: Counters
    is_last: bool
    error: str | None = None
    """Why the body was no page of its kind, or was used though faulty."""


def persist_page(deps: Deps, poll: Poll) -> PagePersisted:
    """Store the entries of the page that waits and say what became of it.

    A body that is no page of its kind ends the walk as a failure of the source. The page's bytes
    are dropped here.

    Raises:
        ClaimLost: another worker took over; nothing of the page is stored.
        DatabaseUnavailable: the database failed; nothing of the page is stored.
        ValueError: no page waits.
    """
    with poll.step():
        waiting = poll.walk.page
        if waiting is None:
            raise ValueError("no page waits to be persisted")
        page = kinds.adapter_of(poll.context.source.kind).decode(waiting)
        if isinstance(page, Unreadable):
            counters = Counters()
            poll.walk = after_unreadable(poll.walk, page)
        else:
            counters = _stored(deps, poll, page)
            poll.walk = after_page(poll.walk, page, counters)
            deps.reached(CrashPoint.PERSISTED)
    walk = poll.walk
    error = walk.failure.message if walk.failure else walk.degraded
    return PagePersisted(counters=counters, is_last=walk.is_over, error=error)


def _stored(deps: Deps, poll: Poll, page: Page) -> Counters:
    """The counters after new and edited entries were written under our claim."""
    source_id = poll.context.source.id
    by_key = keyed(page.entries)
    with deps.database.write() as session:
        polls.lock(session, source_id, token=poll.context.token)
        known = items.known(session, source_id, by_key)
        found = changes(by_key, known, seen=len(page.entries))
        return items.write(session, source_id, found, now=deps.clock.now())
