"""`make up` as a process of its own, and what a test does to it and sees of it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import psutil  # type: ignore[import-untyped]
from prefect.settings import PREFECT_API_URL, temporary_settings

from deployments.prefect_api import Place
from sourcemon import wiring
from sourcemon.core.overviews import RunOverview, SourceOverview
from sourcemon.core.sources import Source
from sourcemon.operations import listing, register
from sourcemon.operations.deps import Deps
from sourcemon.replay import Feed, Listed, Newsroom, ReplaySite
from sourcemon.replay.waterside import HARBOUR
from sourcemon.settings import HttpSettings, Settings

ROOT = Path(__file__).parents[2]
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
SELDOM = timedelta(days=1)
PATIENCE_S = 300.0
"""How long a test waits for what takes seconds on a machine that is not busy."""

T = TypeVar("T")


def plain_feed(path: str) -> Newsroom:
    """A feed of three entries, all of them old."""
    published = tuple(LONG_AGO + timedelta(hours=hours) for hours in range(3))
    return Newsroom(path, desk=HARBOUR, published=Listed(published))


def when(seen: Callable[[], T | None], *, within_s: float = PATIENCE_S) -> T:
    """What is seen once it is neither ``None`` nor false."""
    deadline = time.monotonic() + within_s
    while not (found := seen()):
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.05)
    return found


def free_place() -> Place:
    """An address for a Prefect server, at a port like those of ``tests/isolation.py``."""
    for port in random.SystemRandom().sample(range(20_000, 30_000), k=100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return Place(f"http://127.0.0.1:{port}/api")
    raise RuntimeError("no port between 20000 and 30000 is free")


class World:
    """A replay site and a database, and the environment in which ``make up`` uses both."""

    def __init__(self, site: ReplaySite, deps: Deps, environment: Mapping[str, str]) -> None:
        self.site = site
        self.deps = deps
        self.environment = environment

    def watch(self, feed: Feed, *, interval: timedelta = SELDOM) -> Source:
        return register.add(self.deps, self.site.url(feed.path), interval=interval, name=feed.path)

    def runs(self, source: Source) -> tuple[RunOverview, ...]:
        """Its polls that have ended, newest first."""
        found = listing.runs_of(self.deps, source.id, limit=100)
        return tuple(run for run in found if run.finished_at)

    def overview(self, source: Source) -> SourceOverview:
        return listing.explain(self.deps, source.id).overview


@contextmanager
def world(feeds: tuple[Feed, ...], folder: Path, database_url: str) -> Iterator[World]:
    """A world on the machine's clock, in a home of its own."""
    networks = '["127.0.0.0/8"]'
    settings = Settings(
        database_url=database_url,
        http=HttpSettings.model_validate_json(f'{{"allowed_networks": {networks}}}'),
    )
    outside = {name: value for name, value in os.environ.items() if "PREFECT_" not in name}
    environment = {
        **outside,
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
        "SOURCEMON_DATABASE_URL": database_url,
        "SOURCEMON_HTTP__ALLOWED_NETWORKS": networks,
        "SOURCEMON_HTTP__READ_TIMEOUT_S": "2",
        "SOURCEMON_POLLING__CLAIM_LEASE_S": "6",
        "PREFECT_SERVER_UI_ENABLED": "false",
    }
    deps = wiring.build(settings)
    with ReplaySite(feeds, now=deps.clock.now) as site:
        yield World(site, deps, environment)
    deps.close()


class Up:
    """A running ``make up``, and every line that it said."""

    def __init__(self, world: World, place: Place) -> None:
        self.place = place
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            (sys.executable, "-m", "deployments.serve"),
            cwd=world.environment["HOME"],
            env={**world.environment, "PREFECT_API_URL": place.url},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def says(self, words: str, *, within_s: float = PATIENCE_S) -> str:
        """The first line with these words, once it is said."""
        return when(lambda: next((x for x in self.lines if words in x), None), within_s=within_s)

    def family(self) -> list[psutil.Process]:
        """Every process that it started, directly or not."""
        found: list[psutil.Process] = psutil.Process(self.process.pid).children(recursive=True)
        return found

    def member(self, words: str) -> psutil.Process:
        """The one of them with these words in its command."""
        (found,) = [each for each in self.family() if words in " ".join(each.cmdline())]
        return found

    def stop(self, number: signal.Signals = signal.SIGINT) -> float:
        """Send it a signal; the seconds until it, and whatever it started, has ended."""
        family = self.family()
        began = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(PATIENCE_S)
        _, alive = psutil.wait_procs(family, timeout=1.0)
        assert alive == [], f"left: {[each.cmdline() for each in alive]}"
        self._listener.join()
        return time.monotonic() - began

    def kill(self) -> None:
        """Have nothing left of it, whatever it does."""
        if self.process.poll() is None:
            family = self.family()
            self.process.kill()
            psutil.wait_procs(family, timeout=20.0)
            for each in family:
                if each.is_running():
                    each.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())


@contextmanager
def up(world: World, place: Place) -> Iterator[Up]:
    """``make up`` while the block runs; Prefect's clients of this process ask its server."""
    running = Up(world, place)
    try:
        with temporary_settings({PREFECT_API_URL: place.url}):
            yield running
    finally:
        running.kill()
