"""Is this reply a limit, and how long is the source held back for it?"""

from __future__ import annotations

from datetime import timedelta

from sourcemon.core.headers import retry_after, server_objections
from sourcemon.core.replies import Reply, Response
from sourcemon.core.schedule import Objection, ObjectionName, Schedule

UNHINTED_WAIT = timedelta(minutes=15)
"""How long a source rests when a server limits us without saying for how long."""


def is_limit(response: Response) -> bool:
    """Whether the server told us to slow down.

    That is a 429, a 403 or 503 with any ``Retry-After`` field, and a redirect that is to be
    followed later (RFC 6585 section 4, RFC 9110 section 10.2.3).
    """
    if response.status == 429:
        return True
    if response.status in {403, 503}:
        return response.headers.get("retry-after") is not None
    return 300 <= response.status < 400 and _asks_to_wait(response)


def objections_of(reply: Reply) -> tuple[Objection, ...]:
    """All that a reply asks of us: its floor and its retry instant, each at most once.

    A limit without a usable ``Retry-After`` gets 15 minutes from receipt.
    """
    asked = Schedule.of(server_objections(reply))
    if isinstance(reply, Response) and is_limit(reply) and not _asks_to_wait(reply):
        asked = asked.raising(_unhinted(reply))
    return asked.objections


def _asks_to_wait(response: Response) -> bool:
    """Whether the answer itself, not a redirect before it, names an instant ahead."""
    return retry_after(response.headers, received_at=response.received_at) is not None


def _unhinted(response: Response) -> Objection:
    minutes = int(UNHINTED_WAIT.total_seconds() // 60)
    because = f"HTTP {response.status} without a usable Retry-After: {minutes} min by our policy"
    return Objection(ObjectionName.RETRY, response.received_at + UNHINTED_WAIT, because)
