"""Grades and rates: the only writer of ``health_states``; the window is read from the runs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import or_
from sqlmodel import Session, col, select

from sourcemon.core.health import Grade, Window
from sourcemon.core.replies import ErrorCategory
from sourcemon.core.sources import SourceId
from sourcemon.core.verdict import RunStatus
from sourcemon.store.tables import HealthStateRow, PollRunRow

_SUCCESS = (RunStatus.COMPLETED.value, RunStatus.NOT_MODIFIED.value)


def create(session: Session, source_id: SourceId) -> None:
    """The health of a source that was never polled: no grade, no rate."""
    session.add(HealthStateRow(source_id=source_id))
    session.flush()


def window(session: Session, source_id: SourceId, *, size: int) -> Window:
    """The newest ``size`` runs that say something about the source, newest first.

    Left out: runs under way, deferrals, and faults of ours (interrupted runs among them).
    """
    statuses = session.exec(
        select(PollRunRow.status)
        .where(
            PollRunRow.source_id == source_id,
            col(PollRunRow.status).in_([*_SUCCESS, RunStatus.FAILED.value]),
            or_(
                col(PollRunRow.error_category).is_(None),
                col(PollRunRow.error_category) != ErrorCategory.INTERNAL.value,
            ),
        )
        .order_by(col(PollRunRow.started_at).desc(), col(PollRunRow.id).desc())
        .limit(size)
    ).all()
    return Window(tuple(status in _SUCCESS for status in statuses))


def grade_of(session: Session, source_id: SourceId) -> Grade | None:
    """The grade as it stands, ``None`` before the first attempt."""
    row = session.get(HealthStateRow, source_id)
    return Grade(row.grade) if row is not None and row.grade else None


def record(
    session: Session, source_id: SourceId, found: Window, grade: Grade | None, *, now: datetime
) -> bool:
    """Store rate and grade of a window; whether the grade is another one than before.

    An empty window says nothing and writes nothing.
    """
    row = session.get(HealthStateRow, source_id, with_for_update=True)
    if row is None or found.rate is None or grade is None:
        return False
    changed = row.grade != grade.value
    row.rolling_success_rate = found.rate
    if changed:
        row.grade = grade.value
        row.grade_changed_at = now
    session.add(row)
    session.flush()
    return changed
