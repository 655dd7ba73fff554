"""One tick of the fleet: taking due sources, polling them host by host, giving back the rest."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from prefect import task
from prefect.cache_policies import NO_CACHE

from sourcemon.core.dispatch import ClaimedSource
from sourcemon.core.results import Attempt, OutcomeName, PollResult, outcome_name
from sourcemon.operations import dispatch
from sourcemon.operations.poll import poll
from tasks.operation_threads import in_thread
from tasks.polls_under_way import polls_under_way
from tasks.scheduling import schedule_retry

STOPS_TAKING_WORK_AFTER_S = 45.0
"""Seconds after which a tick begins no further poll, so that it ends about when the next begins."""

Group = Sequence[ClaimedSource]
"""Sources of one host."""
PollOne = Callable[[ClaimedSource], Awaitable[OutcomeName]]


@dataclass(slots=True, kw_only=True)
class Tick:
    """What came of one tick or of a part of it: outcomes, and faults of ours."""

    ends: float = field(default_factory=lambda: time.monotonic() + STOPS_TAKING_WORK_AFTER_S)
    """The reading of the monotonic clock after which no poll is begun."""
    outcomes: list[OutcomeName] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)

    async def run(self, groups: Sequence[Group], one: PollOne, *, at_once: int) -> None:
        """Poll at most ``at_once`` groups side by side, one source of a group at a time."""
        places = asyncio.Semaphore(at_once)

        async def in_place(group: Group) -> None:
            async with places:
                await self._run_group(group, one)

        await asyncio.gather(*(in_place(group) for group in groups))

    async def _run_group(self, group: Group, one: PollOne) -> None:
        """Poll one host's sources in turn; a fault is kept and ends nothing else."""
        for claimed in group:
            if time.monotonic() >= self.ends:
                return
            try:
                self.outcomes.append(await one(claimed))
            except Exception as fault:  # noqa: BLE001 - kept here, raised together by the flow
                self.faults.append(fault)

    def take_in(self, part: Tick) -> None:
        """Add what came of a part of this tick."""
        self.outcomes.extend(part.outcomes)
        self.faults.extend(part.faults)


@task(
    name="claim-due",
    task_run_name="claim-due",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def claim_due(limit: int) -> tuple[ClaimedSource, ...]:
    """Up to ``limit`` due sources, claimed for this process."""
    claimed = await in_thread(dispatch.claim_due, limit=limit)
    polls_under_way.hand_over(claimed)
    return claimed


@task(
    name="give-back",
    task_run_name="give-back",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def give_back(claimed: Sequence[ClaimedSource]) -> None:
    """Release sources that were claimed and not begun, exactly as they were."""
    await in_thread(dispatch.release_unstarted, claimed)


@task(
    name="poll",
    task_run_name="poll-{claimed.name}",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def poll_claimed(claimed: ClaimedSource) -> OutcomeName:
    """Poll one claimed source, all four steps in one go."""
    attempt = await _polled(claimed)
    if isinstance(attempt, PollResult):
        await schedule_retry(attempt)
    return outcome_name(attempt)


@task(
    name="poll-batch",
    task_run_name="poll-batch-{number}",
    cache_policy=NO_CACHE,
    persist_result=False,
    retries=0,
)
async def poll_batch(number: int, groups: Sequence[Group], *, ends: float, at_once: int) -> Tick:
    """Poll many sources within one task; what came of them."""
    del number  # names the task run
    part = Tick(ends=ends)
    await part.run(groups, poll_quietly, at_once=at_once)
    return part


async def poll_quietly(claimed: ClaimedSource) -> OutcomeName:
    """Poll one claimed source without a task of its own."""
    return outcome_name(await _polled(claimed))


async def _polled(claimed: ClaimedSource) -> Attempt:
    """Poll one source under the claim that this process holds on it."""
    polls_under_way.take_over(claimed.source_id)
    return await in_thread(poll, claimed.source_id, token=claimed.token)
