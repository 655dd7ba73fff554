"""What is served is what `prefect.yaml` says, and what `prefect deploy` would make of it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect.client.orchestration import get_client
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import IntervalSchedule
from prefect.runner import Runner

from deployments import manifest
from deployments.manifest import Served
from deployments.runner import TICK, processes
from deployments.server_objects import provision
from sourcemon.operations.deps import Deps

ROOT = Path(__file__).parents[2]
ENTRIES: dict[str, Any] = {
    entry["name"]: entry
    for entry in yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]
}
OF_A_POOL = {"work_pool_name", "work_queue_name", "work_queue_id", "job_variables"}
OF_ITS_MAKING = {
    *("id", "created", "updated", "created_by", "updated_by", "last_polled", "status"),
    *("version", "version_id", "version_info", "branch", "base", "root"),
    *("global_concurrency_limit", "labels", "pull_steps", "path"),
}


@pytest.fixture(scope="module")
def served() -> dict[str, Served]:
    return {one.deployment.name: one for one in asyncio.run(manifest.deployments())}


def test_every_deployment_of_the_file_is_served(served: dict[str, Served]) -> None:
    assert list(served) == list(ENTRIES)
    assert TICK in {one.deployment.full_name for one in served.values()}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_deployment_is_served_as_the_file_has_it(name: str, served: dict[str, Served]) -> None:
    entry, deployment = ENTRIES[name], served[name].deployment

    assert deployment.entrypoint == entry["entrypoint"]
    assert deployment.description == entry["description"]
    assert deployment.tags == entry["tags"]
    assert deployment.parameters == entry.get("parameters", {})
    assert deployment.concurrency_options is not None
    assert {
        "limit": deployment.concurrency_limit,
        **deployment.concurrency_options.model_dump(mode="json"),
    } == entry["concurrency_limit"]
    intervals = {}
    for schedule in deployment.schedules or ():
        assert isinstance(schedule.schedule, IntervalSchedule)
        intervals[schedule.slug] = schedule.schedule.interval.total_seconds()
    assert intervals == {each["slug"]: each["interval"] for each in entry["schedules"]}


def test_a_crowd_of_one_deployment_leaves_places_for_the_others(served: dict[str, Served]) -> None:
    limits = [entry["concurrency_limit"]["limit"] for entry in ENTRIES.values()]

    assert processes(list(served.values())) == sum(limits)


def test_a_key_that_would_get_lost_is_refused(tmp_path: Path) -> None:
    entry = {**ENTRIES["poll-due"], "triggers": []}
    changed = tmp_path / "prefect.yaml"
    changed.write_text(yaml.safe_dump({"deployments": [entry]}))

    with pytest.raises(ValueError, match=r"poll-due cannot be served with \['triggers'\]"):
        asyncio.run(manifest.deployments(changed))


@pytest.fixture
def deployed(prefect_server: str, deps: Deps, no_deployments: None) -> None:
    """Every deployment on the work pool, by Prefect's own command."""
    asyncio.run(provision(work_pool=True))
    subprocess.run(
        (sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"),
        cwd=ROOT,
        env=os.environ | {"PREFECT_API_URL": prefect_server},
        check=True,
        capture_output=True,
    )


@pytest.mark.usefixtures("deployed")
def test_served_is_what_deployed_is_less_the_work_pool() -> None:
    async def both() -> list[dict[str, DeploymentResponse]]:
        async with get_client() as client:
            before = await client.read_deployments()
            runner = Runner(name="test", pause_on_shutdown=False)
            for one in await manifest.deployments():
                await runner.aadd_deployment(one.deployment)
            after = await client.read_deployments()
        return [{found.name: found for found in each} for each in (before, after)]

    deployed, served = asyncio.run(both())

    assert set(deployed) == set(served) == set(ENTRIES)
    for name, before in deployed.items():
        after = served[name]
        assert after.id == before.id
        assert before.work_pool_name == "sourcemon"
        assert (after.work_pool_name, after.pull_steps) == (None, None)
        assert _settled(after) == _settled(before)


def _settled(deployment: DeploymentResponse) -> dict[str, Any]:
    """What both ways must agree on."""
    settled = deployment.model_dump(mode="json", exclude=OF_A_POOL | OF_ITS_MAKING | {"schedules"})
    limit = deployment.global_concurrency_limit
    settled["limit"] = limit.limit if limit else None
    settled["schedules"] = [
        (each.slug, each.active, str(each.schedule.model_dump(exclude={"anchor_date"})))
        for each in deployment.schedules
    ]
    return settled
