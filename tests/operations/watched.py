"""A watched source in the hands of a test: polled, looked at, made due. Tests nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sourcemon.clock import FakeClock
from sourcemon.core.health import Grade
from sourcemon.core.overviews import RunOverview
from sourcemon.core.poll_state import PollState
from sourcemon.core.results import Deferral, PollResult
from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.core.sources import Source
from sourcemon.operations import register
from sourcemon.operations.check_schedule import check_schedule
from sourcemon.operations.deps import Deps
from sourcemon.operations.listing import explain, items_of, runs_of
from sourcemon.operations.poll import poll
from sourcemon.operations.poll_context import Poll
from sourcemon.store.tables import PollStateRow
from tests.store.stored import NOON, Row, change, row, rows

CONTACT = "mailto:op@example.org"
URL = "https://kiosk.test/feed"
INTERVAL = timedelta(minutes=30)


@dataclass(frozen=True)
class Watched:
    """A source, and the worker that polls it unless another one is named."""

    deps: Deps
    source: Source

    def result(self, *, force: bool = False, by: Deps | None = None) -> PollResult:
        """What a poll came to that was attempted."""
        attempt = poll(by or self.deps, self.source.id, force=force)
        assert isinstance(attempt, PollResult), attempt
        return attempt

    def deferral(
        self, *, force: bool = False, by: Deps | None = None, token: str | None = None
    ) -> Deferral:
        """Why a poll was not attempted."""
        attempt = poll(by or self.deps, self.source.id, force=force, token=token)
        assert isinstance(attempt, Deferral), attempt
        return attempt

    def begun(self, *, by: Deps | None = None) -> Poll:
        """A poll that was allowed, before its first request: the steps are taken one by one."""
        begun = check_schedule(by or self.deps, self.source.id)
        assert isinstance(begun, Poll), begun
        return begun

    @property
    def row(self) -> Row:
        """All that is stored of its polls' state, claim and cache included."""
        return row(self.deps.database, PollStateRow, source_id=self.source.id)

    @property
    def state(self) -> PollState:
        """Its state as the program reads it."""
        return explain(self.deps, self.source.id).overview.state

    @property
    def grade(self) -> Grade | None:
        return explain(self.deps, self.source.id).overview.grade

    @property
    def objections(self) -> Mapping[ObjectionName, datetime]:
        return {each.name: each.until for each in self.state.schedule.objections}

    @property
    def runs(self) -> tuple[RunOverview, ...]:
        """Its runs, the newest first."""
        return runs_of(self.deps, self.source.id, limit=100)

    @property
    def run(self) -> RunOverview:
        """Its only run."""
        (only,) = self.runs
        return only

    @property
    def titles(self) -> list[str | None]:
        """The titles of its items, the newest first."""
        return [item.title for item in items_of(self.deps, self.source.id, limit=100)]

    @property
    def is_claimed(self) -> bool:
        return self.row["claim_token"] is not None

    def object_to(self, *objections: Objection) -> None:
        """Put objections into its state."""
        for each in objections:
            because = each.name.value.rsplit("_", 1)[0] + "_because"
            because = {"cadence_due_because": "cadence_because"}.get(because, because)
            because = because.replace("retry_not_before", "retry")
            values = {each.name.value: each.until, because: each.because}
            self.change(values)

    def change(self, values: Row) -> None:
        """Set columns of its state behind the program's back."""
        change(self.deps.database, PollStateRow, values, source_id=self.source.id)

    def wait_until_due(self) -> datetime:
        """Let time pass until nothing speaks against a poll."""
        clock = self.deps.clock
        assert isinstance(clock, FakeClock)
        return clock.jump_to(max(self.objections.values(), default=NOON))


def watch(deps: Deps, url: str, *, interval: timedelta = INTERVAL) -> Watched:
    """A source that is registered and was never polled."""
    return Watched(deps, register.add(deps, url, name="kiosk", interval=interval))


def everything(deps: Deps, *tables: type) -> list[list[Row]]:
    """All rows of these tables, to be compared with a later look."""
    return [rows(deps.database, table) for table in tables]
