"""The one way from the asynchronous ring to the synchronous library: a bounded pool of threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync

from sourcemon import wiring
from sourcemon.operations.deps import Deps

T = TypeVar("T")

_LIMITER: RunVar[anyio.CapacityLimiter] = RunVar("operation_threads")


async def in_thread(operation: Callable[..., T], *args: object, **kwargs: object) -> T:
    """What ``operation(deps, *args, **kwargs)`` returns, run in a thread.

    At most ``polling.threads`` operations run at once in a process; the others wait their turn.
    """
    deps = await run_sync(wiring.deps)
    work = partial(operation, deps, *args, **kwargs)
    return await run_sync(work, limiter=_limiter(deps))


def _limiter(deps: Deps) -> anyio.CapacityLimiter:
    """The limiter of the running event loop."""
    try:
        return _LIMITER.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(deps.policies.threads)
        _LIMITER.set(limiter)
        return limiter
