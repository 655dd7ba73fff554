"""The one way from the asynchronous ring to the synchronous library: a bounded pool of threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Generic, TypeVar

import anyio
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync
from prefect.context import FlowRunContext

from sourcemon import wiring
from sourcemon.operations.deps import Deps

T = TypeVar("T")

_LIMITER: RunVar[anyio.CapacityLimiter] = RunVar("operation_threads")
_STOP: RunVar[threading.Event] = RunVar("operation_stop")
ENDS_WITHIN_S = 10.0
"""The longest wait for a thread that was told to stop: a look-up cannot be hurried."""


async def in_thread(operation: Callable[..., T], *args: object, **kwargs: object) -> T:
    """What ``operation(deps, *args, **kwargs)`` returns, run in a thread.

    At most ``polling.threads`` operations run at once in a process, or as many as the process has
    slots for; the others wait their turn. Where one call is cancelled the process is to end: none
    of this event loop begins a further request, those under way end within a second, and the
    cancelled call returns once its thread has.
    """
    deps = await wired()
    work = _Work(partial(operation, deps, *args, **kwargs))
    stop = _stop()
    try:
        with wiring.stoppable(stop):
            return await run_sync(work, limiter=_limiter(deps))
    except asyncio.CancelledError:
        stop.set()
        _STOP.set(threading.Event())
        work.await_end()
        raise


class _Work(Generic[T]):
    """A call whose end can be waited for without the event loop, which may be ending itself."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._begun = threading.Event()
        self._ended = threading.Event()

    def __call__(self) -> T:
        self._begun.set()
        try:
            return self._call()
        finally:
            self._ended.set()

    def await_end(self) -> None:
        """Wait for the thread: it cannot be cancelled, and what it does needs the slot we hold."""
        if self._begun.is_set():
            self._ended.wait(ENDS_WITHIN_S)


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


def _stop() -> threading.Event:
    """What tells the operations of the running event loop to stop."""
    try:
        return _STOP.get()
    except LookupError:
        stop = threading.Event()
        _STOP.set(stop)
        return stop


def _limiter(deps: Deps) -> anyio.CapacityLimiter:
    """The limiter of the running event loop."""
    try:
        return _LIMITER.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(deps.policies.threads)
        _LIMITER.set(limiter)
        return limiter
