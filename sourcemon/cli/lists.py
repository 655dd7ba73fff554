"""The commands that list: ``sources``, ``items``, ``runs``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sourcemon.cli import arguments, wired
from sourcemon.cli.arguments import AnyId, AsJson, Limit
from sourcemon.cli.documents import item_document, overview_document, run_document
from sourcemon.cli.instants import Times
from sourcemon.cli.screen import Screen
from sourcemon.cli.standing import Standing, reason_of, standing_of, trouble_of
from sourcemon.cli.tables import Column, Row
from sourcemon.cli.texts import Styled
from sourcemon.core.durations import describe
from sourcemon.core.health import Grade
from sourcemon.core.overviews import ItemOverview, RunOverview, SourceOverview
from sourcemon.core.verdict import RunStatus

_NONE = ("–", "dim")
_GRADES = {
    Grade.WORKING: "green",
    Grade.IMPROVING: "cyan",
    Grade.DECLINING: "yellow",
    Grade.FAILING: "red",
}
_STATUSES = {RunStatus.FAILED: "red", RunStatus.DEFERRED: "yellow", RunStatus.RUNNING: "cyan"}

_SOURCES = (
    Column(title="ID", right=True),
    Column(title="Name", flexible=True),
    Column(title="Kind"),
    Column(title="Every"),
    Column(title="Grade"),
    Column(title="Items", right=True),
    Column(title="Last polled"),
    Column(title="Next poll"),
)
_RUNS = (
    Column(title="Run", right=True),
    Column(title="Source", flexible=True),
    Column(title="Started"),
    Column(title="Status"),
    Column(title="HTTP"),
    Column(title="New", right=True),
    Column(title="Updated", right=True),
    Column(title="Took", right=True),
)
_ITEMS = (
    Column(title="Item", right=True),
    Column(title="Source", flexible=True),
    Column(title="Published"),
    Column(title="Title", flexible=True),
)


def sources(as_json: AsJson = False) -> None:
    """List what is watched: health, items, and when each is polled next and why."""
    from sourcemon.operations import listing

    screen = Screen()
    deps = wired.deps(screen)
    found, now = listing.sources_of(deps), deps.clock.now()
    if as_json:
        screen.document([overview_document(one, now) for one in found])
    elif found:
        times = screen.times(now)
        screen.table(_SOURCES, [_source_row(one, times) for one in found], detail="Because")
    else:
        screen.say("Nothing is watched yet: `sourcemon add https://example.org/feed.xml`")


def items(source: AnyId = None, limit: Limit = 20, as_json: AsJson = False) -> None:
    """List the items that were stored last, newest first."""
    from sourcemon.operations import listing

    screen = Screen()
    wanted = None if source is None else arguments.source_id(source)
    deps = wired.deps(screen)
    found = listing.items_of(deps, wanted, limit=limit)
    if as_json:
        screen.document([item_document(item) for item in found])
    elif found:
        times = screen.times(deps.clock.now())
        screen.table(_ITEMS, [_item_row(item, times) for item in found], detail="URL")
    else:
        screen.say("No items yet: `sourcemon poll --due` polls what is due")


def runs(source: AnyId = None, limit: Limit = 20, as_json: AsJson = False) -> None:
    """List the polls that were made last, newest first."""
    from sourcemon.operations import listing

    screen = Screen()
    wanted = None if source is None else arguments.source_id(source)
    deps = wired.deps(screen)
    found = listing.runs_of(deps, wanted, limit=limit)
    if as_json:
        screen.document([run_document(run) for run in found])
    elif found:
        print_runs(screen, found, screen.times(deps.clock.now()))
    else:
        screen.say("No polls yet: `sourcemon poll --due` polls what is due")


def print_runs(screen: Screen, found: Sequence[RunOverview], times: Times) -> None:
    """A table of polls, of whatever sources."""
    screen.table(_RUNS, [_run_row(run, times) for run in found], detail="Note")


def print_runs_of_one(screen: Screen, found: Sequence[RunOverview], times: Times) -> None:
    """A table of polls of one source that was named before."""
    rows = [_run_row(run, times) for run in found]
    unnamed = [replace(row, cells=[row.cells[0], *row.cells[2:]]) for row in rows]
    screen.table([_RUNS[0], *_RUNS[2:]], unnamed, detail="Note")


def _source_row(overview: SourceOverview, times: Times) -> Row:
    source, grade = overview.source, overview.grade
    standing = standing_of(overview, times.now)
    return Row(
        cells=[
            str(source.id),
            source.name,
            source.kind.value,
            describe(source.interval),
            (grade.value, _GRADES[grade]) if grade else _NONE,
            str(overview.items),
            times.past(overview.state.last_polled_at) or ("never", "dim"),
            (_next(overview, standing, times), standing.style),
        ],
        detail=(_because(overview, standing), "dim"),
    )


def _next(overview: SourceOverview, standing: Standing, times: Times) -> str:
    binding = overview.state.schedule.binding()
    if standing is Standing.WAITING and binding is not None:
        return times.not_before(binding.until)
    return standing.words


def _because(overview: SourceOverview, standing: Standing) -> str:
    """What a source waits for: an instant and its reason, or a person; ``""`` when for nothing."""
    if standing.waits_for_operator:
        return trouble_of(overview)
    binding = overview.state.schedule.binding()
    return reason_of(binding) if binding and standing is Standing.WAITING else ""


def _run_row(run: RunOverview, times: Times) -> Row:
    counts = run.counters
    return Row(
        cells=[
            str(run.id),
            run.source_name,
            times.past(run.started_at) or _NONE,
            (run.status, _STATUSES.get(RunStatus(run.status), "")),
            str(run.http_status) if run.http_status else _NONE,
            str(counts.created),
            str(counts.updated),
            f"{run.duration_ms / 1000:.1f} s" if run.duration_ms is not None else _NONE,
        ],
        detail=(run.error or "", "dim"),
    )


def _item_row(item: ItemOverview, times: Times) -> Row:
    title: Styled = item.title or ("(untitled)", "dim")
    published = times.past(item.published_at) or _NONE
    return Row(
        cells=[str(item.id), item.source_name, published, title], detail=(item.url or "", "dim")
    )
