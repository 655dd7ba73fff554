"""What befalls a stack that runs for days: its processes die, and runs wait for their instant."""

from __future__ import annotations

import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from sourcemon.replay import Feed, resets
from tests.deployments import by_hand
from tests.deployments.up import Up, World, free_place, plain_feed, up, when, world

pytestmark = pytest.mark.long

HARBOUR = plain_feed("/harbour/notices.xml")
MINUTE = timedelta(minutes=1)

MakeUp = Callable[[Feed], AbstractContextManager[tuple[World, Up]]]


@pytest.fixture
def make_up(sqlite_template: Path, tmp_path: Path) -> MakeUp:
    """A function that runs ``make up`` on a world with one feed."""

    @contextmanager
    def opened(feed: Feed) -> Iterator[tuple[World, Up]]:
        database = shutil.copyfile(sqlite_template, tmp_path / "sourcemon.sqlite")
        with (
            world((feed,), tmp_path, f"sqlite:///{database}") as found,
            up(found, free_place()) as running,
        ):
            running.says("Ready.")
            yield found, running

    return opened


@pytest.mark.parametrize("module, name", [("own_server", "Prefect server"), ("runner", "runner")])
def test_a_process_that_dies_is_started_again_and_ticks_go_on(
    module: str, name: str, make_up: MakeUp
) -> None:
    with make_up(HARBOUR) as (found, running):
        source = found.watch(HARBOUR, interval=MINUTE)
        when(lambda: found.runs(source))

        running.member(f"deployments.{module}").kill()

        running.says(f"The {name} ended unexpectedly (exit code -9)")
        running.says(f"The {name} started again")
        polls = len(found.runs(source))
        when(lambda: len(found.runs(source)) >= polls + 2, within_s=300)
        assert running.stop() < 15
        assert running.process.returncode == 0


def test_nothing_outlives_a_make_up_that_is_killed(make_up: MakeUp) -> None:
    with make_up(HARBOUR) as (_, running):
        family = running.family()
        assert len(family) >= 2

        running.process.kill()

        _, alive = psutil.wait_procs(family, timeout=30)
        assert alive == []


def test_a_second_ctrl_c_kills(make_up: MakeUp) -> None:
    with make_up(HARBOUR) as (_, running):
        family = running.family()

        running.process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        running.process.send_signal(signal.SIGINT)

        running.process.wait(5)
        _, alive = psutil.wait_procs(family, timeout=1)
        assert (alive, running.process.returncode) == ([], 0)


def test_a_failed_source_is_polled_again_by_the_run_scheduled_for_it(make_up: MakeUp) -> None:
    """A connection that breaks is tried again after five minutes, by a run that people see."""
    broken = resets(HARBOUR)
    with make_up(broken) as (found, running):
        source = found.watch(broken, interval=MINUTE)
        (failed,) = when(lambda: found.runs(source))
        due = found.overview(source).state.schedule.due_at()
        assert due is not None
        assert 290 < (due - failed.started_at).total_seconds() < 310

        (run,) = when(by_hand.scheduled_polls)
        assert run.expected_start_time == due + timedelta(seconds=1)  # never early, see scheduling
        assert run.parameters == {"source_id": source.id, "force": False}
        assert run.idempotency_key == f"poll:{source.id}:{due.isoformat()}"
        assert run.name == f"poll-{source.name}"

        ended = by_hand.ended(run.id, within_s=400)
        second, first = found.runs(source)
        assert (first, ended.state_name) == (failed, "SourceFailed")
        assert timedelta(0) <= second.started_at - due < timedelta(seconds=30)
        assert re.match(r"failed: .*, next ", str(ended.state and ended.state.message))
        assert running.stop() < 15
