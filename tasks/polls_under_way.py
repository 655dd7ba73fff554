"""The polls and claims of this process, out of Prefect's sight: pages never enter its API."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from sourcemon.core.dispatch import ClaimedSource
from sourcemon.core.sources import SourceId
from sourcemon.operations.poll_context import Poll

CAPACITY = 1_000
"""More polls than one process ever has under way; beyond it something was not ended."""


class PollsUnderWay:
    """Polls by key, and claims that a dispatcher hands to the poll that will use them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._polls: dict[str, Poll] = {}
        self._claims: dict[SourceId, str] = {}

    def begin(self, poll: Poll) -> str:
        """Keep a poll that has begun; the key under which the steps find it.

        Raises:
            RuntimeError: 1000 polls are kept already.
        """
        context = poll.context
        key = f"{context.source.id}:{context.token}"
        with self._lock:
            if len(self._polls) >= CAPACITY:
                raise RuntimeError(f"{CAPACITY} polls are under way in this process")
            self._polls[key] = poll
        return key

    def get(self, key: str) -> Poll:
        """The poll under ``key``; ``KeyError`` once it was ended."""
        with self._lock:
            return self._polls[key]

    def end(self, key: str) -> None:
        """Forget a poll, with whatever page it still holds."""
        with self._lock:
            self._polls.pop(key, None)

    def count(self) -> int:
        """How many polls are under way."""
        with self._lock:
            return len(self._polls)

    def hand_over(self, claimed: Iterable[ClaimedSource]) -> None:
        """Keep claims for the polls of these sources that are about to begin in this process."""
        with self._lock:
            self._claims.update({source.source_id: source.token for source in claimed})

    def is_handed_over(self, source_id: SourceId) -> bool:
        """Whether a claim waits for a poll of that source."""
        with self._lock:
            return source_id in self._claims

    def take_over(self, source_id: SourceId) -> str | None:
        """The claim that waits for a poll of that source, once; ``None`` when none does."""
        with self._lock:
            return self._claims.pop(source_id, None)

    def not_begun(self, claimed: Iterable[ClaimedSource]) -> list[ClaimedSource]:
        """Those whose claim still waits, in the order given; they are forgotten here."""
        with self._lock:
            return [c for c in claimed if self._claims.pop(c.source_id, None) is not None]


polls_under_way = PollsUnderWay()
"""This process's own."""
