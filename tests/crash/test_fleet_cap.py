"""No more requests are under way than slots are taken, whoever sends them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from prefect.client.orchestration import get_client
from prefect.exceptions import ObjectNotFound

from sourcemon.core.dispatch import Detail
from sourcemon.replay import Held, slow
from sourcemon.replay.access_log import AccessLog
from sourcemon.replay.answers import Gate
from tasks.limits import POLLS
from tests.crash import jobs
from tests.crash.conftest import world_of
from tests.crash.feeds import newsroom
from tests.crash.limits import fresh_limit, slots_in_use
from tests.crash.workers import at_work

pytestmark = pytest.mark.usefixtures("prefect_server")

CAP = 6
PER_TICK = 19
PATHS = [f"/site{number:02}/feed.xml" for number in range(2 * PER_TICK + 2)]


class Watch:
    """Compares slots and requests again and again, from a thread of its own."""

    def __init__(self, log: AccessLog) -> None:
        self.samples = 0
        self.uncovered: list[tuple[int, int]] = []
        """Requests under way and slots taken, where there were more of the former."""
        self._log = log
        self._is_over = threading.Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=lambda: asyncio.run(self._watch()))
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    async def _watch(self) -> None:
        """Slots are read before and after: they are taken before a request and freed after it."""
        async with get_client() as client:

            async def slots() -> int:
                try:
                    found = await client.read_global_concurrency_limit_by_name(POLLS)
                except ObjectNotFound:
                    return 0
                return found.active_slots

            before = await slots()
            while not self._is_over.is_set():
                under_way = self._log.in_flight()
                after = await slots()
                if under_way > max(before, after):
                    self.uncovered.append((under_way, max(before, after)))
                before = after
                self.samples += 1


def in_flight(count: int) -> Callable[[AccessLog], bool]:
    return lambda log: log.in_flight() == count


def test_two_dispatchers_and_two_people_share_the_cap(sqlite_url: str) -> None:
    gate = Gate()
    feeds = [Held(slow(newsroom(path), seconds=0.1), gate) for path in PATHS]
    polling = {"threads": 4, "max_in_flight": CAP}
    with fresh_limit(), world_of(feeds, sqlite_url, polling=polling) as world, ExitStack() as stack:
        for path in PATHS:
            world.watch(path)
        log, watch = world.site.log, Watch(world.site.log)
        stack.enter_context(watch.watching())
        ticks = []
        for under_way in (4, CAP):
            tick = at_work(jobs.run_poll_due_impatiently, world.place, PER_TICK, Detail.TASKS)
            ticks.append(stack.enter_context(tick))
            log.wait_for(in_flight(under_way), timeout_s=20)
        asked = [
            stack.enter_context(at_work(jobs.run_poll_source, world.place, source.id))
            for source in world.sources[2 * PER_TICK :]
        ]
        assert (log.in_flight(), slots_in_use()) == (CAP, CAP)
        gate.release.set()
        said = [worker.hear_all()[-1] for worker in (*ticks, *asked)]

        assert said[:2] == [f"NewItems: {PER_TICK} NewItems"] * 2
        assert all(line.startswith("NewItems: 3 new") for line in said[2:])
        assert watch.samples > 20
        assert watch.uncovered == []
        assert log.in_flight_peak() == CAP
        assert [log.hits(path) for path in PATHS] == [1] * len(PATHS)
