"""The fleet's cap on polls under way, kept by Prefect's slots across all processes.

A slot is taken once for a run, never for a request. A limit that is missing or has another size
than the setting says is mended on the way, never ignored: without one Prefect would set no cap.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import (
    GlobalConcurrencyLimitCreate,
    GlobalConcurrencyLimitUpdate,
)
from prefect.concurrency.asyncio import AcquireConcurrencySlotTimeoutError, concurrency
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound

from sourcemon.core.sources import SourceId
from sourcemon.errors import NoSlotFree
from tasks.operation_threads import use_threads, wired
from tasks.polls_under_way import polls_under_way

POLLS = "sourcemon-polls"
"""The name of the limit that every poll counts against."""
LEASE_S = 60
"""Seconds after which the slots of a dead process are free again; the shortest that is allowed."""
PATIENCE_S = 5.0
"""How long a tick waits for all the slots that it could use before it takes fewer."""
LAST_PATIENCE_S = 20.0
"""How long anything waits for its one slot."""

_log = logging.getLogger(__name__)
_was_there = threading.Event()
"""Set once this process saw the limit as it should be: that a new server has none is no news."""


async def limit_problem() -> str | None:
    """What is wrong with the limit, ``None`` when it is there in the size that the setting says."""
    size = (await wired()).policies.max_in_flight
    async with get_client() as client:
        found = await _size_of(client, POLLS)
    if found == size:
        return None
    return f"{POLLS} is {found or 'missing or inactive'} where the setting says {size}"


async def provision_limits() -> dict[str, int]:
    """Create or mend every limit; what was wrong, by name, with the size it has now."""
    problem = await limit_problem()
    if problem is None:
        _was_there.set()
        return {}
    size = (await wired()).policies.max_in_flight
    async with get_client() as client:
        await _mend(client, size)
    level = logging.WARNING if _was_there.is_set() else logging.INFO
    _was_there.set()
    _log.log(level, "%s; mended", problem)
    return {POLLS: size}


@asynccontextmanager
async def poll_slots(wanted: int) -> AsyncIterator[int]:
    """Hold slots for up to ``wanted`` polls at once, at least one; how many, and so many threads.

    No more than the process has threads are taken, and fewer where the fleet has fewer free.

    Raises:
        NoSlotFree: not even one became free in time.
    """
    await provision_limits()
    threads = (await wired()).policies.threads
    async with AsyncExitStack() as held:
        slots = await _take(held, min(wanted, threads))
        await use_threads(slots)
        yield slots


@asynccontextmanager
async def poll_slot(source_id: SourceId) -> AsyncIterator[None]:
    """Hold the slot for one poll, unless a tick of this process holds one for it already.

    Raises:
        NoSlotFree: none became free in time.
    """
    if polls_under_way.is_handed_over(source_id):
        yield
        return
    async with poll_slots(1):
        yield


async def _take(held: AsyncExitStack, wanted: int) -> int:
    """Enter ``held`` with all the slots wanted, else with those free, else with one."""
    size, free = await _size_and_free()
    for occupy, patience in (
        (min(wanted, size), PATIENCE_S),
        (free, PATIENCE_S),
        (1, LAST_PATIENCE_S),
    ):
        if occupy < 1:
            continue
        slots = concurrency(
            POLLS,
            occupy=occupy,
            timeout_seconds=patience,
            lease_duration=LEASE_S,
            strict=True,
            raise_on_lease_renewal_failure=False,
        )
        try:
            await held.enter_async_context(slots)
        except AcquireConcurrencySlotTimeoutError:
            continue
        return occupy
    raise NoSlotFree(POLLS, size)


async def _size_and_free() -> tuple[int, int]:
    async with get_client() as client:
        limit = await client.read_global_concurrency_limit_by_name(POLLS)
    return limit.limit, limit.limit - limit.active_slots


async def _mend(client: PrefectClient, size: int) -> None:
    """Have the limit in this size and switched on, whoever else is at it at this moment."""
    with suppress(ObjectAlreadyExists):
        wanted = GlobalConcurrencyLimitCreate(name=POLLS, limit=size, active=True)
        await client.create_global_concurrency_limit(wanted)
        return
    change = GlobalConcurrencyLimitUpdate(limit=size, active=True)
    await client.update_global_concurrency_limit(POLLS, change)


async def _size_of(client: PrefectClient, name: str) -> int | None:
    """The size of a limit, ``None`` where it is missing or switched off."""
    try:
        limit = await client.read_global_concurrency_limit_by_name(name)
    except ObjectNotFound:
        return None
    return limit.limit if limit.active else None
