"""The process that serves every deployment: it starts scheduled runs as processes of their own.

Its standard output is for the person who started us, its standard error is its log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from prefect.client.orchestration import get_client
from prefect.deployments import arun_deployment
from prefect.exceptions import ObjectNotFound
from prefect.runner import Runner

from deployments import lifeline, manifest
from deployments.manifest import Served
from deployments.missed_runs import forget_missed
from deployments.server_objects import provision

LOOKS_EVERY_S = 2.0
"""How long a run that was asked for by hand waits at most until we see it."""
TICK = "poll-due/poll-due"
READY = "ready"
"""The line that says that everything is served."""

_ASKS_EVERY_S = 0.5
_PATIENCE_S = 60.0


def main() -> None:
    """Serve until SIGTERM or the end of the lifeline."""
    lifeline.hold()
    logging.getLogger("tasks.limits").setLevel(logging.ERROR)  # we tell ourselves what it mends
    asyncio.run(_serve())


def processes(served: Sequence[Served]) -> int:
    """How many runs may be under way at once, each in a process of its own.

    As many as the deployments' limits add up to: a crowd of retries never keeps a tick waiting.
    """
    return sum(one.deployment.concurrency_limit or 1 for one in served)


async def _serve() -> None:
    await _answered()
    for line in await provision():
        _say(f"Provisioned {line}")
    served = await manifest.deployments()
    missed = await forget_missed([one.deployment.name for one in served])
    if missed:
        _say(f"Forgot {missed} scheduled runs of a time when nobody was here to run them")
    runner = Runner(
        name="sourcemon",
        limit=processes(served),
        query_seconds=LOOKS_EVERY_S,
        pause_on_shutdown=False,
    )
    for one in served:
        await runner.aadd_deployment(one.deployment)
    for line in await _told(served):
        _say(line)
    await arun_deployment(TICK, timeout=0, as_subflow=False)  # the first one, at once
    _say(READY)
    await runner.start()


async def _answered() -> None:
    """Return once the server answers, however long that takes; say so if it takes long."""
    waited = 0.0
    async with get_client() as client:
        while await client.api_healthcheck() is not None:
            await asyncio.sleep(_ASKS_EVERY_S)
            waited += _ASKS_EVERY_S
            if waited == _PATIENCE_S:
                _say(f"Waiting for the Prefect server at {client.api_url} …")


async def _told(served: Sequence[Served]) -> list[str]:
    """What is served and when, and whether somebody paused it."""
    lines = []
    async with get_client() as client:
        for one in served:
            try:
                found = await client.read_deployment_by_name(one.deployment.full_name)
            except ObjectNotFound:
                continue
            paused = ", but paused in the UI" if found.paused else ""
            lines.append(f"Serving {found.name}: {one.when}{paused}")
    return lines


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
