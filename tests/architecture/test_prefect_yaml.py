"""prefect.yaml says what Prefect understands. Prefect itself ignores any key it does not know."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from prefect.cli.deploy._models import (
    ConcurrencyLimitSpec,
    DeploymentConfig,
    PrefectYamlModel,
    RawScheduleConfig,
    WorkPoolConfig,
)
from prefect.client.schemas.objects import ConcurrencyLimitStrategy
from prefect.flows import Flow, load_flow_from_entrypoint
from pydantic import BaseModel

from tests.architecture.project import ROOT

Document = dict[str, Any]

SHOWN: Document = yaml.safe_load((ROOT / "prefect.yaml").read_text())
DEPLOYMENTS = {deployment["name"]: deployment for deployment in SHOWN["deployments"]}

MISTAKES: dict[str, tuple[Callable[[Document], object], str]] = {
    "a limit that only we could provide": (
        lambda it: it.update(global_concurrency_limits=[]),
        "global_concurrency_limits",
    ),
    "schedules misspelt": (
        lambda it: it["deployments"][0].update(shedules=[{"interval": 60}]),
        "deployments[0].shedules",
    ),
    "a schedule's interval misspelt": (
        lambda it: it["deployments"][0].update(schedules=[{"interval": 60, "slugg": "x"}]),
        "deployments[0].schedules[0].slugg",
    ),
    "a limit's strategy misspelt": (
        lambda it: it["deployments"][0].update(concurrency_limit={"limit": 1, "strategy": "X"}),
        "deployments[0].concurrency_limit.strategy",
    ),
    "a pool's queue misspelt": (
        lambda it: it["deployments"][0].update(work_pool={"name": "x", "queue": "y"}),
        "deployments[0].work_pool.queue",
    ),
    "an old key of Prefect's": (
        lambda it: it["deployments"][0].update(infra_overrides={}),
        "deployments[0].infra_overrides",
    ),
}


def test_every_key_is_known_to_prefect() -> None:
    assert list(unknown_keys(SHOWN)) == []


@pytest.mark.parametrize("mistake, path", MISTAKES.values(), ids=MISTAKES)
def test_a_key_that_prefect_would_ignore_is_found(
    mistake: Callable[[Document], object], path: str
) -> None:
    document = copy.deepcopy(SHOWN)
    mistake(document)

    assert list(unknown_keys(document)) == [path]


def test_every_value_is_accepted_by_prefect() -> None:
    PrefectYamlModel.model_validate(SHOWN)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_schedules_and_limits_are_what_prefect_takes(name: str) -> None:
    """Apart from the document: there Prefect lets pass what is no schedule and no strategy."""
    deployment = DEPLOYMENTS[name]
    for schedule in deployment.get("schedules") or ():
        RawScheduleConfig.model_validate(schedule)
        assert schedule["slug"], "without a slug a changed schedule is added, not replaced"
    limit = deployment.get("concurrency_limit")
    if isinstance(limit, dict):
        ConcurrencyLimitSpec.model_validate(limit, strict=True)
        ConcurrencyLimitStrategy(limit["collision_strategy"])


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_the_entrypoint_is_a_module_and_loads(name: str) -> None:
    entrypoint = DEPLOYMENTS[name]["entrypoint"]

    assert all(part.isidentifier() for part in entrypoint.split("."))

    flow: Flow[..., Any] = load_flow_from_entrypoint(entrypoint, use_placeholder_flow=False)

    assert flow.name == name
    assert set(DEPLOYMENTS[name].get("parameters") or ()) <= set(flow.parameters.properties)


def unknown_keys(document: Document) -> Iterator[str]:
    """Where a document has keys that Prefect does not read; ``definitions`` holds YAML anchors."""
    yield from _unknown(PrefectYamlModel, document, "", besides={"definitions"})
    for number, deployment in enumerate(document.get("deployments") or ()):
        path = f"deployments[{number}]."
        yield from _unknown(DeploymentConfig, deployment, path)
        yield from _unknown(WorkPoolConfig, deployment.get("work_pool"), f"{path}work_pool.")
        limit = deployment.get("concurrency_limit")
        if isinstance(limit, dict):
            yield from _unknown(ConcurrencyLimitSpec, limit, f"{path}concurrency_limit.")
        for index, schedule in enumerate(deployment.get("schedules") or ()):
            yield from _unknown(RawScheduleConfig, schedule, f"{path}schedules[{index}].")


def _unknown(
    model: type[BaseModel], value: Document | None, path: str, *, besides: set[str] | None = None
) -> Iterator[str]:
    known = set(model.model_fields) | (besides or set())
    known |= {field.alias for field in model.model_fields.values() if field.alias}
    yield from (f"{path}{key}" for key in value or () if key not in known)
