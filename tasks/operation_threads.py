"""The one way from the asynchronous ring to the synchronous library: a bounded pool of threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TypeVar

import anyio
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync
from prefect.context import FlowRunContext

from sourcemon import wiring
from sourcemon.operations.deps import Deps

T = TypeVar("T")

_LIMITER: RunVar[anyio.CapacityLimiter] = RunVar("operation_threads")


async def in_thread(operation: Callable[..., T], *args: object, **kwargs: object) -> T:
    """What ``operation(deps, *args, **kwargs)`` returns, run in a thread.

    At most ``polling.threads`` operations run at once in a process, or as many as the process has
    slots for; the others wait their turn. A call that is cancelled ends the requests that the
    process has under way.
    """
    deps = await wired()
    work = partial(operation, deps, *args, **kwargs)
    try:
        return await run_sync(work, limiter=_limiter(deps))
    except asyncio.CancelledError:
        deps.http.abort()  # the thread goes on: let it not wait for a server
        raise


async def wired() -> Deps:
    """The dependencies in force; on a work pool they must not rest on a file of the worker's own.

    Raises:
        BadSetting: a work pool started this run and no database is set, or a setting is wrong.
    """
    run = FlowRunContext.get()
    pool = run.flow_run.work_pool_name if run is not None and run.flow_run is not None else None
    return await run_sync(wiring.deps_on_a_pool if pool else wiring.deps)


async def now() -> datetime:
    """This instant on the wired clock."""
    return (await wired()).clock.now()


async def use_threads(count: int) -> None:
    """Let ``count`` operations run at once in this event loop from now on."""
    _limiter(await wired()).total_tokens = count


def _limiter(deps: Deps) -> anyio.CapacityLimiter:
    """The limiter of the running event loop."""
    try:
        return _LIMITER.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(deps.policies.threads)
        _LIMITER.set(limiter)
        return limiter
