"""Step 2: make the walk's next request and note at once what the server asks of us."""

from __future__ import annotations

from dataclasses import dataclass

from sourcemon.core.paging import Outcome, after_reply, asking
from sourcemon.core.rate_limit import objections_of
from sourcemon.core.replies import Reply
from sourcemon.core.schedule import Objection
from sourcemon.core.sources import SourceId
from sourcemon.net.deadline import require_going_on
from sourcemon.operations.deps import CrashPoint, Deps
from sourcemon.operations.poll_context import Poll
from sourcemon.store import claims, polls
from sourcemon.store.session import instant


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFetched:
    """What a request came to, small enough to be shown anywhere."""

    page: int
    """1 for the first request of the walk."""
    http_status: int | None
    bytes_received: int
    outcome: Outcome | None
    """Set when the reply ended the walk; ``None`` when a page waits to be persisted."""
    error: str | None

    @property
    def is_last(self) -> bool:
        """Whether the walk is over, with nothing to persist."""
        return self.outcome is not None


def fetch_page(deps: Deps, poll: Poll) -> PageFetched:
    """Make the request that the walk wants next and take in the reply.

    The claim is renewed before; the run row is there before the first request. The server's hints
    are stored once the head has come, so that nothing in the body can make us forget them.

    Raises:
        ClaimLost: another worker took over; nothing was sent.
        DatabaseUnavailable: the database failed before or after the request.
        ValueError: the walk wants no request.
    """
    with poll.step():
        plan = poll.walk.plan
        if plan is None:
            raise ValueError("the walk wants no request")
        require_going_on()
        _announce(deps, poll)
        deps.reached(CrashPoint.ANNOUNCED)
        poll.walk = asking(poll.walk)
        hints = _Hints(deps, poll.context.source.id)
        reply = deps.http.fetch(plan, heard=hints.store)
        context = poll.context
        poll.walk = after_reply(
            poll.walk, reply, held=context.held, known_body_hash=context.known_body_hash
        )
        hints.store(reply)
        deps.reached(CrashPoint.HINTED)
    walk = poll.walk
    return PageFetched(
        page=walk.pages_fetched,
        http_status=walk.http_status,
        bytes_received=walk.bytes_received,
        outcome=walk.outcome,
        error=walk.failure.message if walk.failure else None,
    )


def _announce(deps: Deps, poll: Poll) -> None:
    """Renew the claim and, before the first request, open the run row."""
    context = poll.context
    with deps.database.write() as session:
        claims.renew(
            session,
            context.source.id,
            token=context.token,
            lease=deps.policies.claim_lease,
            instant=instant(session, deps.clock.lease_instant()),
        )
        if poll.run_id is None:
            poll.run_id = polls.begin_run(
                session,
                context.source.id,
                started_at=context.started_at,
                forced=context.forced,
            )


@dataclass(slots=True)
class _Hints:
    """What the server asks of us, stored as soon as it is heard and each of it once."""

    deps: Deps
    source_id: SourceId
    stored: frozenset[Objection] = frozenset()

    def store(self, reply: Reply) -> None:
        """Raise the objections of a reply, or of the head of one, that were not raised yet."""
        asked = [o for o in objections_of(reply) if o not in self.stored]
        if asked:
            with self.deps.database.write() as session:
                polls.raise_objections(session, self.source_id, asked)
            self.stored = self.stored.union(asked)
