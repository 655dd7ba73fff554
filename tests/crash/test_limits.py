"""The cap on polls under way is never missing, of a wrong size, or switched off for long."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate

from sourcemon.errors import NoSlotFree
from tasks import limits
from tasks.limits import POLLS, poll_slots, provision_limits
from tests.crash.conftest import world_of
from tests.crash.limits import fresh_limit, read_limit

pytestmark = pytest.mark.usefixtures("prefect_server")

SIZE = 6
THREADS = 4

WRONG = [
    pytest.param(None, id="missing"),
    pytest.param({"limit": 1}, id="too small"),
    pytest.param({"limit": 100}, id="too large"),
    pytest.param({"limit": SIZE, "active": False}, id="off"),
    pytest.param({"limit": 100, "active": False}, id="off, too large"),
]


@pytest.fixture(autouse=True)
def _world(sqlite_url: str) -> Iterator[None]:
    """A worker's settings, and a server that has never heard of the limit."""
    polling = {"max_in_flight": SIZE, "threads": THREADS}
    with world_of([], sqlite_url, polling=polling), fresh_limit():
        yield


async def make(wrong: Mapping[str, Any] | None) -> None:
    """Put a limit there that is not what the setting says."""
    if wrong is not None:
        async with get_client() as client:
            await client.create_global_concurrency_limit(
                GlobalConcurrencyLimitCreate(name=POLLS, **wrong)
            )


@pytest.mark.parametrize("wrong", WRONG)
def test_provisioning_mends_it_once(wrong: Mapping[str, Any] | None) -> None:
    async def mended() -> list[Mapping[str, int]]:
        await make(wrong)
        return [await provision_limits() for _ in range(2)]

    assert asyncio.run(mended()) == [{POLLS: SIZE}, {}]
    limit = asyncio.run(read_limit())
    assert (limit.limit, limit.active) == (SIZE, True)


@pytest.mark.parametrize("wrong", WRONG)
def test_whoever_wants_slots_mends_it_and_holds_them(wrong: Mapping[str, Any] | None) -> None:
    async def held() -> tuple[int, int, int]:
        await make(wrong)
        async with poll_slots(100) as slots:
            during = (await read_limit()).active_slots
        return slots, during, (await read_limit()).active_slots

    assert asyncio.run(held()) == (THREADS, THREADS, 0)


def test_many_at_once_mend_it_without_a_fault() -> None:
    async def mended() -> None:
        await asyncio.gather(*(provision_limits() for _ in range(8)))

    asyncio.run(mended())
    assert asyncio.run(read_limit()).limit == SIZE


def test_with_some_slots_taken_the_rest_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PATIENCE_S", 0.1)

    async def held() -> tuple[int, int, int]:
        async with poll_slots(THREADS) as first, poll_slots(THREADS) as second:
            return first, second, (await read_limit()).active_slots

    assert asyncio.run(held()) == (4, 2, 6)


def test_without_a_free_slot_nothing_is_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PATIENCE_S", 0.1)
    monkeypatch.setattr(limits, "LAST_PATIENCE_S", 0.1)

    async def held() -> None:
        async with poll_slots(THREADS), poll_slots(THREADS), poll_slots(THREADS):
            raise AssertionError("more slots than there are")

    with pytest.raises(NoSlotFree, match="all 6 slots of sourcemon-polls are in use"):
        asyncio.run(held())
    assert asyncio.run(read_limit()).active_slots == 0
