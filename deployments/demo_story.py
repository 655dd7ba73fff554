"""The demonstration's story: ten sources, two simulated hours, told as it happens.

One fake clock is shared with the replay site. It stands still while polls run and then jumps to
the next instant at which a source is due.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from rich.console import Console

from deployments import demo_report
from flows.poll_due import poll_due
from flows.poll_source import poll_source
from sourcemon import wiring
from sourcemon.clock import FakeClock
from sourcemon.core.overviews import RunOverview
from sourcemon.core.schedule import NEVER
from sourcemon.core.sources import Source
from sourcemon.operations import listing, register
from sourcemon.operations.deps import Deps
from sourcemon.replay.demo import DEMO_SOURCES, demo_feeds
from sourcemon.replay.site import ReplaySite
from sourcemon.settings import HttpSettings, PollingSettings, Settings
from sourcemon.store import migrations

START = datetime(2026, 1, 5, 6, 0, tzinfo=UTC)
END = START + timedelta(hours=2)
INTERVAL = timedelta(minutes=10)
ASKS_FOR_PATIENCE = "Security advisories"
"""The source whose server sends an X-Poll-Interval longer than our interval."""


async def play(folder: Path) -> bool:
    """Tell the story; whether every total came out as known beforehand."""
    console = Console()
    clock = FakeClock(START)
    site = ReplaySite(demo_feeds(START), now=clock.now)
    with site, _wired(folder, site, clock) as deps:
        sources = _register(deps)
        demo_report.opening(console, sources, deps)
        with console.status("starting a temporary Prefect server (about 10 s) …"):
            state = await poll_due(return_state=True)
        demo_report.act(console, "1. First polls", clock.now(), state, _runs_since(deps, 0))
        await _second_cycle(console, deps, clock)
        await _refusal(console, clock, sources)
        await _two_hours(console, deps, clock)
        demo_report.sources_table(console, listing.sources_of(deps))
        await demo_report.prefect_runs(console)
        return demo_report.checks(console, deps, site.log)


async def _second_cycle(console: Console, deps: Deps, clock: FakeClock) -> None:
    before = _newest_run(deps)
    _jump(deps, clock)
    state = await poll_due(return_state=True)
    demo_report.act(console, "2. The next cycle", clock.now(), state, _runs_since(deps, before))


async def _refusal(console: Console, clock: FakeClock, sources: Sequence[Source]) -> None:
    """Force a poll that a server asked us not to make."""
    patient = next(source for source in sources if source.name == ASKS_FOR_PATIENCE)
    state = await poll_source(patient.id, force=True, return_state=True)
    demo_report.refusal(console, clock.now(), patient, state)


async def _two_hours(console: Console, deps: Deps, clock: FakeClock) -> None:
    """Tick at every due instant until the end, one line each."""
    demo_report.heading(console, "4. Two hours of schedule, one line for each tick")
    while _next_due(deps) <= END:
        before = _newest_run(deps)
        _jump(deps, clock)
        state = await poll_due(return_state=True)
        demo_report.tick_line(console, clock.now(), state, _runs_since(deps, before))


@contextmanager
def _wired(folder: Path, site: ReplaySite, clock: FakeClock) -> Iterator[Deps]:
    """Dependencies on a database in ``folder``, every name of the story resolved to the site."""
    url = f"sqlite:///{folder / 'sourcemon.db'}"
    migrations.upgrade(url)
    port = urlsplit(site.url("/")).port
    names = {_host(source.path) for source in DEMO_SOURCES}
    chosen = Settings(
        database_url=url,
        contact="mailto:demo@sourcemon.invalid",
        http=HttpSettings(resolver=dict.fromkeys(names, f"127.0.0.1:{port}")),
        polling=PollingSettings(default_interval_s=INTERVAL.total_seconds()),
    )
    with wiring.use(wiring.build(chosen, clock=clock)) as deps:
        yield deps
        deps.close()


def _register(deps: Deps) -> list[Source]:
    return [
        register.add(deps, f"http://{_host(known.path)}{known.path}", name=known.name)
        for known in DEMO_SOURCES
    ]


def _host(path: str) -> str:
    """Each source has a host of its own: ``/harbour/…`` is played by ``harbour.example``."""
    return f"{path.split('/')[1]}.example"


def _jump(deps: Deps, clock: FakeClock) -> None:
    clock.jump_to(_next_due(deps))


def _next_due(deps: Deps) -> datetime:
    """The instant at which the first source is due; far away when none will be."""
    return min((o.next_poll_at for o in listing.sources_of(deps)), default=NEVER)


def _newest_run(deps: Deps) -> int:
    return max((run.id for run in listing.runs_of(deps, limit=1)), default=0)


def _runs_since(deps: Deps, run_id: int) -> list[RunOverview]:
    """The runs after that one, in the order of their sources."""
    runs = [run for run in listing.runs_of(deps, limit=100) if run.id > run_id]
    return sorted(runs, key=lambda run: run.source_id)
