"""What the Prefect server recorded of a flow run, once it has recorded it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from prefect import State
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    FlowRunFilterParentFlowRunId,
)
from prefect.client.schemas.objects import FlowRun, TaskRun
from prefect.client.schemas.sorting import TaskRunSort

RECORDED_WITHIN_S = 20.0


def ended(flow_call: Any) -> State[Any]:
    """The final state of a flow call made with ``return_state=True``, run to its end."""

    async def waited() -> State[Any]:
        state: State[Any] = await flow_call
        return state

    return asyncio.run(waited())


async def task_runs(
    flow_run_id: UUID, enough: Callable[[Sequence[TaskRun]], bool]
) -> list[TaskRun]:
    """The task runs of a flow run in their order; waits for the recorder until there are enough."""
    wanted = FlowRunFilter(id=FlowRunFilterId(any_=[flow_run_id]))
    deadline = time.monotonic() + RECORDED_WITHIN_S
    async with get_client() as client:
        while True:
            found = await client.read_task_runs(
                flow_run_filter=wanted, sort=TaskRunSort.EXPECTED_START_TIME_ASC, limit=200
            )
            if enough(found) or time.monotonic() > deadline:
                return found
            await asyncio.sleep(0.2)


async def task_names(flow_run_id: UUID, *, at_least: int) -> list[str]:
    """The names of a flow run's tasks in their order."""

    def all_ended(found: Sequence[TaskRun]) -> bool:
        return len(found) >= at_least and all(run.state and run.state.is_final() for run in found)

    return [run.name for run in await task_runs(flow_run_id, all_ended)]


async def flow_run(flow_run_id: UUID) -> FlowRun:
    """A flow run as the server knows it."""
    async with get_client() as client:
        return await client.read_flow_run(flow_run_id)


async def subflows(parent: UUID) -> list[FlowRun]:
    """The flow runs that a flow run started."""
    wanted = FlowRunFilter(parent_flow_run_id=FlowRunFilterParentFlowRunId(any_=[parent]))
    async with get_client() as client:
        return await client.read_flow_runs(flow_run_filter=wanted, limit=200)
