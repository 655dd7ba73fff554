"""A worker that is told to stop ends what it has begun and lets go of everything it holds."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from prefect import Flow, State
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.runner._flow_run_executor import FlowRunExecutorContext
from prefect.runner._starter_engine import EngineCommandStarter
from prefect.states import Cancelling, Pending

from flows.poll_due import poll_due
from flows.poll_source import poll_source
from sourcemon.core.dispatch import Detail
from sourcemon.core.results import Deferral
from sourcemon.operations.deps import CrashPoint
from sourcemon.replay import Held, drip, poll_interval
from tests.crash import jobs
from tests.crash.conftest import world_of
from tests.crash.feeds import newsroom
from tests.crash.limits import fresh_limit, slots_in_use
from tests.crash.workers import Job, Worker, at_work
from tests.crash.world import World, statuses

pytestmark = pytest.mark.usefixtures("prefect_server")

WITHIN_S = 15.0
"""How long a worker may take to let go; half of what a runner waits before it kills."""
SOURCES = 9
THREADS = 4
PATHS = [f"/site{number}/feed.xml" for number in range(SOURCES)]


@contextmanager
def held_world(sqlite_url: str, sources: int, **changes: Any) -> Iterator[World]:
    """Sources whose site holds every answer, two minutes each if need be."""
    feeds = [Held(newsroom(path)) for path in PATHS[:sources]]
    polling = {"threads": THREADS, "max_in_flight": 8}
    with fresh_limit(), world_of(feeds, sqlite_url, polling=polling, **changes) as world:
        for feed in feeds:
            world.watch(feed.path)
        yield world


def terminated(worker: Worker) -> float:
    """Tell the worker to stop; how many seconds it took."""
    began = time.monotonic()
    os.kill(worker.pid, signal.SIGTERM)
    worker.join()
    return time.monotonic() - began


def nothing_is_held(world: World, *, begun: int) -> None:
    """No claim, no slot, no run left open; what was begun is recorded, nothing more was."""
    assert len(world.site.log.requests()) == begun
    assert [world.state(source)["claim_token"] for source in world.sources] == [None] * len(
        world.sources
    )
    runs = [run for source in world.sources for run in world.runs(source)]
    assert statuses(runs) == ["failed"] * begun
    assert {(run["error_category"], run["stop_reason"]) for run in runs} <= {
        ("internal", "interrupted")
    }
    assert slots_in_use() == 0


def test_a_poll_whose_answer_is_awaited(sqlite_url: str) -> None:
    with held_world(sqlite_url, 1) as world:
        with at_work(jobs.run_poll_source, world.place, world.sources[0].id) as worker:
            world.site.log.wait_for(lambda log: log.in_flight() == 1, timeout_s=20)
            took = terminated(worker)

        assert took < WITHIN_S
        nothing_is_held(world, begun=1)


@pytest.mark.parametrize("detail", [Detail.FLOW_RUNS, Detail.TASKS, Detail.BATCHES])
def test_a_tick_with_answers_awaited_and_sources_waiting(sqlite_url: str, detail: Detail) -> None:
    with held_world(sqlite_url, SOURCES) as world:
        with at_work(jobs.run_poll_due, world.place, 100, detail) as worker:
            world.site.log.wait_for(lambda log: log.in_flight() == THREADS, timeout_s=20)
            took = terminated(worker)

        assert took < WITHIN_S
        nothing_is_held(world, begun=THREADS)


def test_slots_are_not_given_back_before_the_requests_are_over(sqlite_url: str) -> None:
    """For as long as the worker lives, whether a request of it is under way or not."""
    with held_world(sqlite_url, SOURCES) as world:
        with at_work(jobs.run_poll_due, world.place, 100, Detail.TASKS) as worker:
            world.site.log.wait_for(lambda log: log.in_flight() == THREADS, timeout_s=20)
            os.kill(worker.pid, signal.SIGTERM)
            while slots_in_use():
                pass
            world.release()
            worker.join()

        assert world.site.log.count(200) == 0


@pytest.mark.parametrize("cancelled", [poll_source, pytest.param(poll_due, marks=pytest.mark.long)])
def test_a_run_that_a_person_cancels(sqlite_url: str, cancelled: Flow[..., Any]) -> None:
    """The runner announces what it wants, then sends the same signal."""
    with held_world(sqlite_url, 1, now=None) as world:
        is_tick = cancelled is poll_due
        parameters = {"detail": "tasks"} if is_tick else {"source_id": world.sources[0].id}
        state = asyncio.run(run_and_cancel(world, cancelled, parameters))

        assert state.name == "Cancelled"
        nothing_is_held(world, begun=1)


async def run_and_cancel(
    world: World, flow: Flow[..., Any], parameters: dict[str, Any]
) -> State[Any]:
    """Run a flow as a runner does, cancel it while the site holds its answer; its last state."""
    name = flow.fn.__name__

    async def resolved(_run: FlowRun) -> Flow[..., Any]:
        return flow

    async with get_client() as client:
        run = await client.create_flow_run(flow, parameters=parameters, state=Pending())
        async with FlowRunExecutorContext() as context:
            starter = EngineCommandStarter(
                entrypoint=f"flows.{name}.{name}",
                env={**environment(world)},
                control_channel=context.control_channel,
            )
            executor = context.create_executor(
                run, starter, resolve_flow=resolved, propose_submitting=False
            )
            running = asyncio.create_task(executor.submit())
            await asyncio.to_thread(
                world.site.log.wait_for, lambda log: log.in_flight() == 1, timeout_s=30
            )
            await client.set_flow_run_state(run.id, Cancelling(), force=True)
            await asyncio.wait_for(running, WITHIN_S)
        return await last_state(run.id)


async def last_state(run_id: UUID) -> State[Any]:
    async with get_client() as client:
        found = (await client.read_flow_run(run_id)).state
    assert found is not None
    return found


def environment(world: World) -> dict[str, str]:
    """The place in the environment of a process."""
    settings = world.place.settings()
    return {
        "SOURCEMON_DATABASE_URL": world.place.database_url,
        "SOURCEMON_CONTACT": settings.contact or "",
        "SOURCEMON_HTTP": settings.http.model_dump_json(),
        "SOURCEMON_POLLING": settings.polling.model_dump_json(),
    }


def test_between_two_steps_of_a_poll_no_request_is_begun(sqlite_url: str) -> None:
    with held_world(sqlite_url, 1) as world:
        told_to_stop_once_claimed(world, jobs.run_poll_source, world.sources[0].id)

        nothing_is_held(world, begun=0)


def test_in_the_midst_of_a_tick_no_request_is_begun(sqlite_url: str) -> None:
    with held_world(sqlite_url, 1) as world:
        told_to_stop_once_claimed(world, jobs.run_poll_due, 100, Detail.TASKS)

        nothing_is_held(world, begun=0)


def told_to_stop_once_claimed(world: World, job: Job, *args: object) -> None:
    """Let a worker be told to stop while its thread is in a step that sends nothing."""
    stops_at = CrashPoint.CLAIMED
    with at_work(job, world.place, *args, stops_at=stops_at) as worker:
        worker.hear_until(stops_at)
        os.kill(worker.pid, signal.SIGTERM)
        worker.hear_until("abort")
        worker.go_on()
        worker.process.join(5)


def test_what_the_head_of_a_reply_asked_for_is_kept(sqlite_url: str) -> None:
    """The source is free at once, so that the next tick would be early."""
    slow = drip(poll_interval(newsroom(PATHS[0]), timedelta(minutes=15)), size=10, pause_s=1)
    with fresh_limit(), world_of([slow], sqlite_url) as world:
        source = world.watch(PATHS[0])
        with at_work(jobs.run_poll_source, world.place, source.id) as worker:
            world.wait_until(lambda: world.state(source)["poll_floor_until"] is not None)
            assert world.site.log.in_flight() == 1
            terminated(worker)
        world.clock.advance(timedelta(minutes=1))

        assert isinstance(world.poll(source), Deferral)
