"""The stack is watched: what it says, when it restarts a hung server, when it gives up."""

from __future__ import annotations

from pathlib import Path

import pytest

from deployments import stack as module
from deployments.prefect_api import Answer, Place
from deployments.preflight import Checked
from deployments.processes import Program
from deployments.runner import READY
from deployments.stack import HUNG_AFTER, Stack, watched
from deployments.stop_requests import StopRequests
from sourcemon.operations.deps import Deps
from tests.deployments.up import free_place


class FakeKept:
    """A program that is not started, and what is done with it."""

    made: list[FakeKept]

    def __init__(self, program: Program) -> None:
        self.program = program
        self.done: list[str] = []
        self.news: list[str] = []
        self.has_failed = False
        self.made.append(self)

    def look(self) -> str | None:
        return self.news.pop(0) if self.news else None

    def kill(self) -> None:
        self.done.append("killed")

    def ask_to_end(self) -> None:
        self.done.append("asked to end")

    def ended(self, *, within_s: float) -> None:
        self.done.append("given time" if within_s > 0 else "killed")


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> list[FakeKept]:
    """The programs that were kept, in the order in which they were started."""
    monkeypatch.setattr(FakeKept, "made", [], raising=False)
    monkeypatch.setattr(module, "Kept", FakeKept)
    return FakeKept.made


@pytest.fixture
def checked(deps: Deps, tmp_path: Path) -> Checked:
    return Checked(deps=deps, place=free_place(), server_is_ours=True, logs=tmp_path)


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What was said, without the time."""
    return [line[9:] for line in capsys.readouterr().out.splitlines()]


def test_the_server_comes_first_and_the_end_takes_the_runs_first(
    checked: Checked, kept: list[FakeKept]
) -> None:
    stack = Stack(checked)
    server, runner = kept
    stack.end()
    stack.kill()

    assert server.program.module == "deployments.own_server"
    assert server.program.arguments == ("127.0.0.1", str(checked.place.port))
    assert runner.program.module == "deployments.runner"
    assert runner.done == ["asked to end", "given time", "killed"]
    assert server.done == ["asked to end", "given time", "killed"]


def test_a_server_that_was_found_is_not_ours_to_start_or_end(
    deps: Deps, tmp_path: Path, kept: list[FakeKept], capsys: pytest.CaptureFixture[str]
) -> None:
    found = Checked(deps=deps, place=free_place(), server_is_ours=False, logs=tmp_path)
    stack = Stack(found)
    stack.look()
    stack.kill()

    (runner,) = kept
    runner.program.hears_output(READY)
    assert (
        said(capsys)[-1]
        == f"Ready. Prefect server (found running) and its UI: {found.place.ui_url}"
    )


@pytest.mark.parametrize("answer", [Answer.NOBODY, Answer.SOMEBODY_ELSE])
def test_a_server_of_ours_that_does_not_answer_any_more_is_killed(
    answer: Answer, checked: Checked, kept: list[FakeKept], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [Answer.PREFECT, *[answer] * (HUNG_AFTER - 1), Answer.PREFECT, *[answer] * HUNG_AFTER]

    def answered(_place: Place) -> Answer:
        return answers.pop(0)

    monkeypatch.setattr(module, "answer_at", answered)
    monkeypatch.setattr(module, "ASKS_EVERY_S", 0.0)
    stack = Stack(checked)
    while answers:
        assert kept[0].done == []
        stack.look()
    stack.kill()

    assert kept[0].done[0] == "killed"


def test_what_died_is_told(
    checked: Checked, kept: list[FakeKept], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    stack = Stack(checked)
    kept[0].news = ["ended unexpectedly (exit code -9)", "started again"]
    stack.look()
    stack.look()
    stack.kill()

    log = tmp_path / "prefect-server.log"
    assert said(capsys)[-2:] == [
        f"The Prefect server ended unexpectedly (exit code -9); see {log}",
        f"The Prefect server started again; see {log}",
    ]


def test_a_process_that_dies_too_often_is_given_up_with_its_last_words(
    checked: Checked,
    kept: list[FakeKept],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    look = FakeKept.look

    def fails(self: FakeKept) -> str | None:
        self.program.hears_errors("it is all over")
        self.has_failed = True
        return look(self)

    monkeypatch.setattr(FakeKept, "look", fails)

    with StopRequests() as stop:
        assert watched(checked, stop) == 1

    lines = capsys.readouterr().out
    assert "The runner died too often and is given up. Its last lines:\n    it is all over" in lines
    assert lines.endswith("Stopped\n")


def test_a_report_says_how_the_fleet_gets_on(
    checked: Checked,
    kept: list[FakeKept],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "REPORTS_EVERY_S", 0.0)
    stack = Stack(checked)
    for status in (200, 503):
        kept[0].program.hears_output(f'INFO: 127.0.0.1:1 - "POST /api/x HTTP/1.1" {status}')
    kept[1].program.hears_errors("12:00:00 | ERROR   | Flow run 'poll-due' - it broke")

    stack.look()
    stack.kill()

    assert said(capsys)[-1] == (
        "ticks: the Prefect server does not answer; polls: 0;"
        " server busy (503): 1 of 2 requests; errors in the logs: 1"
    )
