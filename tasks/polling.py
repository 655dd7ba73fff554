"""The steps of one poll as tasks.

No task here is cached, retried or its result kept: when to try again is the schedule's to say.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from prefect import task
from prefect.cache_policies import NO_CACHE

from sourcemon.core.results import Deferral, PollResult
from sourcemon.core.sources import SourceId
from sourcemon.operations import check_schedule as step_1
from sourcemon.operations import evaluate_health as step_4
from sourcemon.operations import fetch_page as step_2
from sourcemon.operations import persist_page as step_3
from sourcemon.operations.deps import Deps
from sourcemon.operations.poll_context import Poll
from tasks.operation_threads import in_thread
from tasks.polls_under_way import polls_under_way


@dataclass(frozen=True, slots=True, kw_only=True)
class PollBegun:
    """A poll may go ahead; ``key`` is how the later steps find it in this process."""

    key: str
    source_name: str


@task(
    name="check-schedule",
    task_run_name="check-schedule",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def check_schedule(source_id: int, *, force: bool = False) -> PollBegun | Deferral:
    """Claim the source and ask its schedule: a poll that may go ahead, or why not now."""
    wanted = SourceId(source_id)
    token = polls_under_way.take_over(wanted)
    came_of_it: list[Poll | Deferral] = []
    try:
        await in_thread(_check, came_of_it, wanted, force=force, token=token)
    except asyncio.CancelledError:
        for begun in came_of_it:
            await _give_up(begun)
        raise
    begun = came_of_it[0]
    if isinstance(begun, Deferral):
        return begun
    return PollBegun(key=polls_under_way.begin(begun), source_name=begun.context.source.name)


def _check(
    deps: Deps,
    came_of_it: list[Poll | Deferral],
    source_id: SourceId,
    *,
    force: bool,
    token: str | None,
) -> None:
    """Leave what came of the check where it is found even if nobody waits for it any more."""
    came_of_it.append(step_1.check_schedule(deps, source_id, force=force, token=token))


async def _give_up(begun: Poll | Deferral) -> None:
    """Release the claim of a poll that was claimed while its flow was being cancelled."""
    if isinstance(begun, Poll):
        await in_thread(step_4.evaluate_health, begun)


@task(
    name="fetch-page",
    task_run_name="fetch-page-{page}",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def fetch_page(key: str, page: int) -> step_2.PageFetched:
    """Make the poll's next request; the page itself stays in this process."""
    del page  # names the task run; the walk knows where it is
    return await in_thread(step_2.fetch_page, polls_under_way.get(key))


@task(
    name="persist-page",
    task_run_name="persist-page-{page}",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def persist_page(key: str, page: int) -> step_3.PagePersisted:
    """Decode the page that waits and store what is new in it."""
    del page  # names the task run
    return await in_thread(step_3.persist_page, polls_under_way.get(key))


@task(
    name="evaluate-health",
    task_run_name="evaluate-health",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def evaluate_health(key: str) -> PollResult | None:
    """Record the poll's verdict and forget it; ``None`` when it stopped before a request."""
    try:
        return await in_thread(step_4.evaluate_health, polls_under_way.get(key))
    finally:
        polls_under_way.end(key)
