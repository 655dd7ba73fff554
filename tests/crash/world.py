"""What outlives the workers: a replay site, a database and the clock that both stand on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from sourcemon.clock import FakeClock
from sourcemon.core.results import Attempt
from sourcemon.core.sources import Source
from sourcemon.operations import register
from sourcemon.operations.deps import Deps
from sourcemon.operations.dispatch import claim_due
from sourcemon.operations.poll import poll
from sourcemon.replay import Feed, Held, ReplaySite
from sourcemon.store.tables import ItemContentRow, ItemRow, PollRunRow, PollStateRow
from tests.crash.databases import Row, row, rows
from tests.crash.workers import Place

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
INTERVAL = timedelta(minutes=10)
LEASE = timedelta(minutes=5)
MOMENT = timedelta(microseconds=1)
"""The smallest step of time that both databases tell apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A site, a database, and this process as one more worker on them."""

    site: ReplaySite
    clock: FakeClock
    deps: Deps
    place: Place
    """Where other workers find the same."""
    feeds: Sequence[Feed] = ()
    sources: list[Source] = field(default_factory=list)

    def watch(self, path: str, *, interval: timedelta = INTERVAL) -> Source:
        """Register the feed at ``path``, on a host named after its first part."""
        source = register.add(self.deps, f"http://{host(path)}{path}", interval=interval)
        self.sources.append(source)
        return source

    def poll(self, source: Source) -> Attempt:
        """Poll the source, as a person does who asks for it; what came of it."""
        return poll(self.deps, source.id)

    def attempt_due(self) -> list[Attempt]:
        """Claim what is due now, as a tick does, and poll it; what came of each."""
        return [
            poll(self.deps, source.source_id, token=source.token)
            for source in claim_due(self.deps, limit=100)
        ]

    def wait_until(self, holds: Callable[[], bool], *, timeout_s: float = 2.0) -> None:
        """Return when something holds that nothing tells of, or when it should have long."""
        deadline = time.monotonic() + timeout_s
        while not holds() and time.monotonic() < deadline:
            time.sleep(0.01)

    def release(self) -> None:
        """Let the site give every answer that it holds."""
        for feed in self.feeds:
            if isinstance(feed, Held):
                feed.release.set()

    def state(self, source: Source) -> Row:
        """What is stored of polling the source."""
        return row(self.deps.database, PollStateRow, source_id=source.id)

    def runs(self, source: Source) -> list[Row]:
        """The source's runs, the oldest first."""
        return rows(self.deps.database, PollRunRow, source_id=source.id)

    def items(self, source: Source) -> list[Row]:
        """The source's items."""
        return rows(self.deps.database, ItemRow, source_id=source.id)

    def contents(self) -> list[Row]:
        """The contents of all items."""
        return rows(self.deps.database, ItemContentRow)

    def titles(self, source: Source) -> list[str]:
        """The titles of the source's items, each as often as it is stored."""
        return sorted(item["title"] for item in self.items(source))


def host(path: str) -> str:
    """The host of the feed at ``path``."""
    return f"{path.split('/')[1]}.example"


def place(site: ReplaySite, feeds: Iterable[Feed], database_url: str, **changes: Any) -> Place:
    """Where workers find the site's feeds and the database; the clock stands at the start."""
    port = urlsplit(site.url("/")).port
    hosts = {host(feed.path): f"127.0.0.1:{port}" for feed in feeds}
    whole: Mapping[str, Any] = {"now": START} | changes
    return Place(database_url=database_url, hosts=hosts, **whole)


def validators(state: Row) -> dict[str, Any]:
    """What the next request would carry, and the body that need not be read again."""
    return {name: state[name] for name in ("etag", "last_modified", "body_hash")}


def statuses(runs: Sequence[Row]) -> list[str]:
    """What each run came to, in order."""
    return [str(run["status"]) for run in runs]
