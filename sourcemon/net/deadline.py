"""How long a whole fetch may still take; the only reader of the monotonic clock in net."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """The end of one fetch over all its hops, whatever the server does.

    It counts real time, also where ``now`` is a fake clock: a server's silence is real.
    """

    ends_at_s: float
    total: timedelta

    @classmethod
    def after(cls, total: timedelta) -> Deadline:
        """The deadline that lies ``total`` ahead."""
        return cls(ends_at_s=time.monotonic() + total.total_seconds(), total=total)

    def left_s(self) -> float:
        """Seconds that are left; zero or less once it has passed."""
        return self.ends_at_s - time.monotonic()

    def at_most(self, timeout_s: float | None) -> float:
        """``timeout_s``, or what is left if that is less; zero or less once it has passed."""
        left = self.left_s()
        return left if timeout_s is None else min(timeout_s, left)

    def lateness(self, timeout_s: float | None) -> str:
        """Words for having waited in vain: which of the two limits it was."""
        if timeout_s is None or self.left_s() <= 0:
            return f"not finished after {self.total.total_seconds():g} s in all"
        return f"nothing happened for {timeout_s:g} s"
