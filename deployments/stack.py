"""The embedded stack: its processes started, watched, reported on, and ended together."""

from __future__ import annotations

import time

from deployments import environments
from deployments.logbook import Logbook
from deployments.prefect_api import Answer, Place, answer_at
from deployments.preflight import Checked
from deployments.processes import Kept, Program
from deployments.progress import Progress
from deployments.runner import READY
from deployments.stop_requests import StopRequests
from sourcemon.clock import SystemClock

LOOKS_EVERY_S = 0.2
REPORTS_EVERY_S = 600.0
ASKS_EVERY_S = 30.0
HUNG_AFTER = 4
"""A server of ours that did not answer so often in a row is killed and started again."""
RUNNER_ENDS_WITHIN_S = 10.0
SERVER_ENDS_WITHIN_S = 4.0

_CLOCK = SystemClock()


def watched(checked: Checked, stop: StopRequests) -> int:
    """Keep the stack up until somebody asks for its end; 0, or 1 when it had to be given up."""
    stack = Stack(checked)
    try:
        while not (stop.asked or stack.has_failed):
            time.sleep(LOOKS_EVERY_S)
            stack.look()
        stack.end()
    except KeyboardInterrupt:
        pass
    finally:
        stack.kill()
        checked.deps.close()
    say("Stopped")
    return 0 if stop.asked else 1


def say(line: str) -> None:
    """A line for the person at the terminal, with the time."""
    print(f"{_CLOCK.now().astimezone():%H:%M:%S} {line}", flush=True)


class Stack:
    """The processes of one `make up`, and what is known of how they get on."""

    def __init__(self, checked: Checked) -> None:
        """Start them."""
        say(f"Database {checked.deps.database.shown}; logs in {checked.logs}")
        self._place = checked.place
        self._server_log = Logbook(checked.logs / "prefect-server.log")
        self._runner_log = Logbook(checked.logs / "runner.log")
        self._progress = Progress(checked.deps, checked.place)
        self._server = _server(self._place, self._server_log) if checked.server_is_ours else None
        self._runner = Kept(
            Program(
                module="deployments.runner",
                environment=environments.of_runner(
                    checked.place, server_is_ours=checked.server_is_ours
                ),
                hears_output=self._hear_runner,
                hears_errors=self._runner_log.hear,
            )
        )
        self._report_at = time.monotonic() + REPORTS_EVERY_S
        self._ask_at = time.monotonic() + ASKS_EVERY_S
        self._unanswered = 0

    @property
    def has_failed(self) -> bool:
        """Whether one of the processes died too often to go on."""
        return self._runner.has_failed or (self._server is not None and self._server.has_failed)

    def look(self) -> None:
        """Start again what died, and report when it is time."""
        if self._server is not None:
            _tell("The Prefect server", self._server, self._server_log)
            self._ask_after_health(self._server)
        _tell("The runner", self._runner, self._runner_log)
        if time.monotonic() >= self._report_at:
            self._report_at += REPORTS_EVERY_S
            self._report()

    def end(self) -> None:
        """Ask everything to end, the runs first and the server last, and wait for it."""
        say("Stopping; Ctrl-C once more kills …")
        ends = time.monotonic() + RUNNER_ENDS_WITHIN_S
        self._runner.ask_to_end()
        self._report()
        self._runner.ended(within_s=max(0.0, ends - time.monotonic()))
        if self._server is not None:
            self._server.ask_to_end()
            self._server.ended(within_s=SERVER_ENDS_WITHIN_S)

    def kill(self) -> None:
        """Have nothing left; without effect on what has ended."""
        for kept in (self._runner, self._server):
            if kept is not None:
                kept.ended(within_s=0)
        self._server_log.close()
        self._runner_log.close()

    def _hear_runner(self, line: str) -> None:
        """Pass on what the runner tells the person, and add where to look once it is ready."""
        if line != READY:
            say(line)
            return
        whose = "started by us" if self._server is not None else "found running"
        say(f"Ready. Prefect server ({whose}) and its UI: {self._place.ui_url}")

    def _ask_after_health(self, server: Kept) -> None:
        """Replace a server that lives and does not answer."""
        if time.monotonic() < self._ask_at:
            return
        self._ask_at = time.monotonic() + ASKS_EVERY_S
        answers = answer_at(self._place) is Answer.PREFECT
        self._unanswered = 0 if answers else self._unanswered + 1
        if self._unanswered >= HUNG_AFTER:
            say("The Prefect server does not answer any more: killed")
            self._unanswered = 0
            server.kill()

    def _report(self) -> None:
        parts = [self._progress.ticks(), self._progress.polls()]
        if self._server is not None:
            log = self._server_log
            parts.append(f"server busy (503): {log.busy} of {log.requests} requests")
        errors = self._server_log.errors + self._runner_log.errors
        parts += [f"errors in the logs: {errors}"] if errors else []
        say("; ".join(parts))


def _server(place: Place, log: Logbook) -> Kept:
    say(f"Starting a Prefect server at {place.url}; the first time takes about 10 s …")
    return Kept(
        Program(
            module="deployments.own_server",
            arguments=(place.host, str(place.port)),
            environment=environments.of_server(place),
            hears_output=log.hear,
            hears_errors=log.hear,
        )
    )


def _tell(name: str, kept: Kept, log: Logbook) -> None:
    """Look after a process, and say what came of it, with its last words if it is given up."""
    happened = kept.look()
    if happened is not None:
        say(f"{name} {happened}; see {log.file}")
    if kept.has_failed:
        say(f"{name} died too often and is given up. Its last lines:")
        for line in log.last_lines:
            print(f"    {line}")
