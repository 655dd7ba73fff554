"""What tests of deployments share: wired dependencies, and a server without deployments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from prefect.client.orchestration import get_client

from sourcemon import wiring
from sourcemon.operations.deps import Deps
from sourcemon.settings import Settings


@pytest.fixture
def deps(sqlite_url: str) -> Iterator[Deps]:
    """Dependencies on a database of the test's own, in force in this process."""
    with wiring.use(wiring.build(Settings(database_url=sqlite_url))) as wired:
        yield wired
        wired.close()


@pytest.fixture
def no_deployments(prefect_server: str) -> Iterator[None]:
    """The session's server without a deployment, before the test and after it."""
    asyncio.run(_remove_deployments())
    yield
    asyncio.run(_remove_deployments())


async def _remove_deployments() -> None:
    async with get_client() as client:
        for deployment in await client.read_deployments():
            await client.delete_deployment(deployment.id)
