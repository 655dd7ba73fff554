"""The decision record of a poll: what speaks against the next one, and what this one changed."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from enum import StrEnum
from typing import Any

from sourcemon.core.poll_state import PollState, PollStatus
from sourcemon.core.schedule import NEVER, Schedule

Json = dict[str, Any]

EVER = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
"""The cached next poll of a source that nothing speaks against: due before all others."""


def next_poll_at(schedule: Schedule, *, enabled: bool, status: PollStatus) -> datetime:
    """The cached answer to "when next?", unforced; far away when only an operator can help."""
    if not enabled or status is not PollStatus.IDLE:
        return NEVER
    return schedule.due_at() or EVER


def decision_record(schedule: Schedule, before: PollState, after: PollState) -> Json:
    """What is stored with a run, in JSON values: objections, the binding one, and before-values.

    ``before`` holds the earlier value of each part of the state that the verdict changed.
    """
    binding = schedule.binding()
    return {
        "objections": [_json(asdict(objection)) for objection in schedule.objections],
        "binding": binding.name.value if binding else None,
        "before": _changed(_flat(before), _flat(after)),
    }


def _flat(state: PollState) -> Json:
    """A state as one level of JSON values."""
    flat: Json = {
        "status": state.status.value,
        "etag": state.validators.etag,
        "last_modified": state.validators.last_modified,
        "body_hash": state.body_hash,
        "consecutive_failures": state.consecutive_failures,
        "retry_attempt": state.retry.attempt,
        "retry_category": state.retry.category,
        "circuit_opened_at": state.retry.circuit_opened_at,
        "reopens": state.retry.reopens,
        "last_polled_at": state.last_polled_at,
        "last_success_at": state.last_success_at,
        "last_error": state.last_error,
    }
    flat.update({o.name.value: o.until for o in state.schedule.objections})
    return {key: _json(value) for key, value in flat.items()}


def _changed(before: Json, after: Json) -> Json:
    keys = before.keys() | after.keys()
    return {k: before.get(k) for k in sorted(keys) if before.get(k) != after.get(k)}


def _json(value: object) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """``value`` as JSON knows it: instants as ISO 8601, enums as their text."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, dict):
        return {key: _json(inner) for key, inner in value.items()}
    return value
