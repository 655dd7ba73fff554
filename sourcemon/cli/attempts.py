"""Attempts to poll, one after the other or several hosts at once; an account is given of each."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from sourcemon.cli.crew import Crew
from sourcemon.cli.outcomes import Fault, Outcome
from sourcemon.cli.report import Report
from sourcemon.core.dispatch import ClaimedSource
from sourcemon.core.sources import SourceId
from sourcemon.errors import DatabaseUnavailable, SourcemonError
from sourcemon.operations import dispatch
from sourcemon.operations.deps import Deps
from sourcemon.operations.poll import poll

_CLAIMED_PER_THREAD = 4
"""Sources claimed at once for each thread: few, because a claim does not last."""


def poll_each(deps: Deps, names: Mapping[SourceId, str], report: Report, *, force: bool) -> None:
    """Poll these sources in their order; Ctrl-C ends the one under way at once.

    Raises:
        DatabaseUnavailable: the database failed; the rest is not tried.
    """
    for source_id, name in names.items():
        report.begins(f"Polling {name}", of=len(names))
        report.take(_attempt(deps, source_id, name, force=force))


def poll_due(deps: Deps, report: Report) -> None:
    """Poll each source that is due once, hosts side by side, in lots.

    Raises:
        BadSetting: one of them is not on this machine and no contact is set.
        DatabaseUnavailable: the database failed.
    """
    polled: set[SourceId] = set()
    while lot := _claimed(deps, polled):
        report.begins("Polling what is due", of=len(polled) + len(lot))
        polled |= _polled(deps, lot, report)


def _claimed(deps: Deps, polled: set[SourceId]) -> Sequence[ClaimedSource]:
    """Some due sources, now ours; those that are due again already are left alone."""
    lot = dispatch.claim_due(deps, limit=deps.policies.threads * _CLAIMED_PER_THREAD)
    again = [claimed for claimed in lot if claimed.source_id in polled]
    dispatch.release_unstarted(deps, again)
    return [claimed for claimed in lot if claimed.source_id not in polled]


def _polled(deps: Deps, lot: Sequence[ClaimedSource], report: Report) -> set[SourceId]:
    """Which of the claimed sources were polled; the others are given back as they were.

    Whatever ends it early, Ctrl-C too, no further poll is begun and those under way are waited for.
    """
    crew = Crew(
        lot,
        lambda claimed: _attempt(deps, claimed.source_id, claimed.name, token=claimed.token),
        threads=deps.policies.threads,
        ends_after_s=deps.policies.claim_lease.total_seconds() / 2,
    )
    done: set[SourceId] = set()
    try:
        _take_all(crew, report, done)
    finally:
        under_way = crew.stop()
        if under_way:
            report.note(
                f"Stopping once the polls under way ({under_way}) have ended; Ctrl-C leaves them"
            )
        try:
            _take_all(crew, report, done)
        finally:
            with contextlib.suppress(DatabaseUnavailable):
                dispatch.release_unstarted(deps, crew.not_begun)
    if crew.faults:
        raise crew.faults[0]
    return done


def _take_all(crew: Crew[Outcome], report: Report, done: set[SourceId]) -> None:
    for outcome in crew.results():
        done.add(outcome.source_id)
        report.take(outcome)


def _attempt(
    deps: Deps, source_id: SourceId, name: str, *, force: bool = False, token: str | None = None
) -> Outcome:
    """What became of one source; a database that fails is the end of all, and raised."""
    try:
        return poll(deps, source_id, force=force, token=token)
    except DatabaseUnavailable:
        raise
    except SourcemonError as error:
        return Fault(source_id=source_id, source_name=name, error=error)
