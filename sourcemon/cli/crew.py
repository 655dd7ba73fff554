"""Threads that work through claimed sources, one host's in turn. What the work is, it is told."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Generic, TypeVar

from sourcemon.core.dispatch import ClaimedSource, by_host

T = TypeVar("T")


class Crew(Generic[T]):
    """A crew at work from its construction on.

    It begins nothing after ``ends_after_s`` seconds, after :meth:`stop`, or after a fault; what it
    has begun it ends. Its threads do not keep the process alive.
    """

    def __init__(
        self,
        claimed: Sequence[ClaimedSource],
        work: Callable[[ClaimedSource], T],
        *,
        threads: int,
        ends_after_s: float,
    ) -> None:
        self.not_begun: list[ClaimedSource] = []
        """Sources that were passed over; complete once :meth:`results` has ended."""
        self.faults: list[Exception] = []
        """What the work raised."""
        self._work = work
        self._groups = deque(by_host(claimed))
        self._ends = time.monotonic() + ends_after_s
        self._stopped = threading.Event()
        self._results: SimpleQueue[T | _Left] = SimpleQueue()
        self._at_work = min(threads, len(self._groups))
        for _ in range(self._at_work):
            threading.Thread(target=self._work_through, daemon=True).start()

    def results(self) -> Iterator[T]:
        """Each result as it comes, until all threads have left; may be taken up again."""
        while self._at_work:
            result = self._results.get()
            if isinstance(result, _Left):
                self._at_work -= 1
            else:
                yield result

    def stop(self) -> int:
        """Begin nothing more; how many threads have not left yet."""
        self._stopped.set()
        return self._at_work

    def _work_through(self) -> None:
        try:
            while group := self._next_group():
                for claimed in group:
                    self._begin(claimed)
        finally:
            self._results.put(_Left())

    def _next_group(self) -> Sequence[ClaimedSource]:
        """The sources of the next host; none when all hosts are taken."""
        try:
            return self._groups.popleft()
        except IndexError:
            return ()

    def _begin(self, claimed: ClaimedSource) -> None:
        if self._stopped.is_set() or time.monotonic() >= self._ends:
            self.not_begun.append(claimed)
            return
        try:
            self._results.put(self._work(claimed))
        except Exception as fault:  # noqa: BLE001 - kept here, raised by whoever employs the crew
            self.faults.append(fault)
            self._stopped.set()


class _Left:
    """What a thread says last."""
