"""A dispatcher killed in the midst of a tick costs its own sources a lease, others nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError

from sourcemon.core.dispatch import Detail
from sourcemon.core.sources import Source
from sourcemon.operations.upkeep import reconcile
from sourcemon.replay import Held
from tasks import limits
from tests.crash import jobs
from tests.crash.conftest import MakeWorld, world_of
from tests.crash.feeds import newsroom, published
from tests.crash.limits import fresh_limit, slots_in_use
from tests.crash.workers import at_work
from tests.crash.world import LEASE, World, statuses
from tests.prefect_server import RECORDING, running_server

TICK = timedelta(minutes=1)
CLAIMED = 6
THREADS = 4
OTHERS = 3
POLLING = {"threads": THREADS, "max_in_flight": 12}

HELD = [f"/held{number}/feed.xml" for number in range(CLAIMED)]
OTHER = [f"/other{number}/feed.xml" for number in range(OTHERS)]


@contextmanager
def killed_amid_a_tick(world: World) -> Iterator[list[Source]]:
    """A dispatcher claimed six sources, had four requests in flight, and is no more."""
    claimed = [world.watch(path) for path in HELD]
    with at_work(jobs.run_poll_due, world.place, CLAIMED, Detail.TASKS) as dispatcher:
        world.site.log.wait_for(lambda log: log.in_flight() == THREADS, timeout_s=30)
        dispatcher.kill()
    world.release()
    yield claimed


@pytest.mark.parametrize(
    ("database_url", "detail"),
    [
        ("sqlite", Detail.FLOW_RUNS),
        ("sqlite", Detail.TASKS),
        ("sqlite", Detail.BATCHES),
        ("postgres", Detail.TASKS),
    ],
    indirect=["database_url"],
)
def test_others_are_polled_by_the_next_tick_and_its_own_after_the_lease(
    prefect_server: str, make_world: MakeWorld, detail: Detail
) -> None:
    held = [Held(newsroom(path)) for path in HELD]
    feeds = [*held, *(newsroom(path) for path in OTHER)]
    with (
        fresh_limit(),
        make_world(feeds, polling=POLLING) as world,
        killed_amid_a_tick(world) as its_own,
    ):
        others = [world.watch(path) for path in OTHER]
        assert slots_in_use() == THREADS

        world.clock.advance(TICK)
        assert jobs.run_poll_due(world.deps, 100, detail) == f"NewItems: {OTHERS} NewItems"
        assert [world.titles(source) for source in others] == [published(newsroom())] * OTHERS
        assert all(world.items(source) == [] for source in its_own)

        world.clock.advance(LEASE - TICK)
        assert jobs.run_poll_due(world.deps, 100, detail) == f"NewItems: {CLAIMED} NewItems"
        assert [world.titles(source) for source in its_own] == [published(newsroom())] * CLAIMED
        assert world.site.log.early_requests() == ()
        histories = sorted(statuses(world.runs(source)) for source in its_own)
        never_begun = CLAIMED - THREADS
        assert histories == [["completed"]] * never_begun + [["failed", "completed"]] * THREADS


def test_upkeep_leaves_nothing_of_it_to_be_seen(prefect_server: str, sqlite_url: str) -> None:
    held = [Held(newsroom(path)) for path in HELD]
    with (
        fresh_limit(),
        world_of(held, sqlite_url, polling=POLLING) as world,
        killed_amid_a_tick(world) as its_own,
    ):
        world.clock.advance(LEASE)
        done = reconcile(world.deps)

        assert (done.claims_freed, done.runs_closed) == (CLAIMED, THREADS)
        for source in its_own:
            assert world.state(source)["claim_token"] is None
            assert "running" not in statuses(world.runs(source))


def test_a_tick_that_cannot_ask_for_slots_gives_its_sources_back(
    prefect_server: str, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is deleted, or the server fails, between the claim and the slots."""

    def fails(*_args: object, **_kwargs: object) -> None:
        raise ConcurrencySlotAcquisitionError("the server does not answer")

    with fresh_limit(), world_of([newsroom(OTHER[0])], sqlite_url, polling=POLLING) as world:
        source = world.watch(OTHER[0])
        with monkeypatch.context() as patch:
            patch.setattr(limits, "concurrency", fails)
            said = jobs.run_poll_due(world.deps, 100, Detail.TASKS)

        assert said.startswith("Failed")
        assert world.state(source)["claim_token"] is None
        assert world.site.log.requests() == ()
        assert jobs.run_poll_due(world.deps, 100, Detail.TASKS) == "NewItems: 1 NewItems"


@pytest.mark.long
def test_its_slots_are_free_again_when_their_lease_is_over(sqlite_url: str) -> None:
    """On a server of its own, since the shared one does not take back what the dead hold."""
    held = [Held(newsroom(path)) for path in HELD]
    taking_back = RECORDING | {"PREFECT_SERVER_SERVICES_REPOSSESSOR_ENABLED": "true"}
    with (
        running_server(os.environ["PREFECT_API_URL"], taking_back),
        world_of(held, sqlite_url, polling=POLLING) as world,
        killed_amid_a_tick(world),
    ):
        killed_at = time.monotonic()
        assert slots_in_use() == THREADS
        while slots_in_use():
            assert time.monotonic() < killed_at + 120
            time.sleep(1)
        print(f"slots were free {time.monotonic() - killed_at:.0f} s after the kill")
