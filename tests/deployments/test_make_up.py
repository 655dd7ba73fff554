"""From nothing to polls, through what a person does in the UI, to nothing left."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from deployments.prefect_api import Answer, answer_at
from sourcemon.clock import SystemClock
from sourcemon.core.overviews import SourceOverview
from sourcemon.core.sources import Source
from sourcemon.replay import Answer as SiteAnswer
from sourcemon.replay import Feed, Held, Request
from tests.deployments import by_hand
from tests.deployments.up import PATIENCE_S, Up, World, free_place, plain_feed, up, when, world

STOPS_WITHIN_S = 15.0
FIRST_POLL_WITHIN_S = 60.0
"""On a machine with nothing else to do; on a busy one in proportion."""


def busyness() -> float:
    """How many processes wanted a processor in the last minute, for each that there is."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@dataclass(slots=True)
class HeldOnDemand:
    """A feed that a test can hold up between two polls."""

    feed: Feed
    held: Held | None = None

    @property
    def path(self) -> str:
        return self.feed.path

    def answer(self, request: Request) -> SiteAnswer:
        return (self.held or self.feed).answer(request)


HARBOUR = plain_feed("/harbour/notices.xml")
TOWER = HeldOnDemand(plain_feed("/tower/notices.xml"))


@dataclass(frozen=True, slots=True)
class Stack:
    """``make up`` with two sources that were due when it started, and are polled once a day."""

    world: World
    up: Up
    harbour: Source
    tower: Source
    first_poll_after_s: float


@pytest.fixture(scope="module")
def stack(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The stack with a server of its own; at its end Ctrl-C leaves nothing behind."""
    folder = tmp_path_factory.mktemp("up")
    database = shutil.copyfile(sqlite_template, folder / "sourcemon.sqlite")
    place = free_place()
    with world((HARBOUR, TOWER), folder, f"sqlite:///{database}") as found:
        harbour, tower = found.watch(HARBOUR), found.watch(TOWER)
        with up(found, place) as running:
            when(lambda: found.runs(harbour))
            after_s = time.monotonic() - running.began
            when(lambda: found.runs(tower))
            yield Stack(found, running, harbour, tower, after_s)
            assert running.stop() < STOPS_WITHIN_S
            assert running.process.returncode == 0
            assert answer_at(place) is Answer.NOBODY


def test_the_first_scheduled_poll_is_done_within_a_minute(stack: Stack) -> None:
    (run,) = stack.world.runs(stack.harbour)[-1:]

    assert (run.status, run.counters.created) == ("completed", 3)
    assert stack.first_poll_after_s < FIRST_POLL_WITHIN_S * busyness()
    assert stack.up.says("Ready.").endswith(stack.up.place.ui_url)
    assert stack.up.says("Serving poll-due: every 60 s")


def test_a_custom_run_polls_the_source_it_was_given_and_its_retry_polls_it_again(
    stack: Stack,
) -> None:
    before = len(stack.world.runs(stack.harbour))

    run_id = by_hand.custom_run(stack.harbour, force=True)
    run = by_hand.ended(run_id)
    assert (run.state_name, run.name) == ("NothingNew", "poll-/harbour/notices.xml")
    assert len(stack.world.runs(stack.harbour)) == before + 1

    by_hand.retry(run_id)
    assert by_hand.ended(run_id, times=2).state_name == "NothingNew"
    assert len(stack.world.runs(stack.harbour)) == before + 2


def test_a_cancelled_poll_leaves_its_place_and_its_source_free(stack: Stack) -> None:
    """The place at once; the source when its claim, which is short here, expires at the latest."""
    TOWER.held = held = Held(TOWER.feed)
    run_id = by_hand.custom_run(stack.tower, force=True)
    assert held.entered.wait(PATIENCE_S)
    assert by_hand.slots_in_use() == 1

    by_hand.cancel(run_id)
    when(lambda: by_hand.slots_in_use() == 0, within_s=20)
    assert by_hand.ended(run_id).state_name == "Cancelled"
    TOWER.held = None
    held.release.set()
    when(lambda: _is_free(stack.world.overview(stack.tower)))

    again = by_hand.custom_run(stack.tower, force=True)
    assert by_hand.ended(again).state_name == "NothingNew"


def _is_free(overview: SourceOverview) -> bool:
    until = overview.claimed_until
    return until is None or until <= SystemClock().now()
