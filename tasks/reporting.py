"""What the Prefect UI shows of a poll: names and final states a person can read and filter by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from prefect import State, runtime
from prefect.states import Completed

from sourcemon import wiring
from sourcemon.core.results import Attempt, OutcomeName, headline, outcome_name
from sourcemon.core.sources import SourceId
from sourcemon.core.upkeep import Upkeep
from sourcemon.errors import NoSlotFree, SourcemonError
from sourcemon.operations.listing import name_of


def poll_run_name() -> str:
    """The name of a ``poll-source`` run: its source's name, or its id while that is unknown."""
    source_id = runtime.flow_run.parameters["source_id"]
    try:
        return f"poll-{name_of(wiring.deps(), SourceId(int(source_id)))}"
    except (SourcemonError, ValueError):
        return f"poll-source-{source_id}"


def poll_state(attempt: Attempt) -> State[Any]:
    """The final state of a poll: a source's failure is no failure of the run."""
    return Completed(name=outcome_name(attempt).value, message=headline(attempt))


def no_slot_state(full: NoSlotFree) -> State[Any]:
    """The final state of a poll for which the fleet had no place; nothing was asked or written."""
    return Completed(name=OutcomeName.DEFERRED.value, message=f"deferred: {full}")


def tick_state(outcomes: Sequence[OutcomeName], *, not_begun: int) -> State[Any]:
    """The final state of a tick: how many polls came to what."""
    counted = Counter(outcomes)
    words = [f"{counted[name]} {name.value}" for name in OutcomeName if counted[name]]
    if not_begun:
        words.append(f"{not_begun} left to the next tick")
    name = OutcomeName.NEW_ITEMS if counted[OutcomeName.NEW_ITEMS] else OutcomeName.NOTHING_NEW
    return Completed(name=name.value, message=", ".join(words) or "nothing was due")


def upkeep_state(done: Upkeep, *, mended: Collection[str], cancelled: int) -> State[Any]:
    """The final state of a round of upkeep: what it had to mend."""
    counted = {
        "expired claims freed": done.claims_freed,
        "interrupted runs closed": done.runs_closed,
        "limits mended": len(mended),
        "pointless runs cancelled": cancelled,
    }
    words = [f"{count} {what}" for what, count in counted.items() if count]
    name = "Mended" if words else "AllWell"
    return Completed(name=name, message=", ".join(words) or "nothing to mend")
