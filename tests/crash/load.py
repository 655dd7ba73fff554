"""Many polls at once on one SQLite file: who takes part, and what each of them does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from multiprocessing.synchronize import Barrier

from sourcemon.clock import FakeClock
from sourcemon.core.replies import Headers, Reply, RequestPlan, Response
from sourcemon.core.results import PollResult
from sourcemon.operations.deps import Clock, Deps
from sourcemon.operations.dispatch import claim_due
from sourcemon.operations.poll import poll

AT_ONCE = 3
"""How many sources a thread claims at a time."""
AWAIT_S = 600.0

_FEED = (
    '<?xml version="1.0"?><rss version="2.0"><channel><title>Kiosk</title>{items}</channel></rss>'
)
_ITEM = "<item><guid isPermaLink='false'>{number}</guid><title>Notice {number}</title></item>"


class Instant:
    """A fetcher without a network: in each round one new item, answered at once."""

    def __init__(self, clock: Clock, start: datetime, interval: timedelta) -> None:
        self._clock = clock
        self._start = start
        self._interval = interval

    def fetch(self, plan: RequestPlan, *, heard: object = None) -> Reply:
        now = self._clock.now()
        newest = (now - self._start) // self._interval
        shown = range(newest, max(newest - 3, -1), -1)
        items = "".join(_ITEM.format(number=number) for number in shown)
        body = _FEED.format(items=items).encode()
        return Response(
            url=plan.url,
            status=200,
            headers=Headers((("ETag", f'"{newest}"'),)),
            body=body,
            sent_at=now,
            received_at=now,
            bytes_received=len(body),
            conditional=False,
        )

    def close(self) -> None:
        """Nothing is open."""


def polls(
    deps: Deps, threads: int, rounds: int, interval: timedelta, meet: Callable[[], object]
) -> int:
    """Poll with so many threads whatever is due, round after round; how many polls it were.

    Between two rounds everybody meets and the clock moves on by an interval.
    """
    clock = deps.clock
    assert isinstance(clock, FakeClock)
    deps = replace(deps, http=Instant(clock, clock.now(), interval))

    def next_round() -> None:
        meet()
        clock.advance(interval)

    together = threading.Barrier(threads, action=next_round, timeout=AWAIT_S)

    def take_part() -> int:
        count = 0
        try:
            for _ in range(rounds):
                count += _polled(deps)
                together.wait()
        except BaseException:
            together.abort()
            raise
        return count

    with ThreadPoolExecutor(threads) as crew:
        return sum(part.result() for part in [crew.submit(take_part) for _ in range(threads)])


def _polled(deps: Deps) -> int:
    """Poll, together with others, until nothing is due; how many of the polls were ours."""
    count = 0
    while claimed := claim_due(deps, limit=AT_ONCE):
        for source in claimed:
            attempt = poll(deps, source.source_id, token=source.token)
            assert isinstance(attempt, PollResult)
            count += 1
    return count


def polls_with_others(
    deps: Deps, threads: int, rounds: int, interval: timedelta, barrier: Barrier
) -> int:
    """As :func:`polls`, in step with other processes."""
    return polls(deps, threads, rounds, interval, lambda: barrier.wait(AWAIT_S))
