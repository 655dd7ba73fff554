"""The record of every request to a replay site, and the questions a test asks of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from threading import Condition

from sourcemon.core.replies import Headers
from sourcemon.replay.access import Access, arrival
from sourcemon.replay.asks import Ask
from sourcemon.replay.early import EarlyRequest, early_requests


class AccessLog:
    """Every request in order of arrival, those under way included. Safe to use from any thread."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._accesses: list[Access] = []
        self._in_flight = 0
        self._peak = 0

    def begin(self, *, method: str, target: str, headers: Headers, at: datetime) -> Access:
        """Enter a request that has arrived. Called by the site only, as the next two."""
        with self._changed:
            access = arrival(
                serial=len(self._accesses),
                at=at,
                began_s=time.monotonic(),
                method=method,
                target=target,
                headers=headers,
            )
            self._accesses.append(access)
            self._in_flight += 1
            self._peak = max(self._peak, self._in_flight)
            self._changed.notify_all()
        return access

    def answering(self, serial: int, *, status: int, asks: tuple[Ask, ...]) -> None:
        """Enter that the head of an answer is about to be sent."""
        with self._changed:
            self._accesses[serial] = replace(self._accesses[serial], status=status, asks=asks)
            self._changed.notify_all()

    def end(self, serial: int, *, body_bytes: int) -> None:
        """Enter that an answer is over, whole or not; a second call for the same does nothing."""
        with self._changed:
            access = self._accesses[serial]
            if access.ended_s is not None:
                return
            ended_s = time.monotonic()
            self._accesses[serial] = replace(access, ended_s=ended_s, body_bytes=body_bytes)
            self._in_flight -= 1
            self._changed.notify_all()

    def requests(self, path: str | None = None) -> tuple[Access, ...]:
        """The requests so far, in order of arrival; of one path if given."""
        with self._changed:
            return tuple(a for a in self._accesses if path is None or a.path == path)

    def hits(self, path: str) -> int:
        """How many requests have arrived for ``path``, answered or not."""
        return len(self.requests(path))

    def count(self, status: int) -> int:
        """How many requests were answered with ``status``."""
        return sum(access.status == status for access in self.requests())

    def in_flight(self) -> int:
        """How many requests have arrived and are not over."""
        with self._changed:
            return self._in_flight

    def in_flight_peak(self) -> int:
        """The most requests that were ever in flight at once."""
        with self._changed:
            return self._peak

    def early_requests(self) -> tuple[EarlyRequest, ...]:
        """The requests that came before an instant the site had asked for: politeness broken.

        In order of arrival; see :func:`sourcemon.replay.early.early_requests` for the rule.
        """
        return tuple(early_requests(self.requests()))

    def wait_for(self, predicate: Callable[[AccessLog], bool], *, timeout_s: float = 5.0) -> None:
        """Return as soon as ``predicate`` holds of this log; it is asked again at every change.

        Raises:
            TimeoutError: it did not hold within ``timeout_s`` real seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: predicate(self), timeout_s):
                seen = [(a.path, a.status) for a in self._accesses[-10:]]
                raise TimeoutError(f"not within {timeout_s} s; the last requests: {seen}")
