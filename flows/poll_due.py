"""The fleet's tick: every due source is claimed, polled and recorded, host by host."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any

from prefect import State, flow
from pydantic import Field

from flows.poll_source import poll_source
from sourcemon.core.dispatch import ClaimedSource, Detail, batches, by_host, detail_for
from sourcemon.core.results import OutcomeName
from sourcemon.errors import NoSlotFree
from tasks.dispatching import Tick, claim_due, give_back, poll_batch, poll_claimed
from tasks.limits import poll_slots
from tasks.polls_under_way import polls_under_way
from tasks.reporting import tick_state

FLOW_RUNS_AT_ONCE = 4
"""A subflow costs the server about 100 ms; more of them at once only wait for each other."""

Limit = Annotated[int, Field(ge=1, le=10_000)]
Groups = Sequence[Sequence[ClaimedSource]]


@flow(name="poll-due", flow_run_name="poll-due", persist_result=False, retries=0)
async def poll_due(limit: Limit = 500, detail: Detail = Detail.AUTO) -> State[Any]:
    """Poll every source that is due, the longest overdue first.

    Up to 10 due sources are shown as a flow run each, up to 1000 as a task each, more as tasks of
    100. The run ends `Failed` only for faults of ours, all of them together.

    Args:
        limit: Sources to poll in one tick at most.
        detail: How much to show: flow_runs, tasks or batches; auto decides by number.
    """
    due = await claim_due(limit)
    tick = Tick()
    try:
        if due:
            await _polled(due, detail_for(len(due), detail), tick)
    finally:
        not_begun = polls_under_way.not_begun(due)
        if not_begun:
            await give_back(not_begun)
    if tick.faults:
        raise ExceptionGroup("polls that failed by our own fault", tick.faults)
    return tick_state(tick.outcomes, not_begun=len(not_begun))


async def _polled(due: Sequence[ClaimedSource], detail: Detail, tick: Tick) -> None:
    """Poll the due sources under as many slots as the fleet has free; with none, give up."""
    groups = by_host(due)
    with suppress(NoSlotFree):
        async with poll_slots(len(groups)) as slots:
            match detail:
                case Detail.FLOW_RUNS:
                    await tick.run(groups, _as_flow_run, at_once=min(slots, FLOW_RUNS_AT_ONCE))
                case Detail.TASKS:
                    await tick.run(groups, poll_claimed, at_once=slots)
                case _:
                    await _in_batches(groups, tick, at_once=slots)


async def _as_flow_run(claimed: ClaimedSource) -> OutcomeName:
    """Poll one source as a flow run of its own, whose state's name is the outcome."""
    state = await poll_source(claimed.source_id, return_state=True)
    if not state.is_completed():
        await state.aresult()  # raises what made it fail
    return OutcomeName(state.name or "")


async def _in_batches(groups: Groups, tick: Tick, *, at_once: int) -> None:
    """Poll batch after batch; a batch's polls run side by side as far as there are slots."""
    for number, batch in enumerate(batches([tuple(group) for group in groups]), start=1):
        tick.take_in(await poll_batch(number, batch, ends=tick.ends, at_once=at_once))
