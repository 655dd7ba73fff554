"""What a Prefect server must hold besides deployments: limits, an automation, a work pool."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ChangeFlowRunState
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound
from prefect.workers.process import ProcessWorker

from sourcemon.errors import Refused
from tasks.limits import provision_limits

HEARTBEAT = timedelta(seconds=30)
"""How often a run says that it lives: the shortest that Prefect allows."""
DEAD_AFTER = 3 * HEARTBEAT
"""The silence after which a run is taken for dead."""
AUTOMATION = "sourcemon: a run that fell silent has crashed"
WORK_POOL = "sourcemon"
WORK_QUEUE = "default"

_A_FLOW_RUN = "prefect.flow-run.*"


def dead_runs_crash() -> AutomationCore:
    """The automation that ends a run whose process died.

    Any event of a flow run counts as a sign of life, since a state's event carries its name and
    ours have names of their own.
    """
    return AutomationCore(
        name=AUTOMATION,
        description="Without it the run of a killed process stays Running for ever.",
        enabled=True,
        trigger=EventTrigger(
            match=ResourceSpecification({"prefect.resource.id": [_A_FLOW_RUN]}),
            for_each={"prefect.resource.id"},
            after={"prefect.flow-run.heartbeat"},
            expect={_A_FLOW_RUN},
            posture=Posture.Proactive,
            threshold=1,
            within=DEAD_AFTER,
        ),
        actions=[
            ChangeFlowRunState(
                name=None,
                force=False,
                state=StateType.CRASHED,
                message=f"no sign of life for {DEAD_AFTER.total_seconds():g} seconds",
            )
        ],
    )


async def provision(*, work_pool: bool = False) -> tuple[str, ...]:
    """Create or mend what the server must hold; what was changed, a line each, often nothing.

    Raises:
        Refused: there is a work pool of that name whose type is another one.
        BadSetting: a setting is out of range.
        DatabaseUnavailable: our database cannot be reached; the limits' sizes are of its settings.
    """
    sizes = await provision_limits()
    changed = [f"limit {name}: {size} slots" for name, size in sizes.items()]
    async with get_client() as client:
        changed += [line async for line in _mend_automation(client)]
        if work_pool:
            changed += [line async for line in _mend_work_pool(client)]
    return tuple(changed)


async def _mend_automation(client: PrefectClient) -> AsyncIterator[str]:
    """Have the automation exactly once and as we want it."""
    wanted = dead_runs_crash()
    found = await client.read_automations_by_name(AUTOMATION)
    if not found:
        await client.create_automation(wanted)
        yield f"automation {AUTOMATION!r}: created"
        return
    first, *others = sorted(found, key=lambda automation: str(automation.id))
    if AutomationCore(**first.model_dump(exclude={"id"})) != wanted:
        await client.update_automation(first.id, wanted)
        yield f"automation {AUTOMATION!r}: mended"
    for other in others:
        await client.delete_automation(other.id)
        yield f"automation {AUTOMATION!r}: removed a second one"


async def _mend_work_pool(client: PrefectClient) -> AsyncIterator[str]:
    """Have the work pool that ``prefect.yaml`` names, for workers that start processes."""
    try:
        pool = await client.read_work_pool(WORK_POOL)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        await client.create_work_pool(
            WorkPoolCreate(name=WORK_POOL, type=ProcessWorker.type, base_job_template=template)
        )
        yield f"work pool {WORK_POOL}: created"
    else:
        if pool.type != ProcessWorker.type:
            raise Refused(
                f"the work pool {WORK_POOL} is of type {pool.type}; its workers need settings of"
                " their own, so it is left as it is"
            )
    try:
        await client.read_work_queue_by_name(WORK_QUEUE, work_pool_name=WORK_POOL)
    except ObjectNotFound:
        await client.create_work_queue(name=WORK_QUEUE, work_pool_name=WORK_POOL)
        yield f"work queue {WORK_POOL}/{WORK_QUEUE}: created"
