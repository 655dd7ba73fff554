"""Leaving a source to the run that was scheduled for it."""

from __future__ import annotations

from datetime import datetime

from sourcemon.core.hints import LEFT_TO_THE_RUN
from sourcemon.core.sources import SourceId
from sourcemon.operations.deps import Deps
from sourcemon.store import polls


def leave_to_run(deps: Deps, source_id: SourceId, due: datetime) -> bool:
    """Keep the due index off the source until two minutes after ``due``.

    ``False`` when the source is not due then any more: a poll in between made the run pointless.
    """
    with deps.database.write() as session:
        return polls.leave_to_run(session, source_id, due=due, until=due + LEFT_TO_THE_RUN)
