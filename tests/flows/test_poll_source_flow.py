"""One poll as a flow run: its tasks, its final state, and what it leaves behind."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from prefect import State

from flows.poll_source import poll_source
from sourcemon.core.sources import SourceId
from sourcemon.errors import DatabaseUnavailable, UnknownSource
from sourcemon.operations import listing
from sourcemon.replay import fails, poll_interval
from sourcemon.store import items
from tasks.polls_under_way import polls_under_way
from tests.flows.conftest import MakeWorld, World, plain_feed
from tests.flows.prefect_history import ended, flow_run, task_names

pytestmark = pytest.mark.usefixtures("prefect_server")

HARBOUR = "/harbour/notices.xml"


def test_a_first_poll_shows_its_four_steps_and_says_what_is_new(make_world: MakeWorld) -> None:
    async def polled(source_id: SourceId) -> tuple[State[Any], list[str], str]:
        state = await poll_source(source_id, return_state=True)
        run_id = state.state_details.flow_run_id
        assert isinstance(run_id, UUID)
        return state, await task_names(run_id, at_least=4), (await flow_run(run_id)).name

    with make_world([plain_feed(HARBOUR)]) as world:
        source = world.watch(HARBOUR)
        state, tasks, name = asyncio.run(polled(source.id))

        assert (state.type.value, state.name) == ("COMPLETED", "NewItems")
        assert state.message == (
            "3 new, next 2026-03-02 09:10:00 UTC (cadence_due_at: every 10 min)"
        )
        assert tasks == ["check-schedule", "fetch-page-1", "persist-page-1", "evaluate-health"]
        assert name == "poll-harbour.example/harbour/notices.xml"
        assert len(listing.items_of(world.deps, limit=10)) == 3


def test_a_second_poll_is_a_304_with_nothing_to_persist(make_world: MakeWorld) -> None:
    async def polled_again(world: World, source_id: SourceId) -> tuple[State[Any], list[str]]:
        await poll_source(source_id, return_state=True)
        world.clock.advance(timedelta(minutes=10))
        state = await poll_source(source_id, return_state=True)
        run_id = state.state_details.flow_run_id
        assert isinstance(run_id, UUID)
        return state, await task_names(run_id, at_least=3)

    with make_world([plain_feed(HARBOUR)]) as world:
        source = world.watch(HARBOUR)
        state, tasks = asyncio.run(polled_again(world, source.id))

        assert state.name == "NothingNew"
        assert tasks == ["check-schedule", "fetch-page-1", "evaluate-health"]
        assert world.site.log.count(304) == 1


def test_a_forced_poll_obeys_the_server_and_sends_nothing(make_world: MakeWorld) -> None:
    async def forced(source_id: SourceId) -> State[Any]:
        await poll_source(source_id, return_state=True)
        return await poll_source(source_id, force=True, return_state=True)

    feed = poll_interval(plain_feed(HARBOUR), timedelta(seconds=900))
    with make_world([feed]) as world:
        source = world.watch(HARBOUR)
        state = asyncio.run(forced(source.id))

        assert (state.type.value, state.name) == ("COMPLETED", "Deferred")
        assert state.message == (
            "deferred until 2026-03-02 09:15:00 UTC: poll_floor_until: X-Poll-Interval: 900"
        )
        assert world.site.log.hits(HARBOUR) == 1
        assert len(listing.runs_of(world.deps, limit=10)) == 1


def test_a_failing_source_is_no_failed_run(make_world: MakeWorld) -> None:
    with make_world([fails(plain_feed(HARBOUR), status=500)]) as world:
        source = world.watch(HARBOUR)
        state = ended(poll_source(source.id, return_state=True))

        assert (state.type.value, state.name) == ("COMPLETED", "SourceFailed")
        assert (state.message or "").startswith("failed: HTTP 500, next 2026-03-02 09:10:00 UTC")


def test_a_fault_of_ours_fails_the_run_and_is_recorded(
    make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_args: object, **_kwargs: object) -> None:
        raise DatabaseUnavailable("the disk is full")

    with make_world([plain_feed(HARBOUR)]) as world:
        source = world.watch(HARBOUR)
        monkeypatch.setattr(items, "write", breaks)
        state = ended(poll_source(source.id, return_state=True))

        assert state.type.value == "FAILED"
        assert "the disk is full" in (state.message or "")
        run = listing.runs_of(world.deps, limit=1)[0]
        assert (run.status, run.error_category) == ("failed", "internal")
        assert listing.items_of(world.deps, limit=10) == ()
        assert polls_under_way.count() == 0


def test_an_unknown_source_fails_with_one_clear_line(make_world: MakeWorld) -> None:
    with make_world([plain_feed(HARBOUR)]):
        state = ended(poll_source(77, return_state=True))

        with pytest.raises(UnknownSource, match="there is no source 77"):
            state.result()
