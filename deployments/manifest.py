"""``prefect.yaml`` as deployments that a process of ours serves: the file is the one source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from prefect.client.schemas.objects import ConcurrencyLimitConfig
from prefect.deployments.runner import RunnerDeployment
from prefect.flows import Flow, load_flow_from_entrypoint
from prefect.schedules import Schedule
from prefect.types.entrypoint import EntrypointType

FILE = Path(__file__).resolve().parent.parent / "prefect.yaml"

Entry = Mapping[str, Any]
"""One deployment as the file has it."""

_PASSED_ON = {"name", "description", "tags", "parameters", "version", "paused"}
_CONVERTED = {"entrypoint", "concurrency_limit", "schedules"}
_OF_WORKERS = {"work_pool"}


@dataclass(frozen=True, slots=True)
class Served:
    """A deployment, and when it runs, in words for a person."""

    deployment: RunnerDeployment
    when: str


async def deployments(file: Path = FILE) -> tuple[Served, ...]:
    """Every deployment of the file, in its order, free of any work pool.

    Raises:
        ValueError: an entry has a key that would be served differently than it is deployed.
        ImportError: the module of an entrypoint cannot be imported.
    """
    return tuple([await _served(entry) for entry in _entries(file)])


def _entries(file: Path) -> list[Entry]:
    entries: list[Entry] = yaml.safe_load(file.read_text())["deployments"]
    return entries


async def _served(entry: Entry) -> Served:
    unknown = set(entry) - _PASSED_ON - _CONVERTED - _OF_WORKERS
    if unknown:
        raise ValueError(f"{FILE.name}: {entry['name']} cannot be served with {sorted(unknown)}")
    flow: Flow[..., Any] = load_flow_from_entrypoint(
        entry["entrypoint"], use_placeholder_flow=False
    )
    schedules = [_schedule(schedule) for schedule in entry.get("schedules") or ()]
    deployment = await flow.ato_deployment(
        **{key: value for key, value in entry.items() if key in _PASSED_ON},
        schedules=schedules,
        concurrency_limit=_limit(entry.get("concurrency_limit")),
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    # Set, not left out: a deployment that was deployed to a pool before is taken off it.
    deployment.work_pool_name = None
    deployment.work_queue_name = None
    return Served(deployment, ", ".join(map(_when, schedules)) or "on demand")


def _schedule(entry: Entry) -> Schedule:
    """A schedule of the file; its interval is in seconds and its anchor an ISO instant."""
    given = dict(entry)
    if "interval" in given:
        given["interval"] = timedelta(seconds=given["interval"])
    if "anchor_date" in given:
        given["anchor_date"] = datetime.fromisoformat(given["anchor_date"])
    return Schedule(**given)


def _limit(entry: int | Entry | None) -> int | ConcurrencyLimitConfig | None:
    return ConcurrencyLimitConfig(**entry) if isinstance(entry, Mapping) else entry


def _when(schedule: Schedule) -> str:
    if schedule.interval is None:
        return f"at {schedule.cron or schedule.rrule}"
    return f"every {schedule.interval.total_seconds():g} s"
