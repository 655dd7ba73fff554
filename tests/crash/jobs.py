"""What workers do. Each is called in the worker's process with the worker's dependencies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from prefect import State
from sqlalchemy import update

from flows.poll_due import poll_due
from flows.poll_source import poll_source
from sourcemon import wiring
from sourcemon.core.dispatch import Detail
from sourcemon.core.results import headline
from sourcemon.core.sources import SourceId
from sourcemon.operations import poll as polling
from sourcemon.operations.deps import Deps
from sourcemon.store.tables import SourceRow
from tasks import limits


def poll(deps: Deps, source_id: int) -> str:
    """Poll one source without Prefect; its headline."""
    return headline(polling.poll(deps, SourceId(source_id)))


def run_poll_source(deps: Deps, source_id: int) -> str:
    """Poll one source as a flow run; the run's name and message."""
    return _ended(deps, poll_source(source_id, return_state=True))


def run_poll_due(deps: Deps, limit: int, detail: Detail) -> str:
    """One tick of the fleet as a flow run; the run's name and message."""
    return _ended(deps, poll_due(limit, detail, return_state=True))


def run_poll_due_impatiently(deps: Deps, limit: int, detail: Detail) -> str:
    """As :func:`run_poll_due`, but soon content with fewer slots than it could use."""
    limits.PATIENCE_S = 0.5
    return run_poll_due(deps, limit, detail)


def _ended(deps: Deps, flow_call: Any) -> str:
    async def waited(call: Awaitable[State[Any]]) -> State[Any]:
        return await call

    with wiring.use(deps):
        state = asyncio.run(waited(flow_call))
    return f"{state.name}: {state.message}"


def hold_write_lock(deps: Deps) -> None:
    """Begin to write; where the worker stops before the statement, the lock is held until then."""
    with deps.database.write() as session:
        session.execute(update(SourceRow).values(name="whoever is not committed"))
