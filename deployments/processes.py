"""Processes that run beside this one, end with it, and are started again when they die."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO

Hear = Callable[[str], None]
"""What is done with a line of output, in a thread of its own."""

MOST_RESTARTS = 5
WITHIN_S = 600.0
"""A process that dies more often than five times in ten minutes is given up."""
LONGEST_PAUSE_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A module of ours as a process: its arguments, its environment, who hears what it says."""

    module: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str]
    hears_output: Hear
    hears_errors: Hear


class Child:
    """A running process, with whatever it starts, in a session of its own: no Ctrl-C reaches it.

    Its standard input is its lifeline; see :mod:`deployments.lifeline`.
    """

    def __init__(self, program: Program) -> None:
        self._process = subprocess.Popen(
            (sys.executable, "-m", program.module, *program.arguments),
            env=dict(program.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="backslashreplace",
            start_new_session=True,
        )
        self._listeners = [
            _listening(self._process.stdout, program.hears_output),
            _listening(self._process.stderr, program.hears_errors),
        ]

    @property
    def exit_code(self) -> int | None:
        """``None`` while it runs; negative where a signal ended it."""
        return self._process.poll()

    def ask_to_end(self) -> None:
        """Ask it, and nobody it started, to end."""
        self._process.terminate()

    def ends_within(self, seconds: float) -> bool:
        """Wait for it at most so long; whether it has ended."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def clear_away(self) -> None:
        """Kill it and all that it started and that is left of that, and hear its last lines."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()
        for listener in self._listeners:
            listener.join(1.0)


class Kept:
    """A program that is kept running until it dies too often."""

    def __init__(self, program: Program, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._program = program
        self._clock = clock
        self._deaths: deque[float] = deque()
        self._starts_at: float | None = None
        self._child: Child | None = Child(program)

    @property
    def has_failed(self) -> bool:
        """Whether it died more often than is worth another try."""
        return len(self._deaths) > MOST_RESTARTS

    def look(self) -> str | None:
        """Start it again where it died, after a pause that grows; what there is to tell."""
        if self._child is None:
            return self._started_again()
        if self._child.exit_code is None:
            return None
        return self._buried(self._child)

    def kill(self) -> None:
        """Kill it and all that it started; the next look finds it dead."""
        if self._child is not None:
            self._child.clear_away()

    def ask_to_end(self) -> None:
        """Ask it to end."""
        if self._child is not None:
            self._child.ask_to_end()

    def ended(self, *, within_s: float) -> None:
        """Have it and all that it started ended: by itself in time, else killed."""
        if self._child is not None:
            self._child.ends_within(within_s)
            self._child.clear_away()
            self._child = None

    def _buried(self, child: Child) -> str:
        code = child.exit_code
        child.clear_away()
        self._child = None
        now = self._clock()
        self._deaths.append(now)
        while now - self._deaths[0] >= WITHIN_S:
            self._deaths.popleft()
        self._starts_at = now + min(2.0 ** (len(self._deaths) - 1), LONGEST_PAUSE_S)
        return f"ended unexpectedly (exit code {code})"

    def _started_again(self) -> str | None:
        if self.has_failed or self._starts_at is None or self._clock() < self._starts_at:
            return None
        self._child = Child(self._program)
        return "started again"


def _listening(stream: IO[str] | None, hear: Hear) -> threading.Thread:
    """A thread that passes every line of ``stream`` on, until its end."""

    def listen() -> None:
        if stream is not None:
            with stream:
                for line in stream:
                    hear(line.rstrip("\n"))

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    return thread
