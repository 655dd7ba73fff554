"""Scheduled runs: the one function that makes them, and the polls that get one.

A run is a hint that people see; the row in our database is the record. Where Prefect cannot be
asked, or serves no such deployment, the poll stands all the same and the due index takes over.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from prefect import runtime
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
)
from prefect.client.schemas.objects import StateType
from prefect.deployments import arun_deployment
from prefect.exceptions import ObjectNotFound
from prefect.states import Cancelled

from sourcemon.core import hints
from sourcemon.core.results import Deferral, PollResult
from sourcemon.core.sources import SourceId
from sourcemon.core.upkeep import ScheduledPoll
from sourcemon.operations.hints import leave_to_run
from tasks.operation_threads import in_thread, now

POLL_SOURCE = "poll-source/poll-source"
HINT_TAG = "sourcemon-hint"
"""Marks the runs that we scheduled ourselves, as against those that a person asked for."""

_OURS_WAITING = FlowRunFilter(
    tags=FlowRunFilterTags(all_=[HINT_TAG]),
    state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED])),
)

_NEVER_EARLY = timedelta(seconds=1)
"""Prefect rounds the wait to whole seconds and may begin a run half a second before its instant."""

_log = logging.getLogger(__name__)


async def schedule_retry(result: PollResult) -> None:
    """Schedule the retry that a failed poll was granted, where it is far enough to be seen."""
    due = hints.retry_at(result, now=await now())
    if due is not None:
        await _schedule_poll(result.source_id, result.source_name, due, force=False)


async def schedule_deferred(deferral: Deferral, *, force: bool) -> None:
    """Schedule a poll that a person asked for and that may not happen yet."""
    due = hints.deferred_until(deferral, now=await now())
    if due is not None and _asked_by_a_person():
        await _schedule_poll(deferral.source_id, deferral.source_name, due, force=force)


async def schedule_run(
    deployment: str,
    *,
    what: str,
    thing: int,
    at: datetime,
    name: str,
    parameters: Mapping[str, Any],
) -> bool:
    """Schedule one run of a deployment; ``False`` where it cannot be or need not be.

    The same ``what``, ``thing`` and instant give the same run, however often it is asked for.
    With 200 of our runs outstanding no further one is made.
    """
    try:
        async with get_client() as client:
            found = await client.read_deployment_by_name(deployment)
            if await _outstanding(client) >= hints.MOST_OUTSTANDING:
                return False
        await arun_deployment(
            found.id,
            parameters=dict(parameters),
            scheduled_time=at + _NEVER_EARLY,
            flow_run_name=name,
            timeout=0,
            as_subflow=False,
            tags=[HINT_TAG],
            idempotency_key=f"{what}:{thing}:{at.isoformat()}",
        )
    except ObjectNotFound:
        return False
    except Exception as trouble:  # noqa: BLE001 - a hint that cannot be given fails nothing
        _log.warning("%s could not be scheduled: %s", name, type(trouble).__name__)
        return False
    return True


async def _schedule_poll(source_id: SourceId, name: str, due: datetime, *, force: bool) -> None:
    scheduled = await schedule_run(
        POLL_SOURCE,
        what="poll",
        thing=source_id,
        at=due,
        name=f"poll-{name}",
        parameters={"source_id": source_id, "force": force},
    )
    if scheduled:
        await in_thread(leave_to_run, source_id, due)


async def scheduled_polls() -> dict[UUID, ScheduledPoll]:
    """Our scheduled runs of ``poll-source`` that have not begun, by run id; 200 at most."""
    async with get_client() as client:
        runs = await client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=["poll-source"])),
            flow_run_filter=_OURS_WAITING,
            limit=hints.MOST_OUTSTANDING,
        )
    return {
        run.id: ScheduledPoll(
            source_id=SourceId(int(run.parameters["source_id"])),
            at=run.next_scheduled_start_time - _NEVER_EARLY,
            force=bool(run.parameters.get("force", False)),
        )
        for run in runs
        if run.next_scheduled_start_time is not None
    }


async def cancel_run(run_id: UUID, why: str) -> None:
    """Cancel a run that has not begun."""
    async with get_client() as client:
        await client.set_flow_run_state(run_id, Cancelled(message=why), force=True)


async def _outstanding(client: PrefectClient) -> int:
    """How many of our scheduled runs have not begun."""
    return await client.count_flow_runs(flow_run_filter=_OURS_WAITING)


def _asked_by_a_person() -> bool:
    """Whether this run is a deployment's, begun by hand: no tick's subflow, no hint of ours."""
    run = runtime.flow_run
    return (
        runtime.deployment.id is not None
        and run.parent_flow_run_id is None
        and HINT_TAG not in run.tags
    )
