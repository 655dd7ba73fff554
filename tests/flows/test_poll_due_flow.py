"""The fleet's tick: every due source once, shown as its size allows, faults kept apart."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest
from prefect import State

from flows.poll_due import poll_due
from sourcemon.core.changes import Counters
from sourcemon.core.dispatch import Detail
from sourcemon.errors import DatabaseUnavailable
from sourcemon.operations import listing
from sourcemon.store import items
from tasks import dispatching
from tasks.polls_under_way import polls_under_way
from tests.flows.conftest import MakeWorld, plain_feed
from tests.flows.prefect_history import ended, subflows, task_names

pytestmark = pytest.mark.usefixtures("prefect_server")


def paths(count: int) -> list[str]:
    """As many feeds, each on a host of its own."""
    return [f"/site{number:02}/feed.xml" for number in range(count)]


def run_id_of(state: State[Any]) -> UUID:
    found = state.state_details.flow_run_id
    assert isinstance(found, UUID)
    return found


def test_up_to_ten_due_sources_are_a_flow_run_each(make_world: MakeWorld) -> None:
    async def ticked() -> tuple[State[Any], list[str], list[str]]:
        state = await poll_due(return_state=True)
        runs = await subflows(run_id_of(state))
        steps = await task_names(runs[0].id, at_least=4)
        return state, sorted(run.name for run in runs), steps

    with make_world([plain_feed(path) for path in paths(6)]) as world:
        for path in paths(6):
            world.watch(path)
        state, names, steps = asyncio.run(ticked())

        assert (state.name, state.message) == ("NewItems", "6 NewItems")
        assert names == [f"poll-site{n:02}.example/site{n:02}/feed.xml" for n in range(6)]
        assert steps == ["check-schedule", "fetch-page-1", "persist-page-1", "evaluate-health"]
        assert [world.site.log.hits(path) for path in paths(6)] == [1] * 6
        assert polls_under_way.count() == 0


def test_more_are_a_task_each(make_world: MakeWorld) -> None:
    async def ticked() -> tuple[State[Any], list[str]]:
        state = await poll_due(return_state=True)
        return state, await task_names(run_id_of(state), at_least=13)

    with make_world([plain_feed(path) for path in paths(12)]) as world:
        for path in paths(12):
            world.watch(path)
        state, names = asyncio.run(ticked())

        assert state.message == "12 NewItems"
        polls = [f"poll-site{n:02}.example/site{n:02}/feed.xml" for n in range(12)]
        assert sorted(names) == ["claim-due", *polls]
        assert world.site.log.early_requests() == ()


def test_batches_poll_every_source_in_few_tasks(make_world: MakeWorld) -> None:
    async def ticked() -> tuple[State[Any], list[str]]:
        state = await poll_due(detail=Detail.BATCHES, return_state=True)
        return state, await task_names(run_id_of(state), at_least=2)

    with make_world([plain_feed(path) for path in paths(12)]) as world:
        for path in paths(12):
            world.watch(path)
        state, names = asyncio.run(ticked())

        assert state.message == "12 NewItems"
        assert sorted(names) == ["claim-due", "poll-batch-1"]
        assert len(listing.runs_of(world.deps, limit=100)) == 12


def test_a_tick_with_nothing_due_says_so(make_world: MakeWorld) -> None:
    with make_world([]):
        state = ended(poll_due(return_state=True))

        assert (state.name, state.message) == ("NothingNew", "nothing was due")


@pytest.mark.parametrize("detail", [Detail.FLOW_RUNS, Detail.TASKS, Detail.BATCHES])
def test_one_fault_of_ours_fails_the_tick_and_no_other_poll(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch, detail: Detail
) -> None:
    write, first = items.write, iter([True])

    def breaks_once(*args: Any, **kwargs: Any) -> Counters:
        if next(first, False):
            raise DatabaseUnavailable("the disk is full")
        return write(*args, **kwargs)

    with make_world([plain_feed(path) for path in paths(4)]) as world:
        for path in paths(4):
            world.watch(path)
        monkeypatch.setattr(items, "write", breaks_once)
        state = ended(poll_due(detail=detail, return_state=True))

        assert state.type.value == "FAILED"
        statuses = sorted(run.status for run in listing.runs_of(world.deps, limit=10))
        assert statuses == ["completed", "completed", "completed", "failed"]
        assert polls_under_way.count() == 0


def test_a_tick_out_of_time_gives_back_what_it_did_not_begin(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_world([plain_feed(path) for path in paths(3)]) as world:
        for path in paths(3):
            world.watch(path)
        monkeypatch.setattr(dispatching, "STOPS_TAKING_WORK_AFTER_S", -1.0)
        late = ended(poll_due(return_state=True))
        monkeypatch.setattr(dispatching, "STOPS_TAKING_WORK_AFTER_S", 45.0)
        next_tick = ended(poll_due(return_state=True))

        assert late.message == "3 left to the next tick"
        assert next_tick.message == "3 NewItems"
        assert len(listing.runs_of(world.deps, limit=10)) == 3
