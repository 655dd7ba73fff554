"""How the fleet gets on, in one line for whoever keeps it running."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import httpx
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterName,
    FlowRunFilter,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import StateType

from deployments.prefect_api import Answer, Place, answer_at, client_at
from sourcemon.errors import SourcemonError
from sourcemon.operations import listing
from sourcemon.operations.deps import Deps

TICKS = "poll-due"
LATE_AFTER = timedelta(seconds=30)
"""A tick that has not begun so long after its instant is missed."""
ANSWERS_WITHIN_S = 3.0
NO_ANSWER = "ticks: the Prefect server does not answer"

_WORDS: Mapping[str, tuple[StateType, ...]] = {
    "completed": (StateType.COMPLETED,),
    "failed": (StateType.FAILED, StateType.CRASHED),
    "cancelled": (StateType.CANCELLED, StateType.CANCELLING),
}


class Progress:
    """What happened since it was made."""

    def __init__(self, deps: Deps, place: Place) -> None:
        self._deps = deps
        self._place = place
        self._began = deps.clock.now()
        self._polls_before = self._newest_poll()

    def ticks(self) -> str:
        """How many ticks came to what."""
        now = self._deps.clock.now()
        due = (self._began, now)
        overdue = (self._began, now - LATE_AFTER)
        if answer_at(self._place, within_s=ANSWERS_WITHIN_S) is not Answer.PREFECT:
            return NO_ANSWER
        try:
            with client_at(self._place, within_s=ANSWERS_WITHIN_S) as client:
                counts = {word: _count(client, states, due) for word, states in _WORDS.items()}
                counts["late"] = _count(client, (StateType.SCHEDULED,), overdue)
        except httpx.HTTPError:
            return NO_ANSWER
        told = [f"{count} {word}" for word, count in counts.items() if count]
        return f"ticks: {', '.join(told) or 'none yet'}"

    def polls(self) -> str:
        """How many polls were recorded, by the number of the newest one."""
        try:
            return f"polls: {self._newest_poll() - self._polls_before}"
        except SourcemonError as error:
            return f"polls: {error}"

    def _newest_poll(self) -> int:
        return max((run.id for run in listing.runs_of(self._deps, limit=1)), default=0)


def _count(
    client: SyncPrefectClient, states: tuple[StateType, ...], during: tuple[datetime, datetime]
) -> int:
    after, before = during
    return client.count_flow_runs(
        deployment_filter=DeploymentFilter(name=DeploymentFilterName(any_=[TICKS])),
        flow_run_filter=FlowRunFilter(
            state=FlowRunFilterState(type=FlowRunFilterStateType(any_=list(states))),
            expected_start_time=FlowRunFilterExpectedStartTime.model_validate(
                {"after_": after, "before_": before}
            ),
        ),
    )
