"""Sources that let us wait do not hold up those that answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta

import pytest

from sourcemon.core.dispatch import Detail
from sourcemon.replay import Feed, Held
from sourcemon.replay.access_log import AccessLog
from tasks import dispatching
from tests.crash import jobs
from tests.crash.conftest import world_of
from tests.crash.feeds import newsroom
from tests.crash.limits import fresh_limit
from tests.crash.world import World

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
    sqlite_url: str, slow: Sequence[Feed], healthy: Sequence[str] = (), *, threads: int
) -> Iterator[World]:
    """A world of slow feeds, that are the longest overdue, and of healthy ones."""
    others = [newsroom(path) for path in healthy]
    polling = {"threads": threads, "max_in_flight": 32}
    with fresh_limit(), world_of([*slow, *others], sqlite_url, polling=polling) as world:
        for feed in (*slow, *others):
            world.watch(feed.path)
        yield world


@contextmanager
def ticking(world: World, detail: Detail) -> Iterator[Callable[[], str]]:
    """A tick that goes on while the block runs; a function that waits for its end."""
    with ThreadPoolExecutor(1) as pool:
        tick = pool.submit(jobs.run_poll_due, world.deps, 1_000, detail)
        try:
            yield lambda: tick.result(30)
        except BaseException:
            world.release()
            raise


def polled(paths: Sequence[str], *, times: int = 1) -> Callable[[AccessLog], bool]:
    """Whether each of the paths was asked for so often."""
    return lambda log: [log.hits(path) for path in paths] == [times] * len(paths)


@pytest.mark.parametrize(
    ("detail", "begun"),
    [
        (Detail.FLOW_RUNS, 4),
        (Detail.TASKS, 6),
        (Detail.BATCHES, 6),
    ],
)
def test_a_tick_out_of_time_begins_nothing_more(
    sqlite_url: str, stopwatch: Stopwatch, detail: Detail, begun: int
) -> None:
    """All the threads wait for an answer; those sources that had no turn by then get none."""
    slow = [Held(newsroom(path)) for path in SLOW]
    with slow_world(sqlite_url, slow, threads=6) as world:
        with ticking(world, detail) as ended:
            world.site.log.wait_for(lambda log: log.in_flight() == begun)
            stopwatch.reads += 46
            world.release()
            message = ended()

        assert message == f"NewItems: {begun} NewItems, {len(SLOW) - begun} left to the next tick"
        assert len(world.site.log.requests()) == begun
        assert {world.state(source)["claim_token"] for source in world.sources} == {None}


def test_healthy_sources_wait_for_the_next_tick_at_most(
    sqlite_url: str, stopwatch: Stopwatch
) -> None:
    """Sixteen of twenty sources keep every thread busy for a whole tick."""
    slow = [Held(newsroom(path)) for path in SLOW]
    with slow_world(sqlite_url, slow, HEALTHY, threads=16) as world:
        with ticking(world, Detail.TASKS) as ended:
            world.site.log.wait_for(lambda log: log.in_flight() == 16)
            stopwatch.reads += 46
            for feed in slow:
                if world.site.log.hits(feed.path):
                    feed.release.set()
            ended()
        world.clock.advance(TICK)
        with ticking(world, Detail.TASKS) as ended:
            world.site.log.wait_for(polled(HEALTHY))
            world.release()
            ended()
