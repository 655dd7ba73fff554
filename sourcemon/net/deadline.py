"""How long a whole fetch may still take; and whether it should go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta

from sourcemon.errors import Stopped

_STOP: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


@contextmanager
def stoppable(stop: threading.Event) -> Iterator[None]:
    """Let fetches that are begun inside, or in threads with this context, end once it is set."""
    token = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(token)


def require_going_on() -> None:
    """Go on unless the caller was told to stop.

    Raises:
        Stopped: it was.
    """
    stop = _STOP.get()
    if stop is not None and stop.is_set():
        raise Stopped("the process was told to end")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """The end of one fetch over all its hops, whatever the server does.

    It counts real time, also where ``now`` is a fake clock: a server's silence is real.
    """

    ends_at_s: float
    total: timedelta
    stop: threading.Event = field(default_factory=threading.Event)
    """Set when this process is to end: whoever waits then gives up within a second."""

    @classmethod
    def after(cls, total: timedelta) -> Deadline:
        """The deadline that lies ``total`` ahead, or the stop that the caller may be told of."""
        ends_at_s = time.monotonic() + total.total_seconds()
        return cls(ends_at_s=ends_at_s, total=total, stop=_STOP.get() or threading.Event())

    def require_going_on(self) -> None:
        """Go on unless the process is to end.

        Raises:
            Stopped: it is.
        """
        if self.stop.is_set():
            raise Stopped("the process was told to end in the middle of a request")

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
