"""What the tests of the commands share: a database, a site that behaves, a clock, a way to run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from sourcemon import wiring
from sourcemon.cli.main import main
from sourcemon.clock import FakeClock
from sourcemon.core.decisions import next_poll_at
from sourcemon.core.poll_state import PollState, PollStatus
from sourcemon.core.schedule import Objection, Schedule
from sourcemon.core.sources import SourceId
from sourcemon.operations import register
from sourcemon.operations.deps import Deps, Policies
from sourcemon.store import claims, polls
from sourcemon.store.session import Database
from tests.cli.fake_site import FakeSite

NOON = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
"""Central European time spelled out, for machines without a time zone database."""


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on stdout."""
        return json.loads(self.out)

    @property
    def errors(self) -> list[str]:
        """The lines on stderr but for the one that names the database."""
        return [line for line in self.err.splitlines() if not line.startswith("database: ")]


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is Central European time."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", BERLIN)
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(autouse=True)
def _nobodys_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the person who runs the tests likes of colours and widths is not ours."""
    for name in ("COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "PY_COLORS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands at noon, one in the afternoon in Berlin."""
    return FakeClock(NOON)


@pytest.fixture
def site(clock: FakeClock) -> FakeSite:
    """A site that has no feed yet."""
    return FakeSite(clock.now)


@pytest.fixture
def deps(sqlite_url: str, site: FakeSite, clock: FakeClock) -> Iterator[Deps]:
    """Dependencies in force for the commands of the test."""
    database = Database(sqlite_url)
    policies = Policies(contact="mailto:ops@example.org")
    wired = Deps(database=database, http=site, clock=clock, policies=policies)
    with wiring.use(wired):
        yield wired
    database.close()


@pytest.fixture
def run(deps: Deps, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def run_command(*arguments: object) -> Ran:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ran(ended.value.code, out, err)

    return run_command


@pytest.fixture
def watch(deps: Deps) -> Callable[..., SourceId]:
    """Register a source; its id."""

    def add(url: str = "https://site.test/feed", name: str | None = None) -> SourceId:
        return register.add(deps, url, name=name).id

    return add


@pytest.fixture
def set_state(deps: Deps) -> Callable[..., None]:
    """Give a source a state as if a poll had left it."""

    def store(
        source_id: SourceId,
        *objections: Objection,
        status: PollStatus = PollStatus.IDLE,
        **rest: Any,
    ) -> None:
        state = PollState(status=status, schedule=Schedule.of(objections), **rest)
        with deps.database.write() as session:
            lease = deps.policies.claim_lease
            claims.take(session, source_id, token="t", lease=lease, instant=deps.clock.now())
            polls.record(session, source_id, token="t", state=state)
            due = next_poll_at(state.schedule, enabled=True, status=status)
            polls.cache_next_poll(session, source_id, due)
            claims.release(session, [source_id], token="t")

    return store
