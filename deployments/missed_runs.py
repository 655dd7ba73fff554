"""Runs whose instant went by while nobody was here to run them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterName,
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
    FlowRunFilterTags,
)
from prefect.client.schemas.objects import StateType
from prefect.exceptions import ObjectNotFound

from sourcemon.clock import SystemClock

MISSED_AFTER = timedelta(minutes=2)
"""Younger ones may be about to be begun by another runner."""
AUTO_SCHEDULED = "auto-scheduled"
"""The tag by which Prefect tells the runs of a schedule from those that somebody asked for."""

_AT_ONCE = 200


async def forget_missed(deployments: Sequence[str]) -> int:
    """Remove the runs that schedules of these deployments made for instants gone by; how many.

    Prefect makes them an hour ahead. After a night all of them would begin at once, and all but
    two be cancelled. A run that somebody asked for stays: it is late and still wanted.
    """
    of_ours = DeploymentFilter(name=DeploymentFilterName(any_=list(deployments)))
    before = SystemClock().now() - MISSED_AFTER
    missed = FlowRunFilter(
        tags=FlowRunFilterTags(all_=[AUTO_SCHEDULED]),
        state=FlowRunFilterState(type=FlowRunFilterStateType(any_=[StateType.SCHEDULED])),
        expected_start_time=FlowRunFilterExpectedStartTime.model_validate({"before_": before}),
    )
    count = 0
    async with get_client() as client:
        while runs := await client.read_flow_runs(
            deployment_filter=of_ours, flow_run_filter=missed, limit=_AT_ONCE
        ):
            for run in runs:
                with suppress(ObjectNotFound):
                    await client.delete_flow_run(run.id)
            count += len(runs)
    return count
