"""Poll states to columns and back. No statements; the writers are ``polls`` and ``claims``."""

from __future__ import annotations

from typing import Any

from sourcemon.core.poll_state import PollState, PollStatus, RetryProgress
from sourcemon.core.replies import ErrorCategory, Validators
from sourcemon.core.schedule import Objection, ObjectionName, Schedule
from sourcemon.core.verdict import RunRecord
from sourcemon.store.tables import PollStateRow

BECAUSE = {
    ObjectionName.CADENCE: "cadence_because",
    ObjectionName.FLOOR: "poll_floor_because",
    ObjectionName.RETRY: "retry_because",
    ObjectionName.BACKOFF: "backoff_because",
    ObjectionName.CIRCUIT: "circuit_because",
}
"""The objections that live in ``poll_states`` and the column with the words for each."""


def schedule_of(row: PollStateRow) -> Schedule:
    """The objections that a row holds."""
    return Schedule.of(
        Objection(name, getattr(row, name.value), getattr(row, because) or "")
        for name, because in BECAUSE.items()
        if getattr(row, name.value) is not None
    )


def state_of(row: PollStateRow) -> PollState:
    """The state that a row holds."""
    return PollState(
        status=PollStatus(row.status),
        schedule=schedule_of(row),
        validators=Validators(row.etag, row.last_modified),
        body_hash=row.body_hash,
        retry=RetryProgress(
            attempt=row.retry_attempt,
            category=ErrorCategory(row.retry_category) if row.retry_category else None,
            circuit_opened_at=row.circuit_opened_at,
            reopens=row.reopens,
        ),
        consecutive_failures=row.consecutive_failures,
        last_polled_at=row.last_polled_at,
        last_success_at=row.last_success_at,
        last_error=row.last_error,
    )


def columns_of(state: PollState) -> dict[str, Any]:
    """The columns for a state; the claim and the cached next poll are not among them."""
    columns: dict[str, Any] = {
        "status": state.status.value,
        "etag": state.validators.etag,
        "last_modified": state.validators.last_modified,
        "body_hash": state.body_hash,
        "retry_attempt": state.retry.attempt,
        "retry_category": state.retry.category.value if state.retry.category else None,
        "circuit_opened_at": state.retry.circuit_opened_at,
        "reopens": state.retry.reopens,
        "consecutive_failures": state.consecutive_failures,
        "last_polled_at": state.last_polled_at,
        "last_success_at": state.last_success_at,
        "last_error": state.last_error,
    }
    for name, because in BECAUSE.items():
        objection = state.schedule.get(name)
        columns[name.value] = objection.until if objection else None
        columns[because] = objection.because if objection else None
    return columns


def run_columns(run: RunRecord) -> dict[str, Any]:
    """The columns of a run that has ended; its decision record is not among them."""
    counters = run.counters
    return {
        "status": run.status.value,
        "finished_at": run.finished_at,
        "duration_ms": round(run.duration.total_seconds() * 1000),
        "http_status": run.http_status,
        "bytes": run.bytes_received,
        "pages_fetched": run.pages_fetched,
        "entries_seen": counters.entries_seen,
        "created": counters.created,
        "updated": counters.updated,
        "unchanged": counters.unchanged,
        "duplicate": counters.duplicate,
        "quarantined": counters.quarantined,
        "ignored": counters.ignored,
        "failed": counters.failed,
        "stop_reason": run.stop_reason.value if run.stop_reason else None,
        "error_category": run.error_category.value if run.error_category else None,
        "error": run.error,
    }
