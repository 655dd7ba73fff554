"""Processes that are kept running, and what is left of them: nothing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from deployments.processes import MOST_RESTARTS, WITHIN_S, Child, Kept, Program

ROOT = Path(__file__).parents[2]


class Heard:
    """A program of :mod:`tests.deployments.programs`, and the lines that it says."""

    def __init__(self, name: str) -> None:
        self.output: list[str] = []
        self.errors: list[str] = []
        self.program = Program(
            module="tests.deployments.programs",
            arguments=(name,),
            environment=os.environ | {"PYTHONPATH": str(ROOT)},
            hears_output=self.output.append,
            hears_errors=self.errors.append,
        )


def eventually(holds: Callable[[], bool], *, within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that ended and that nobody waited for does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def living() -> Heard:
    return Heard("lives")


def test_each_stream_has_its_listener() -> None:
    heard = Heard("dies")
    child = Child(heard.program)

    assert child.ends_within(20.0)
    child.clear_away()

    assert child.exit_code == 3
    assert (heard.output, heard.errors) == (["to the person"], ["to the log"])


def test_what_a_child_started_is_cleared_away_with_it(living: Heard) -> None:
    child = Child(living.program)
    eventually(lambda: bool(living.output))

    child.ask_to_end()
    assert child.ends_within(20.0)
    started = int(living.output[0])
    assert is_alive(started)
    child.clear_away()

    eventually(lambda: not is_alive(started))


def test_a_child_ends_when_its_lifeline_does(living: Heard) -> None:
    child = Child(living.program)
    eventually(lambda: bool(living.output))

    assert child._process.stdin is not None
    child._process.stdin.close()

    assert child.ends_within(20.0)
    assert child.exit_code == -signal.SIGTERM
    child.clear_away()


def test_a_program_that_dies_is_started_again_until_it_died_too_often() -> None:
    clock = [1_000.0]
    heard = Heard("dies")
    kept = Kept(heard.program, clock=lambda: clock[0])
    told: list[str] = []

    def look() -> bool:
        told.extend([happened] if (happened := kept.look()) else [])
        return kept.has_failed

    while not kept.has_failed:
        eventually(lambda: look() or told[-1:] != ["started again"])
        clock[0] += 40.0
        look()

    assert told.count("ended unexpectedly (exit code 3)") == MOST_RESTARTS + 1
    assert told.count("started again") == MOST_RESTARTS
    clock[0] += WITHIN_S
    assert kept.look() is None


def test_a_program_that_dies_seldom_is_not_given_up() -> None:
    clock = [1_000.0]
    kept = Kept(Heard("dies").program, clock=lambda: clock[0])

    for _ in range(MOST_RESTARTS + 2):
        eventually(lambda: kept.look() is not None)
        clock[0] += WITHIN_S / MOST_RESTARTS
        assert kept.look() == "started again"

    assert not kept.has_failed
    kept.ended(within_s=20.0)


def test_a_killed_program_is_found_dead_at_the_next_look(living: Heard) -> None:
    kept = Kept(living.program)
    eventually(lambda: bool(living.output))

    kept.kill()

    assert kept.look() == "ended unexpectedly (exit code -9)"
    kept.ended(within_s=0.0)
