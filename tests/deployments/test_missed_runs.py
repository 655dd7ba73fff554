"""Ticks of the past are forgotten; what somebody asked for is not."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from prefect import flow
from prefect.client.orchestration import PrefectClient, get_client
from prefect.states import Scheduled

from deployments.missed_runs import AUTO_SCHEDULED, MISSED_AFTER, forget_missed
from sourcemon.clock import SystemClock
from tasks.scheduling import HINT_TAG

pytestmark = pytest.mark.usefixtures("no_deployments")

SECOND = timedelta(seconds=1)
RUNS = {
    "missed": (-MISSED_AFTER - SECOND, AUTO_SCHEDULED),
    "missed long ago": (-timedelta(days=1), AUTO_SCHEDULED),
    "about to begin": (-MISSED_AFTER + 60 * SECOND, AUTO_SCHEDULED),
    "ahead": (timedelta(minutes=1), AUTO_SCHEDULED),
    "a retry that is late": (-timedelta(days=1), HINT_TAG),
}
"""How long from now each run is to begin, and its tag."""


@flow
def some_flow() -> None:
    """Do nothing."""


def test_only_what_a_schedule_made_for_the_past_is_forgotten() -> None:
    async def forgotten() -> tuple[int, int, set[str]]:
        async with get_client() as client:
            await _make_runs(client)
            first, second = await forget_missed(["of-the-past"]), await forget_missed(["other"])
            left = await client.read_flow_runs()
        return first, second, {run.name for run in left if run.name in RUNS}

    assert asyncio.run(forgotten()) == (2, 0, set(RUNS) - {"missed", "missed long ago"})


async def _make_runs(client: PrefectClient) -> None:
    flow_id = await client.create_flow(some_flow)
    deployment_id = await client.create_deployment(flow_id, "of-the-past")
    now = SystemClock().now()
    for name, (wait, tag) in RUNS.items():
        await client.create_flow_run_from_deployment(
            deployment_id, name=name, tags=[tag], state=Scheduled(scheduled_time=now + wait)
        )
