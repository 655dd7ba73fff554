"""What the demonstration prints, and the totals it must come to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from prefect import State
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterId,
)
from prefect.client.schemas.sorting import FlowRunSort, TaskRunSort
from rich.console import Console
from rich.table import Table

from sourcemon.core.durations import describe
from sourcemon.core.overviews import RunOverview, SourceOverview
from sourcemon.core.schedule import NEVER
from sourcemon.core.sources import Source
from sourcemon.operations import listing
from sourcemon.operations.deps import Deps
from sourcemon.replay.access_log import AccessLog
from sourcemon.replay.demo import DEMO_SOURCES

RECORDER_PAUSE_S = 1.5
"""Longer than the recorder gathers task runs before it writes them."""
RECORDED_WITHIN_S = 20.0
"""The Prefect server records task runs from events, a moment after they happened."""


def opening(console: Console, sources: Sequence[Source], deps: Deps) -> None:
    """Say what is about to be played."""
    console.print(
        f"[bold]sourcemon[/bold] polls {len(sources)} made-up feeds, each on a host of its own,"
        f" every {describe(sources[0].interval)}."
    )
    console.print(f"Database {deps.database.shown}; the clock is a fake one and jumps.")


def heading(console: Console, text: str) -> None:
    """The title of an act."""
    console.print(f"\n[bold]{text}[/bold]")


def act(
    console: Console, title: str, now: datetime, state: State[Any], runs: Sequence[RunOverview]
) -> None:
    """One tick in full: the flow's final state, and a row for every poll."""
    heading(console, f"{title} — {now:%H:%M}")
    table = Table(box=None, pad_edge=False)
    for column in ("source", "status", "HTTP", "new", "updated", "what happened"):
        table.add_column(column, justify="right" if column in {"new", "updated"} else "left")
    for run in runs:
        table.add_row(
            run.source_name,
            run.status,
            str(run.http_status or "–"),
            str(run.counters.created or "–"),
            str(run.counters.updated or "–"),
            _happened(run),
        )
    console.print(table)
    _state_line(console, "poll-due", state)


def refusal(console: Console, now: datetime, source: Source, state: State[Any]) -> None:
    """A forced poll that the server's own wish forbids."""
    heading(console, f"3. A forced poll of {source.name} — {now:%H:%M}")
    console.print("Force drops our own interval; what the server asked for binds all the same:")
    _state_line(console, "poll-source", state)


def tick_line(
    console: Console, now: datetime, state: State[Any], runs: Sequence[RunOverview]
) -> None:
    """One tick in a line: the flow's state and whatever is worth a word."""
    notable = [f"{run.source_name}: {_news(run)}" for run in runs if run.status != "not_modified"]
    console.print(f"{now:%H:%M}  {state.message}  [dim]{'; '.join(notable)}[/dim]")


def sources_table(console: Console, overviews: Sequence[SourceOverview]) -> None:
    """Every source at the end: its grade, its items, when it is polled next and why."""
    heading(console, "5. The sources, and why each is polled when it is")
    table = Table(box=None, pad_edge=False)
    for column in ("source", "grade", "items", "next poll", "because"):
        table.add_column(column)
    for overview in overviews:
        grade = overview.grade.value if overview.grade else "–"
        table.add_row(overview.source.name, grade, str(overview.items), *_next(overview))
    console.print(table)


async def prefect_runs(console: Console) -> None:
    """The first poll of each outcome as Prefect recorded it, with its tasks."""
    heading(console, "6. Polls as Prefect recorded them, the first of each outcome")
    async with get_client() as client:
        found = await client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=["poll-source"])),
            sort=FlowRunSort.START_TIME_DESC,
            limit=200,
        )
        runs = list({run.state_name: run for run in found}.values())
        tasks = await _recorded_tasks(client, [run.id for run in runs])
    for run in runs:
        message = run.state.message if run.state else ""
        console.print(f"{run.name}  [green]{run.state_name}[/green]  {message}", highlight=False)
        console.print(f"    [dim]{' → '.join(tasks[run.id])}[/dim]", highlight=False)


