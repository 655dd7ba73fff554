"""One poll of one source as one flow run: its four steps are its tasks."""

from __future__ import annotations

from typing import Annotated, Any

from prefect import State, flow
from pydantic import Field

from sourcemon.core.results import Deferral
from sourcemon.core.sources import SourceId
from sourcemon.errors import ClaimLost, NoSlotFree
from tasks.limits import poll_slot
from tasks.polling import check_schedule, evaluate_health, fetch_page, persist_page
from tasks.reporting import no_slot_state, poll_run_name, poll_state
from tasks.scheduling import schedule_deferred, schedule_retry

WantedSource = Annotated[int, Field(ge=1)]


@flow(name="poll-source", flow_run_name=poll_run_name, persist_result=False, retries=0)
async def poll_source(source_id: WantedSource, force: bool = False) -> State[Any]:
    """Poll one source now, if its schedule allows it.

    The run ends `Completed` under the name of what came of it: `NewItems`, `NothingNew`,
    `Deferred`, `SourceFailed` or `SourceBlocked`. It ends `Failed` only for a fault of ours.

    Args:
        source_id: The id that `sourcemon sources` lists.
        force: Ignore our interval, read all anew; back-off and the server's wish bind.
    """
    try:
        async with poll_slot(SourceId(source_id)):
            return await _polled(source_id, force=force)
    except NoSlotFree as full:
        return no_slot_state(full)


async def _polled(source_id: int, *, force: bool) -> State[Any]:
    """Walk the four steps; whatever happens after the first, the last one records it."""
    begun = await check_schedule(source_id, force=force)
    if isinstance(begun, Deferral):
        await schedule_deferred(begun, force=force)
        return poll_state(begun)
    page = 1
    try:
        while not (await _is_last(begun.key, page)):
            page += 1
    finally:
        result = await evaluate_health(begun.key)
    if result is None:
        raise ClaimLost(SourceId(source_id))
    await schedule_retry(result)
    return poll_state(result)


async def _is_last(key: str, page: int) -> bool:
    """Fetch one page and, if there is something in it, persist it; whether the walk is over."""
    fetched = await fetch_page(key, page)
    return fetched.is_last or (await persist_page(key, page)).is_last
