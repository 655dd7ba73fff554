"""How the due sources of one tick are shared out, and how much of it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sourcemon.core.sources import SourceId

FLOW_RUNS_UP_TO = 10
TASKS_UP_TO = 1_000
BATCH_SIZE = 100


class Detail(StrEnum):
    """How much of a tick the orchestrator is shown."""

    AUTO = "auto"
    FLOW_RUNS = "flow_runs"
    """One flow run for each poll, with its four steps."""
    TASKS = "tasks"
    """One task for each poll."""
    BATCHES = "batches"
    """One task for every 100 polls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedSource:
    """A due source that this worker has the right to poll, until its claim expires."""

    source_id: SourceId
    name: str
    host: str
    token: str


def detail_for(due: int, wanted: Detail = Detail.AUTO) -> Detail:
    """The detail for ``due`` sources: up to 10 flow runs, up to 1000 tasks, then batches."""
    if wanted is not Detail.AUTO:
        return wanted
    if due <= FLOW_RUNS_UP_TO:
        return Detail.FLOW_RUNS
    return Detail.TASKS if due <= TASKS_UP_TO else Detail.BATCHES


def by_host(claimed: Iterable[ClaimedSource]) -> tuple[tuple[ClaimedSource, ...], ...]:
    """The sources grouped by host, in the order given; a group is polled one by one."""
    groups: dict[str, list[ClaimedSource]] = {}
    for source in claimed:
        groups.setdefault(source.host, []).append(source)
    return tuple(tuple(group) for group in groups.values())


def batches(
    groups: Sequence[tuple[ClaimedSource, ...]], size: int = BATCH_SIZE
) -> tuple[tuple[tuple[ClaimedSource, ...], ...], ...]:
    """The groups in batches of about ``size`` sources each; no group is split over two batches."""
    packed: list[list[tuple[ClaimedSource, ...]]] = []
    room = 0
    for group in groups:
        if not packed or len(group) > room:
            packed.append([])
            room = size
        packed[-1].append(group)
        room -= len(group)
    return tuple(tuple(batch) for batch in packed)
