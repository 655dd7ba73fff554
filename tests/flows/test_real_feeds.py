"""Twenty real documents, served on loopback and polled through the flows until nothing is new."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from prefect import State

from flows.poll_due import poll_due
from flows.poll_source import poll_source
from sourcemon.core.overviews import RunOverview
from sourcemon.core.replies import Headers
from sourcemon.core.sources import SourceId
from sourcemon.operations import listing
from sourcemon.replay import Answer, Fixed
from tests.corpus import corpus_folder
from tests.flows.conftest import MakeWorld, World

pytestmark = pytest.mark.usefixtures("prefect_server")

FILES = 20


def twenty_feeds() -> list[Path]:
    """Twenty files spread over all origins and formats; texts of single entries are no feeds."""
    feeds = [
        file
        for file in sorted((corpus_folder() / "feeds").iterdir())
        if file.suffix != ".json" and "FirstEntry" not in file.name
    ]
    return [feeds[number * len(feeds) // FILES] for number in range(FILES)]


def served(files: Sequence[Path]) -> list[Fixed]:
    """Each file at a host of its own, with a content type that gives nothing away."""
    headers = Headers((("Content-Type", "application/xml"),))
    return [
        Fixed(
            f"/real{number:02}/{file.name}",
            Answer(status=200, headers=headers, body=file.read_bytes()),
        )
        for number, file in enumerate(files)
    ]


def test_twenty_real_feeds_are_stored_once(make_world: MakeWorld) -> None:
    async def polled_thrice(world: World, ids: Sequence[SourceId]) -> list[State[Any]]:
        first = await poll_due(return_state=True)
        world.clock.advance(timedelta(hours=2))
        again = await poll_due(return_state=True)
        world.clock.advance(timedelta(hours=2))
        forced = [await poll_source(source_id, force=True, return_state=True) for source_id in ids]
        return [first, again, *forced]

    feeds = served(twenty_feeds())
    with make_world(feeds) as world:
        ids = [world.watch(feed.path).id for feed in feeds]
        states = asyncio.run(polled_thrice(world, ids))

        assert all(state.is_completed() for state in states), [state.message for state in states]
        first, unchanged, forced = by_pass(listing.runs_of(world.deps, limit=1000), len(ids))
        stored = {o.source.id: o.items for o in listing.sources_of(world.deps)}
        assert all(stored.values()), stored
        assert [run.status for run in first] == ["completed"] * len(ids)
        assert sum(run.counters.created for run in first) == sum(stored.values())
        for run in (*unchanged, *forced):
            assert (run.counters.created, run.counters.updated, run.counters.failed) == (0, 0, 0)
        assert {run.stop_reason for run in unchanged} <= {"unchanged_body", "no_next_link"}
        assert all(run.counters.entries_seen > 0 for run in forced)


def by_pass(runs: Sequence[RunOverview], count: int) -> list[list[RunOverview]]:
    """The runs of the three passes, each in the order of its sources."""
    oldest_first = sorted(runs, key=lambda run: run.id)
    passes = [oldest_first[start : start + count] for start in range(0, 3 * count, count)]
    return [sorted(each, key=lambda run: run.source_id) for each in passes]
