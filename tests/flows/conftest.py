"""A small world for flows: a replay site on one clock with the wired dependencies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest

from sourcemon import wiring
from sourcemon.clock import FakeClock
from sourcemon.core.sources import Source
from sourcemon.operations import register
from sourcemon.operations.deps import Deps
from sourcemon.replay import Feed, Listed, Newsroom, ReplaySite
from sourcemon.replay.waterside import HARBOUR
from sourcemon.settings import HttpSettings, Settings

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
INTERVAL = timedelta(minutes=10)


def plain_feed(path: str, *, entries: int = 3) -> Newsroom:
    """A feed of that many entries, all published before the clock starts."""
    published = tuple(START - timedelta(hours=hours) for hours in range(entries, 0, -1))
    return Newsroom(path, desk=HARBOUR, published=Listed(published))


@dataclass(frozen=True, slots=True)
class World:
    """What a test of flows acts on and looks at."""

    site: ReplaySite
    clock: FakeClock
    deps: Deps

    def watch(self, path: str) -> Source:
        """Register the feed at ``path``, on a host named after its first part."""
        return register.add(self.deps, f"http://{_host(path)}{path}", interval=INTERVAL)


MakeWorld = Callable[..., AbstractContextManager[World]]


@pytest.fixture
def make_world(sqlite_url: str) -> MakeWorld:
    """A function that opens a world with the feeds given, wired for the flows."""

    @contextmanager
    def opened(feeds: Sequence[Feed], *, database_url: str = sqlite_url) -> Iterator[World]:
        clock = FakeClock(START)
        with ReplaySite(feeds, now=clock.now) as site:
            port = urlsplit(site.url("/")).port
            chosen = Settings(
                database_url=database_url,
                contact="mailto:tests@example.org",
                http=HttpSettings(
                    resolver={_host(feed.path): f"127.0.0.1:{port}" for feed in feeds}
                ),
            )
            deps = wiring.build(chosen, clock=clock)
            with wiring.use(deps):
                yield World(site, clock, deps)
            deps.close()

    return opened


def _host(path: str) -> str:
    return f"{path.split('/')[1]}.example"
