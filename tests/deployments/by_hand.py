"""What a person does in Prefect's UI, as the requests that the UI makes of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, State, StateType

from sourcemon.core.sources import Source
from tasks.limits import POLLS
from tests.deployments.up import PATIENCE_S

T = TypeVar("T")


def asked(question: Callable[[PrefectClient], Awaitable[T]]) -> T:
    """The server's answer to one question."""

    async def ask() -> T:
        async with get_client() as client:
            return await question(client)

    return asyncio.run(ask())


def custom_run(source: Source, *, force: bool = False) -> UUID:
    """Deployments > poll-source > Run > Custom run."""

    async def run(client: PrefectClient) -> UUID:
        deployment = await client.read_deployment_by_name("poll-source/poll-source")
        run = await client.create_flow_run_from_deployment(
            deployment.id, parameters={"source_id": source.id, "force": force}
        )
        return run.id

    return asked(run)


def retry(run_id: UUID) -> None:
    """A run's page > Retry."""
    state: State[None] = State(
        type=StateType.SCHEDULED, name="AwaitingRetry", message="Retry from the UI"
    )
    asked(lambda client: client.set_flow_run_state(run_id, state, force=False))


def cancel(run_id: UUID) -> None:
    """A run's page > Cancel."""
    state: State[None] = State(type=StateType.CANCELLING, name="Cancelling")
    asked(lambda client: client.set_flow_run_state(run_id, state, force=True))


def flow_run(run_id: UUID) -> FlowRun:
    return asked(lambda client: client.read_flow_run(run_id))


def ended(run_id: UUID, *, times: int = 1, within_s: float = PATIENCE_S) -> FlowRun:
    """The run once it has run that often and is over."""

    async def wait(client: PrefectClient) -> FlowRun:
        deadline = time.monotonic() + within_s
        while True:
            run = await client.read_flow_run(run_id)
            if run.state and run.state.is_final() and run.run_count >= times:
                return run
            assert time.monotonic() < deadline, f"{run.name} is still {run.state_name}"
            await asyncio.sleep(0.1)

    return asked(wait)


def slots_in_use() -> int:
    """How many polls the fleet's limit counts at this moment."""
    return asked(lambda client: client.read_global_concurrency_limit_by_name(POLLS)).active_slots


def scheduled_polls() -> list[FlowRun]:
    """The runs of poll-source that wait for their instant."""
    return asked(
        lambda client: client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=["poll-source"])),
            flow_run_filter=FlowRunFilter(
                state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED]))
            ),
        )
    )
