"""Regular upkeep as tasks: our tables, Prefect's limits, and runs that lost their reason."""

from __future__ import annotations

from prefect import task
from prefect.cache_policies import NO_CACHE

from sourcemon.core.upkeep import Upkeep
from sourcemon.operations import upkeep
from tasks.limits import provision_limits
from tasks.operation_threads import in_thread
from tasks.scheduling import cancel_run, scheduled_polls


@task(
    name="reconcile",
    task_run_name="reconcile",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def reconcile() -> Upkeep:
    """Free expired claims and close interrupted runs."""
    return await in_thread(upkeep.reconcile)


@task(
    name="mend-limits",
    task_run_name="mend-limits",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def mend_limits() -> dict[str, int]:
    """Create or resize limits that are missing or wrong; those that were."""
    return await provision_limits()


@task(
    name="cancel-pointless-runs",
    task_run_name="cancel-pointless-runs",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def cancel_pointless_runs() -> int:
    """Cancel scheduled polls that would find nothing to do; how many."""
    waiting = await scheduled_polls()
    pointless = await in_thread(upkeep.pointless, list(waiting.values()))
    cancelled = [run_id for run_id, poll in waiting.items() if poll in pointless]
    for run_id in cancelled:
        await cancel_run(run_id, "the source was polled or switched off in the meantime")
    return len(cancelled)
