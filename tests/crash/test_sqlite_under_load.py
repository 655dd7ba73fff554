"""One SQLite file under many threads and processes: nobody is told that it is locked."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise

import pytest

from sourcemon.operations import register
from sourcemon.store.tables import ItemRow, PollRunRow, PollStateRow
from tests.crash import load
from tests.crash.conftest import world_of
from tests.crash.databases import rows
from tests.crash.workers import at_work, barrier
from tests.crash.world import INTERVAL, World

PROCESSES = 3


def register_sources(world: World, count: int) -> None:
    for number in range(count):
        url = f"http://site{number:04}.example/feed"
        world.sources.append(register.add(world.deps, url, interval=INTERVAL))


def every_source_was_polled_as_often_as_its_schedule_allows(world: World, rounds: int) -> None:
    """Once in each round, an interval apart; each of its items is there once."""
    runs = rows(world.deps.database, PollRunRow)
    by_source = Counter(run["source_id"] for run in runs)
    assert by_source == {source.id: rounds for source in world.sources}
    assert {run["status"] for run in runs} == {"completed"}
    for source in world.sources:
        started = [run["started_at"] for run in runs if run["source_id"] == source.id]
        assert {later - former for former, later in pairwise(started)} == {INTERVAL}
    items = Counter(item["source_id"] for item in rows(world.deps.database, ItemRow))
    assert items == {source.id: rounds for source in world.sources}
    states = rows(world.deps.database, PollStateRow)
    assert {state["claim_token"] for state in states} == {None}


@pytest.mark.parametrize(
    ("sources", "rounds"), [(100, 3), pytest.param(200, 40, marks=pytest.mark.long)]
)
def test_sixteen_threads(sqlite_url: str, sources: int, rounds: int) -> None:
    with world_of([], sqlite_url) as world:
        register_sources(world, sources)
        began = time.monotonic()
        polled = load.polls(world.deps, 16, rounds, INTERVAL, lambda: None)
        took = time.monotonic() - began

        print(f"{polled} polls by 16 threads in {took:.1f} s, {polled / took:.0f}/s")
        assert polled == sources * rounds
        every_source_was_polled_as_often_as_its_schedule_allows(world, rounds)


@pytest.mark.parametrize("rounds", [3, pytest.param(10, marks=pytest.mark.long)])
def test_three_processes(sqlite_url: str, rounds: int) -> None:
    with world_of([], sqlite_url) as world, ExitStack() as stack:
        register_sources(world, 60)
        together = barrier(PROCESSES)
        began = time.monotonic()
        job = load.polls_with_others
        workers = [
            stack.enter_context(at_work(job, world.place, 4, rounds, INTERVAL, together))
            for _ in range(PROCESSES)
        ]
        counts = [worker.hear_all()[-1] for worker in workers]
        took = time.monotonic() - began

        print(f"{' + '.join(counts)} polls by {PROCESSES} processes in {took:.1f} s")
        assert sum(int(count) for count in counts) == 60 * rounds
        every_source_was_polled_as_often_as_its_schedule_allows(world, rounds)
