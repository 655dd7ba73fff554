"""What a Prefect server must hold is created once, mended where it was changed, else left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import TypeVar

import pytest
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.events.schemas.automations import AutomationCore, EventTrigger
from prefect.exceptions import ObjectNotFound

from deployments import provision as command
from deployments.server_objects import (
    AUTOMATION,
    DEAD_AFTER,
    HEARTBEAT,
    WORK_POOL,
    WORK_QUEUE,
    dead_runs_crash,
    provision,
)
from sourcemon.errors import Refused
from tasks.limits import POLLS

pytestmark = pytest.mark.usefixtures("prefect_server", "deps", "nothing_provisioned")

T = TypeVar("T")
Change = Callable[[PrefectClient], Awaitable[object]]


def asked(question: Callable[[PrefectClient], Awaitable[T]]) -> T:
    """The server's answer to one question."""

    async def ask() -> T:
        async with get_client() as client:
            return await question(client)

    return asyncio.run(ask())


async def _remove_everything(client: PrefectClient) -> None:
    for automation in await client.read_automations_by_name(AUTOMATION):
        await client.delete_automation(automation.id)
    for remove, name in (
        (client.delete_global_concurrency_limit_by_name, POLLS),
        (client.delete_work_pool, WORK_POOL),
    ):
        try:
            await remove(name)
        except ObjectNotFound:
            continue


@pytest.fixture
def nothing_provisioned(prefect_server: str) -> Iterator[None]:
    asked(_remove_everything)
    yield
    asked(_remove_everything)


def test_everything_missing_is_created_and_the_second_time_nothing_changes() -> None:
    assert asyncio.run(provision(work_pool=True)) == (
        f"limit {POLLS}: 32 slots",
        f"automation {AUTOMATION!r}: created",
        f"work pool {WORK_POOL}: created",
    )
    assert asyncio.run(provision(work_pool=True)) == ()


def test_the_work_pool_is_made_only_for_whoever_asks_for_it() -> None:
    asyncio.run(provision())

    with pytest.raises(ObjectNotFound):
        asked(lambda client: client.read_work_pool(WORK_POOL))


def test_a_run_is_dead_after_three_heartbeats_whatever_its_states_are_called() -> None:
    asyncio.run(provision())

    (found,) = asked(lambda client: client.read_automations_by_name(AUTOMATION))

    assert isinstance(found.trigger, EventTrigger)
    assert found.trigger.within == DEAD_AFTER == 3 * HEARTBEAT == timedelta(seconds=90)
    assert found.trigger.expect == {"prefect.flow-run.*"}
    assert AutomationCore(**found.model_dump(exclude={"id"})) == dead_runs_crash()


async def _switched_off(client: PrefectClient) -> None:
    (found,) = await client.read_automations_by_name(AUTOMATION)
    await client.pause_automation(found.id)


async def _more_patient(client: PrefectClient) -> None:
    (found,) = await client.read_automations_by_name(AUTOMATION)
    changed = dead_runs_crash()
    assert isinstance(changed.trigger, EventTrigger)
    changed.trigger.within = timedelta(hours=1)
    await client.update_automation(found.id, changed)


async def _doubled(client: PrefectClient) -> None:
    await client.create_automation(dead_runs_crash())


async def _resized(client: PrefectClient) -> None:
    await client.upsert_global_concurrency_limit_by_name(POLLS, 1)


async def _without_queue(client: PrefectClient) -> None:
    queue = await client.read_work_queue_by_name(WORK_QUEUE, work_pool_name=WORK_POOL)
    await client.create_work_queue(name="other", work_pool_name=WORK_POOL)
    pool = await client.read_work_pool(WORK_POOL)
    assert pool.default_queue_id == queue.id


CHANGES: dict[str, tuple[Change, tuple[str, ...]]] = {
    "an automation switched off": (_switched_off, (f"automation {AUTOMATION!r}: mended",)),
    "an automation that waits longer": (_more_patient, (f"automation {AUTOMATION!r}: mended",)),
    "an automation doubled": (_doubled, (f"automation {AUTOMATION!r}: removed a second one",)),
    "a limit of another size": (_resized, (f"limit {POLLS}: 32 slots",)),
    "another queue beside ours": (_without_queue, ()),
}


@pytest.mark.parametrize("change, mended", CHANGES.values(), ids=CHANGES)
def test_what_was_changed_is_mended(change: Change, mended: tuple[str, ...]) -> None:
    asyncio.run(provision(work_pool=True))
    asked(change)

    assert asyncio.run(provision(work_pool=True)) == mended
    assert asyncio.run(provision(work_pool=True)) == ()
    assert len(asked(lambda client: client.read_automations_by_name(AUTOMATION))) == 1


def test_a_work_pool_of_another_type_is_left_alone() -> None:
    other = WorkPoolCreate(name=WORK_POOL, type="docker")
    asked(lambda client: client.create_work_pool(other))

    with pytest.raises(Refused, match="the work pool sourcemon is of type docker"):
        asyncio.run(provision(work_pool=True))


def test_the_command_says_what_it_changed_and_then_that_all_is_well(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["--work-pool"]) == 0
    first = capsys.readouterr()
    assert command.main([]) == 0
    second = capsys.readouterr()

    assert first.out.count("\n") == 3
    assert second.out == "all is as it should be\n"
    assert first.err == second.err == ""
