"""Answers as JSON: snake_case keys that stay, instants in ISO 8601 UTC, enums as their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from typing import Any

from sourcemon.cli.outcomes import Fault, Outcome
from sourcemon.cli.standing import standing_of
from sourcemon.core.overviews import Explanation, ItemOverview, RunOverview, SourceOverview
from sourcemon.core.results import Deferral, PollResult, outcome_name
from sourcemon.core.schedule import NEVER, Objection, ObjectionName
from sourcemon.core.sources import Source

Json = Mapping[str, Any] | Sequence[Mapping[str, Any]]


def json_of(value: object) -> Any:  # noqa: ANN401 - JSON has no narrower type
    """``value`` as JSON knows it: instants in UTC, enums as their text."""
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat()
        case Decimal():
            return float(value)
        case Enum():
            return value.value
        case Mapping():
            return {key: json_of(inner) for key, inner in value.items()}
        case list() | tuple():
            return [json_of(inner) for inner in value]
        case _:
            return value


def source_document(source: Source) -> dict[str, Any]:
    """A source as its operator configured it."""
    return {
        "id": source.id,
        "kind": source.kind.value,
        "url": source.url,
        "name": source.name,
        "interval_s": int(source.interval.total_seconds()),
        "enabled": source.enabled,
        "created_at": json_of(source.created_at),
    }


def overview_document(overview: SourceOverview, now: datetime) -> dict[str, Any]:
    """A source and how it stands; ``next_poll_at`` is ``null`` where no instant decides."""
    state, standing = overview.state, standing_of(overview, now)
    binding = state.schedule.binding()
    return source_document(overview.source) | {
        "standing": standing.value,
        "next_poll_at": (
            None if binding is None or standing.waits_for_operator else json_of(binding.until)
        ),
        "binding": objection_document(binding),
        "grade": json_of(overview.grade),
        "success_rate": json_of(overview.rolling_success_rate),
        "items": overview.items,
        "last_polled_at": json_of(state.last_polled_at),
        "last_success_at": json_of(state.last_success_at),
        "consecutive_failures": state.consecutive_failures,
        "last_error": state.last_error,
    }


def objection_document(objection: Objection | None) -> dict[str, Any] | None:
    """An objection, or ``null`` for none."""
    return None if objection is None else json_of(asdict(objection))


def explanation_document(explanation: Explanation) -> dict[str, Any]:
    """All nine objections in table order, those that are not set with ``null``, and who decides."""
    objections = [
        objection_document(explanation.schedule.get(name))
        or {"name": name.value, "until": None, "because": None}
        for name in ObjectionName
    ]
    return {
        "source": overview_document(explanation.overview, explanation.now),
        "now": json_of(explanation.now),
        "is_due": explanation.is_due,
        "binding": objection_document(explanation.binding),
        "binding_forced": objection_document(explanation.binding_forced),
        "objections": objections,
        "last_runs": [run_document(run) for run in explanation.last_runs],
    }


def run_document(run: RunOverview) -> dict[str, Any]:
    """One recorded poll."""
    return dict(json_of(asdict(run)))


def item_document(item: ItemOverview) -> dict[str, Any]:
    """One item without its long parts."""
    return dict(json_of(asdict(item)))


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """What became of a source that was to be polled; every key is always there, ``null`` if empty.

    ``run_id`` is ``null`` when no request was made.
    """
    match outcome:
        case Deferral():
            name, told = outcome_name(outcome).value, _deferral(outcome)
        case PollResult():
            name, told = outcome_name(outcome).value, _result(outcome)
        case Fault():
            name, told = type(outcome.error).__name__, {"error": str(outcome.error)}
    named = {
        "source_id": outcome.source_id,
        "source_name": outcome.source_name,
        "outcome": name,
    }
    return named | dict.fromkeys(_OUTCOME_KEYS) | told


_OUTCOME_KEYS = (
    "kind",
    "reason",
    "until",
    "run_id",
    "status",
    "http_status",
    "counters",
    "stop_reason",
    "error_category",
    "error",
    "grade",
    "next_poll_at",
    "binding",
)


def _deferral(deferral: Deferral) -> dict[str, Any]:
    return {
        "kind": deferral.kind.value,
        "reason": deferral.reason,
        "until": json_of(deferral.until),
        "binding": objection_document(deferral.objection),
    }


def _result(result: PollResult) -> dict[str, Any]:
    due = result.next_poll_at
    return {
        "run_id": result.run_id,
        "status": result.status.value,
        "http_status": result.http_status,
        "counters": asdict(result.counters),
        "stop_reason": result.stop_reason,
        "error_category": json_of(result.error_category),
        "error": result.error,
        "grade": json_of(result.grade),
        "next_poll_at": None if due == NEVER else json_of(due),
        "binding": objection_document(result.binding),
    }
