"""One poll's walk over the pages of a source: what was asked, what came, and why it ended.

The walk does no IO: it is told each reply and each page, and says what to ask next.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum

from sourcemon.core.changes import Counters
from sourcemon.core.entries import Page, Unreadable
from sourcemon.core.rate_limit import is_limit, objections_of
from sourcemon.core.replies import (
    ErrorCategory,
    Failure,
    NoResponse,
    Reply,
    RequestPlan,
    Response,
    Validators,
)
from sourcemon.core.schedule import Objection, ObjectionName


class Outcome(StrEnum):
    """What the first page decided about the poll."""

    COMPLETED = "completed"
    NOT_MODIFIED = "not_modified"
    LIMITED = "limited"
    FAILED = "failed"
    FAULT = "fault"
    """A fault of ours; it says nothing about the source."""


class StopReason(StrEnum):
    """Why a walk went no further."""

    UNCHANGED_BODY = "unchanged_body"
    """The very bytes that were stored whole last time: nothing was parsed."""
    NO_NEXT_LINK = "no_next_link"
    INTERRUPTED = "interrupted"
    """The worker died or was stopped; another one closed the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """A walk so far. ``plan`` is the request to make next, ``page`` the response to persist first.

    The walk is over when both are ``None``; ``outcome`` is then set.
    """

    plan: RequestPlan | None
    page: Response | None = None
    requests: int = 0
    pages_fetched: int = 0
    outcome: Outcome | None = None
    failure: Failure | None = None
    stop_reason: StopReason | None = None
    http_status: int | None = None
    bytes_received: int = 0
    counters: Counters = Counters()
    objections: tuple[Objection, ...] = ()
    """What the replies so far asked of us."""
    validators: Validators | None = None
    """The validators to hold after this poll; ``None`` leaves those held before."""
    body_hash: str | None = None
    """The hash of page one once it was stored whole; ``None`` leaves the one held before."""
    degraded: str | None = None
    """What was wrong with a page that was used all the same."""

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to fetch or to persist."""
        return self.plan is None and self.page is None

    @property
    def hinted(self) -> bool:
        """Whether the server said how often it wants to be asked."""
        return any(o.name is ObjectionName.FLOOR for o in self.objections)


def asking(walk: Walk) -> Walk:
    """The walk as its request is about to be sent: from now on the poll is an attempt."""
    return replace(walk, requests=walk.requests + 1)


def after_reply(
    walk: Walk, reply: Reply, *, held: Validators, known_body_hash: str | None = None
) -> Walk:
    """The walk once ``reply`` has come: it is over, or its page waits to be persisted.

    ``held`` are the validators before this poll. ``known_body_hash`` is the hash of the body that
    was stored whole last time, ``None`` to read the body whatever it is.
    """
    asked = walk.plan
    walk = replace(
        walk,
        plan=None,
        requests=walk.requests + len(reply.hops),
        objections=(*walk.objections, *objections_of(reply)),
    )
    if isinstance(reply, NoResponse):
        return failed(walk, reply.failure)
    walk = replace(
        walk,
        http_status=reply.status,
        bytes_received=walk.bytes_received + reply.bytes_received,
    )
    conditional = asked is not None and bool(asked.validators)
    if reply.status == 304:
        return _not_modified(walk, reply, held) if conditional else _unexpected_304(walk)
    if is_limit(reply):
        return replace(walk, outcome=Outcome.LIMITED, failure=_limit(reply))
    if not 200 <= reply.status < 300:
        return failed(walk, _refusal(reply))
    if reply.body_failure is not None:
        return failed(walk, reply.body_failure)
    return _page_one(walk, reply, known_body_hash)


def after_page(walk: Walk, page: Page, counters: Counters) -> Walk:
    """The walk once a decoded page has been persisted.

    Validators and body hash are held only when all of it was: not from a torn document, nor when
    an entry failed. Otherwise the next poll must see these bytes again. Sloppy markup alone is no
    reason: a feed that is never well-formed must still be able to answer 304.
    """
    whole = page.is_whole and counters.failed == 0
    answer = walk.page
    if answer is None:
        raise ValueError("no page was waiting to be persisted")
    return replace(
        walk,
        page=None,
        outcome=Outcome.COMPLETED,
        stop_reason=StopReason.NO_NEXT_LINK,
        counters=walk.counters + counters,
        degraded=page.degraded,
        validators=_validators_of(answer) if whole else None,
        body_hash=hash_of(answer.body) if whole else None,
    )


def after_unreadable(walk: Walk, unreadable: Unreadable) -> Walk:
    """The walk once its page turned out to be no page of its kind."""
    message = f"{unreadable.reason}: {unreadable.message}"
    return failed(replace(walk, page=None), Failure(ErrorCategory.PARSE, message))


def after_fault(walk: Walk, message: str, *, stop_reason: StopReason | None = None) -> Walk:
    """The walk once a fault of ours ended it; what was persisted before stays."""
    return replace(
        walk,
        plan=None,
        page=None,
        outcome=Outcome.FAULT,
        failure=Failure(ErrorCategory.INTERNAL, message),
        stop_reason=stop_reason,
        validators=None,
        body_hash=None,
    )


def failed(walk: Walk, failure: Failure) -> Walk:
    """The walk ended by what the world did."""
    return replace(walk, plan=None, page=None, outcome=Outcome.FAILED, failure=failure)


def hash_of(body: bytes) -> str:
    """The SHA-256 of a body in hex."""
    return hashlib.sha256(body).hexdigest()


def _page_one(walk: Walk, response: Response, known_body_hash: str | None) -> Walk:
    """The walk with a page to persist, or over because these bytes are stored already."""
    walk = replace(walk, pages_fetched=walk.pages_fetched + 1)
    if known_body_hash is not None and hash_of(response.body) == known_body_hash:
        return replace(
            walk,
            outcome=Outcome.COMPLETED,
            stop_reason=StopReason.UNCHANGED_BODY,
            validators=_validators_of(response),
        )
    return replace(walk, page=response)


def _validators_of(response: Response) -> Validators:
    """The validators of a response, byte for byte (RFC 9110 sections 8.8.2 and 8.8.3)."""
    return Validators(response.headers.get("etag"), response.headers.get("last-modified"))


def _not_modified(walk: Walk, response: Response, held: Validators) -> Walk:
    """A 304: each validator it carries replaces ours (RFC 9111 section 4.3.4)."""
    fresh = _validators_of(response)
    merged = Validators(
        held.etag if fresh.etag is None else fresh.etag,
        held.last_modified if fresh.last_modified is None else fresh.last_modified,
    )
    return replace(walk, outcome=Outcome.NOT_MODIFIED, validators=merged)


def _unexpected_304(walk: Walk) -> Walk:
    """A 304 to a question without a condition: a failure, and what we held is worth nothing."""
    message = "unexpected_304: the server answered 304 though no validators were sent"
    walk = replace(walk, validators=Validators())
    return failed(walk, Failure(ErrorCategory.HTTP, message))


def _limit(response: Response) -> Failure:
    message = f"the server limits us: HTTP {response.status}"
    return Failure(ErrorCategory.RATE_LIMITED, message)


def _refusal(response: Response) -> Failure:
    """What a status outside 2xx, 304 and the limits means."""
    status = response.status
    match status:
        case 401 | 407:
            return Failure(ErrorCategory.AUTH, f"HTTP {status}: the server wants credentials")
        case 403:
            return Failure(ErrorCategory.BLOCKED, "HTTP 403: the server refuses us")
        case 410:
            return Failure(ErrorCategory.GONE, "HTTP 410: the server says it is gone for good")
        case _ if 300 <= status < 400:
            message = f"HTTP {status}: a redirect without a usable Location"
            return Failure(ErrorCategory.HTTP, message)
        case _:
            return Failure(ErrorCategory.HTTP, f"HTTP {status}")