def checks(console: Console, deps: Deps, log: AccessLog) -> bool:
    """Hold the outcome against what is known of the feeds beforehand; whether all of it is met."""
    heading(console, "7. Totals known beforehand")
    overviews = {o.source.name: o for o in listing.sources_of(deps)}
    runs = listing.runs_of(deps, limit=1000)
    early = log.early_requests()
    expected_items = sum(d.entries_at_start + d.entries_later for d in DEMO_SOURCES)
    corrections = sum(d.corrections_later for d in DEMO_SOURCES)
    found = [
        ("items", expected_items, sum(o.items for o in overviews.values())),
        ("items created", expected_items, sum(r.counters.created for r in runs)),
        ("corrections picked up", corrections, sum(r.counters.updated for r in runs)),
        ("entries that failed", 0, sum(r.counters.failed for r in runs)),
        ("requests in the site's log", _asked(log), len(runs) + log.count(302)),
        (
            "sources gone for good",
            1,
            sum(o.state.status.value == "gone" for o in overviews.values()),
        ),
        ("early requests", 0, len(early)),
    ]
    for what, known, seen in found:
        mark = "[green]✓[/green]" if known == seen else "[red]✗[/red]"
        console.print(f"{mark} {what}: {seen}" + ("" if known == seen else f", expected {known}"))
    for request in early:
        console.print(f"  [red]early[/red] {request}")
    conditional = log.count(304) / max(_asked(log), 1)
    console.print(f"{conditional:.0%} of {_asked(log)} requests were answered 304.")
    return all(known == seen for _, known, seen in found)


async def _recorded_tasks(client: PrefectClient, run_ids: Sequence[UUID]) -> dict[UUID, list[str]]:
    """The task names of each run in their order, once the server records no more of them.

    After 20 seconds whatever is there is shown.
    """
    wanted = FlowRunFilter(id=FlowRunFilterId(any_=list(run_ids)))
    deadline = time.monotonic() + RECORDED_WITHIN_S
    before: dict[UUID, list[str]] = {}
    while True:
        names: dict[UUID, list[str]] = {run_id: [] for run_id in run_ids}
        for task_run in await client.read_task_runs(
            flow_run_filter=wanted, sort=TaskRunSort.EXPECTED_START_TIME_ASC, limit=200
        ):
            if task_run.flow_run_id is not None:
                names[task_run.flow_run_id].append(task_run.name)
        if (all(names.values()) and names == before) or time.monotonic() > deadline:
            return names
        before = names
        await asyncio.sleep(RECORDER_PAUSE_S)


def _asked(log: AccessLog) -> int:
    return len(log.requests())


def _state_line(console: Console, flow: str, state: State[Any]) -> None:
    console.print(
        f"flow [cyan]{flow}[/cyan] ended [green]{state.name}[/green]: {state.message}",
        highlight=False,
    )


def _happened(run: RunOverview) -> str:
    """What a person wants to know of a run besides its numbers."""
    if run.error:
        return run.error
    if run.stop_reason == "unchanged_body":
        return "the same bytes as last time: not parsed"
    return "nothing changed since" if run.status == "not_modified" else ""


def _news(run: RunOverview) -> str:
    """A run that is not a plain 304, in a few words."""
    counters = run.counters
    if counters.created or counters.updated:
        return f"{counters.created} new, {counters.updated} updated"
    return run.error or run.stop_reason or run.status


def _next(overview: SourceOverview) -> tuple[str, str]:
    """When a source is polled next, and the objection that decides it."""
    if overview.next_poll_at >= NEVER:
        return "–", f"{overview.state.status.value}: {overview.state.last_error}"
    binding = overview.state.schedule.binding()
    because = f"{binding.name}: {binding.because}" if binding else "never polled"
    return f"{overview.next_poll_at:%H:%M}", because
