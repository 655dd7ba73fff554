"""Answers to "what is there?": sources, runs, items, and why a source is polled when it is."""

from __future__ import annotations

from sourcemon.core.overviews import Explanation, ItemOverview, RunOverview, SourceOverview
from sourcemon.core.sources import SourceId
from sourcemon.operations.deps import Deps
from sourcemon.store import listing, sources

RUNS_EXPLAINED = 5


def sources_of(deps: Deps) -> tuple[SourceOverview, ...]:
    """Every source, by id."""
    with deps.database.read() as session:
        return listing.sources(session)


def runs_of(
    deps: Deps, source_id: SourceId | None = None, *, limit: int
) -> tuple[RunOverview, ...]:
    """The newest ``limit`` runs, of one source or of all, newest first.

    Raises:
        UnknownSource: no source has that id.
    """
    with deps.database.read() as session:
        if source_id is not None:
            sources.get(session, source_id)
        return listing.runs(session, source_id, limit=limit)


def items_of(
    deps: Deps, source_id: SourceId | None = None, *, limit: int
) -> tuple[ItemOverview, ...]:
    """The ``limit`` items stored last, of one source or of all, newest first.

    Raises:
        UnknownSource: no source has that id.
    """
    with deps.database.read() as session:
        if source_id is not None:
            sources.get(session, source_id)
        return listing.items(session, source_id, limit=limit)


def explain(deps: Deps, source_id: SourceId) -> Explanation:
    """Every objection to polling the source, evaluated now, and its last polls.

    Raises:
        UnknownSource: no source has that id.
    """
    with deps.database.read() as session:
        overview = listing.source(session, source_id)
        runs = listing.runs(session, source_id, limit=RUNS_EXPLAINED)
    schedule = overview.state.schedule
    return Explanation(
        overview=overview,
        schedule=schedule,
        now=deps.clock.now(),
        binding=schedule.binding(),
        binding_forced=schedule.binding(force=True),
        last_runs=runs,
    )


def name_of(deps: Deps, source_id: SourceId) -> str:
    """The name of a source.

    Raises:
        UnknownSource: no source has that id.
    """
    with deps.database.read() as session:
        return sources.get(session, source_id).name
