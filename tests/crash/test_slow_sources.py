"""Sources that let us wait do not hold up those that answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import pytest

from sourcemon.core.dispatch import Detail
from sourcemon.replay import Feed, Held, drip
from tasks import dispatching
from tests.crash import jobs
from tests.crash.conftest import world_of
from tests.crash.feeds import newsroom
from tests.crash.limits import fresh_limit
from tests.crash.world import INTERVAL, World

pytestmark = pytest.mark.usefixtures("prefect_server")

SLOW = [f"/slow{number:02}/feed.xml" for number in range(20)]
HEALTHY = [f"/healthy{number:02}/feed.xml" for number in range(20)]
TICK = timedelta(minutes=1)


class Stopwatch:
    """The monotonic clock that ticks look at; it stands still until it is moved."""

    def __init__(self) -> None:
        self.reads = 0.0

    def monotonic(self) -> float:
        return self.reads


@pytest.fixture
def stopwatch(monkeypatch: pytest.MonkeyPatch) -> Stopwatch:
    """Real time is too slow and not to be trusted."""
    found = Stopwatch()
    monkeypatch.setattr(dispatching, "time", found)
    return found


@contextmanager
def slow_world(
    sqlite_url: str, slow: Sequence[Feed], *, threads: int, healthy: bool = True
) -> Iterator[World]:
    """A world of slow feeds, that are the longest overdue, and of healthy ones."""
    others = [newsroom(path) for path in HEALTHY] if healthy else []
    polling = {"threads": threads, "max_in_flight": 32}
    with fresh_limit(), world_of([*slow, *others], sqlite_url, polling=polling) as world:
        for feed in (*slow, *others):
            world.watch(feed.path)
        yield world


@contextmanager
def ticking(world: World, detail: Detail) -> Iterator[Callable[[], str]]:
    """A tick that goes on while the block runs; a function that waits for its end."""
    with ThreadPoolExecutor(1) as pool:
        tick = pool.submit(jobs.run_poll_due, world.deps, 100, detail)
        yield lambda: tick.result(30)


@pytest.mark.parametrize(
    ("detail", "begun"), [(Detail.TASKS, 6), (Detail.BATCHES, 6), (Detail.FLOW_RUNS, 4)]
)
def test_a_tick_out_of_time_begins_nothing_more(
    sqlite_url: str, stopwatch: Stopwatch, detail: Detail, begun: int
) -> None:
    """All the threads wait for an answer; those sources that had no turn by then get none."""
    slow = [Held(newsroom(path)) for path in SLOW]
    with slow_world(sqlite_url, slow, threads=6, healthy=False) as world:
        with ticking(world, detail) as ended:
            world.site.log.wait_for(lambda log: log.in_flight() == begun)
            stopwatch.reads += 46
            for feed in slow:
                feed.release.set()
            message = ended()

        assert message == f"NewItems: {begun} NewItems, {20 - begun} left to the next tick"
        assert len(world.site.log.requests()) == begun
        claims = [world.state(source)["claim_token"] for source in world.sources]
        assert claims == [None] * len(SLOW)


def test_healthy_sources_wait_for_the_next_tick_at_most(
    sqlite_url: str, stopwatch: Stopwatch
) -> None:
    """Sixteen of twenty sources keep every thread busy for a whole tick."""
    slow = [Held(newsroom(path)) for path in SLOW]
    with slow_world(sqlite_url, slow, threads=16) as world:
        with ticking(world, Detail.TASKS) as ended:
            world.site.log.wait_for(lambda log: log.in_flight() == 16)
            stopwatch.reads += 46
            for feed in slow:
                if feed.entered.is_set():
                    feed.release.set()
            ended()
        world.clock.advance(TICK)
        with ticking(world, Detail.TASKS) as ended:
            world.site.log.wait_for(
                lambda log: sum(log.hits(path) for path in HEALTHY) == len(HEALTHY)
            )
            for feed in slow:
                feed.release.set()
            ended()


def test_few_threads_go_to_those_sources_first_that_are_known_to_answer(
    sqlite_url: str, stopwatch: Stopwatch
) -> None:
    """Four threads could be kept busy by twenty slow sources for five ticks."""
    slow = [Held(newsroom(path)) for path in SLOW]
    with slow_world(sqlite_url, slow, threads=4) as world:
        for source in world.sources[len(SLOW) :]:
            world.poll(source)
        world.clock.advance(INTERVAL)
        try:
            with ticking(world, Detail.TASKS):
                world.site.log.wait_for(
                    lambda log: sum(log.hits(path) for path in HEALTHY) == 2 * len(HEALTHY)
                )
                stopwatch.reads += 46
        finally:
            for feed in slow:
                feed.release.set()
