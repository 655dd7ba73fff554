"""The fleet's cap as the Prefect server knows it. Looks at it past the program."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator

from prefect.client.orchestration import get_client
from prefect.client.schemas.responses import GlobalConcurrencyLimitResponse
from prefect.exceptions import ObjectNotFound

from tasks.limits import POLLS


async def delete_limit() -> None:
    """Let the limit not exist, nor any slot of it be taken."""
    async with get_client() as client:
        with contextlib.suppress(ObjectNotFound):
            await client.delete_global_concurrency_limit_by_name(POLLS)


async def read_limit() -> GlobalConcurrencyLimitResponse:
    """The limit as it stands."""
    async with get_client() as client:
        return await client.read_global_concurrency_limit_by_name(POLLS)


def slots_in_use() -> int:
    """How many slots of the limit are taken; none where there is no limit."""
    try:
        return asyncio.run(read_limit()).active_slots
    except ObjectNotFound:
        return 0


@contextlib.contextmanager
def fresh_limit() -> Iterator[None]:
    """A server that has never heard of the limit, before and after the block."""
    asyncio.run(delete_limit())
    try:
        yield
    finally:
        asyncio.run(delete_limit())
