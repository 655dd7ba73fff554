"""The only reader of the clock and the die; everything else is told ``now`` and ``roll``."""

from __future__ import annotations

import random
import threading
import uuid
from datetime import UTC, datetime, timedelta


class SystemClock:
    """The machine's clock and a die; leases are left to the database's clock."""

    def now(self) -> datetime:
        """This instant, aware, in UTC."""
        return datetime.now(UTC)

    def roll(self) -> float:
        """A random number, 0 <= roll < 1."""
        return random.random()

    def token(self) -> str:
        """A random text that nobody else has or can guess."""
        return uuid.uuid4().hex

    def lease_instant(self) -> datetime | None:
        """``None``: claims are judged by the database's clock, the one that all workers share."""
        return None


class FakeClock:
    """A clock that stands still until it is moved, for the demonstration and the tests.

    Shared between threads; it never goes back. ``roll`` is always the number given.
    """

    def __init__(self, start: datetime, *, roll: float = 0.0) -> None:
        if start.tzinfo is None:
            raise ValueError("start must be an aware datetime")
        if not 0 <= roll < 1:
            raise ValueError(f"roll must be 0 <= roll < 1, got {roll}")
        self._now = start.astimezone(UTC)
        self._roll = roll
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """The instant the clock stands at."""
        with self._lock:
            return self._now

    def roll(self) -> float:
        """The number given at construction."""
        return self._roll

    def token(self) -> str:
        """A random text: two processes on a fake clock must not share a claim."""
        return uuid.uuid4().hex

    def lease_instant(self) -> datetime | None:
        """The instant the clock stands at: claims expire on this clock, too."""
        return self.now()

    def advance(self, by: timedelta) -> datetime:
        """Move on by ``by`` and return the new instant.

        Raises:
            ValueError: ``by`` is negative.
        """
        if by < timedelta(0):
            raise ValueError(f"a clock does not go back: {by}")
        with self._lock:
            self._now += by
            return self._now

    def jump_to(self, instant: datetime) -> datetime:
        """Move on to ``instant`` if it lies ahead; return where the clock now stands."""
        with self._lock:
            self._now = max(self._now, instant.astimezone(UTC))
            return self._now
