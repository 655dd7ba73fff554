"""A world for workers that are killed in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import Any

import pytest

from sourcemon import wiring
from sourcemon.clock import FakeClock
from sourcemon.replay import Feed, ReplaySite
from tests.crash.databases import empty, shared_database
from tests.crash.world import START, World, place
from tests.postgres import PostgresServer

MakeWorld = Callable[..., AbstractContextManager[World]]


@pytest.fixture(scope="package")
def shared_postgres_url(postgres_server: PostgresServer, postgres_template: str) -> Iterator[str]:
    """The database that the tests of this folder share on PostgreSQL."""
    with shared_database(postgres_server, postgres_template) as url:
        yield url


@pytest.fixture
def postgres_url(shared_postgres_url: str) -> str:
    """A migrated PostgreSQL database without a row."""
    empty(shared_postgres_url)
    return shared_postgres_url


@contextmanager
def world_of(feeds: Sequence[Feed], database_url: str, **changes: Any) -> Iterator[World]:
    """A world of these feeds on one database, all on a clock that stands at the start."""
    clock = FakeClock(START)
    with ReplaySite(feeds, now=clock.now) as site:
        found = place(site, feeds, database_url, **changes)
        deps = wiring.build(found.settings(), clock=clock)
        with closing(deps), wiring.use(deps):
            yield World(site=site, clock=clock, deps=deps, place=found, feeds=feeds)


@pytest.fixture
def make_world(database_url: str) -> MakeWorld:
    """A function that opens a world with the feeds given."""

    def opened(feeds: Sequence[Feed], **changes: Any) -> AbstractContextManager[World]:
        return world_of(feeds, database_url, **changes)

    return opened
