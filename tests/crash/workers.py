"""Workers in processes of their own, to be killed. Each reports the crash points that it passes.

They are forked from a server that has everything imported, because a worker that starts from
nothing takes seconds. That server is single-threaded and has opened neither database nor site.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Barrier
from types import SimpleNamespace
from typing import Any

from sqlalchemy import event

from sourcemon import wiring
from sourcemon.clock import FakeClock, SystemClock
from sourcemon.operations.deps import CrashPoint, Deps
from sourcemon.settings import HttpSettings, PollingSettings, Settings
from tasks import operation_threads

WITHIN_S = 30.0
"""Longer than anything here takes; only a broken program waits so long."""

_PATIENT: Mapping[str, Any] = {"read_timeout_s": 120, "total_timeout_s": 120}
"""An answer that is held on a busy machine is not late; the site would count who left, too."""

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["flows.poll_due", "flows.poll_source", "flows.upkeep"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a worker works: a database, a site, an instant. Goes from process to process."""

    database_url: str
    hosts: Mapping[str, str]
    """Every host, and the address of the site."""
    now: datetime | None
    """Where the worker's clock stands; ``None`` for the machine's clock."""
    polling: Mapping[str, Any] = field(default_factory=dict)

    def settings(self) -> Settings:
        """The settings that lead there."""
        return Settings(
            database_url=self.database_url,
            contact="mailto:tests@example.org",
            http=HttpSettings(resolver=dict(self.hosts), **_PATIENT),
            polling=PollingSettings(**self.polling),
        )

    def deps(self) -> Deps:
        """Dependencies of a process's own."""
        clock = SystemClock() if self.now is None else FakeClock(self.now)
        return wiring.build(self.settings(), clock=clock)


class Hold:
    """Stops a worker at one crash point, or before one kind of statement."""

    def __init__(self, line: Connection, at: CrashPoint | str) -> None:
        self._line = line
        self._at = at
        self._lock = threading.Lock()

    def wrapped(self, deps: Deps) -> Deps:
        """The dependencies of a worker that is held."""
        if not isinstance(self._at, CrashPoint):
            event.listen(deps.database._engine, "before_cursor_execute", self._before)
        self._tell_of_stops()
        return replace(deps, reached=self.reached)

    def reached(self, point: CrashPoint) -> None:
        """Report the point; at the one where the worker is to stop, wait to be told to go on."""
        self._report(point)
        if point is self._at:
            self._stop()

    def _before(self, *args: Any) -> None:
        if args[2].startswith(self._at):
            self._report(self._at)
            self._stop()

    def _tell_of_stops(self) -> None:
        """Report when a call is told to stop, as the worker's last sign before it waits for it."""
        report = self._report

        class Told(threading.Event):
            def set(self) -> None:
                super().set()
                report("abort")

        vars(operation_threads)["threading"] = SimpleNamespace(Event=Told)

    def _report(self, what: str) -> None:
        with self._lock:
            self._line.send(str(what))

    def _stop(self) -> None:
        """Wait for the word to go on; when the test dies the line ends and so do we."""
        try:
            self._line.recv()
        except EOFError:
            os._exit(1)


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker as the test sees it."""

    process: BaseProcess
    line: Connection

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self.process.pid is not None
        return self.process.pid

    def hear(self) -> str:
        """The next thing that it says."""
        assert self.line.poll(WITHIN_S), f"nothing was heard from {self.process.name}"
        said: str = self.line.recv()
        return said

    def hear_until(self, wanted: str) -> list[str]:
        """Everything that it says up to ``wanted``, that included."""
        said = [self.hear()]
        while said[-1] != wanted:
            said.append(self.hear())
        return said

    def hear_all(self) -> list[str]:
        """Everything that it says until it ends."""
        said: list[str] = []
        with contextlib.suppress(EOFError):
            while True:
                said.append(self.hear())
        self.join()
        return said

    def go_on(self) -> None:
        """Let it go on from where it stopped."""
        self.line.send("go on")

    def kill(self) -> None:
        """Kill it at once, with everything it was about to do, and wait until it is gone."""
        self.process.kill()
        self.join()

    def join(self) -> None:
        """Wait until it is gone."""
        self.process.join(WITHIN_S)
        assert self.process.exitcode is not None, f"{self.process.name} does not end"

    def let_no_file_grow(self) -> None:
        """Let every write beyond the first byte of a file fail, as on a disk that is full."""
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    def let_files_grow(self) -> None:
        """Give the disk back its room."""
        unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        resource.prlimit(self.pid, resource.RLIMIT_FSIZE, unlimited)


def barrier(parties: int) -> Barrier:
    """A place where so many workers meet; given to them as an argument of their job."""
    return _FORKS.Barrier(parties)


Job = Callable[..., object]
"""What a worker does: called with its dependencies and the job's own arguments."""


@contextlib.contextmanager
def at_work(
    job: Job,
    place: Place,
    *args: object,
    stops_at: CrashPoint | str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Worker]:
    """A worker that does ``job(deps, *args)`` and says what came of it; dead when the block ends.

    ``stops_at`` is a crash point or the beginning of a statement; only with it points are reported.
    """
    ours, theirs = _FORKS.Pipe()
    process = _FORKS.Process(
        target=_work,
        args=(theirs, job, place, args, stops_at, dict(environment or {})),
        daemon=True,
    )
    process.start()
    theirs.close()
    worker = Worker(process, ours)
    try:
        yield worker
    finally:
        process.kill()
        process.join(WITHIN_S)
        process.close()
        ours.close()


def _work(
    line: Connection,
    job: Job,
    place: Place,
    args: tuple[object, ...],
    stops_at: CrashPoint | str | None,
    environment: Mapping[str, str],
) -> None:
    """The life of a worker."""
    os.environ.update(environment)
    deps = place.deps()
    if stops_at is not None:
        deps = Hold(line, stops_at).wrapped(deps)
    line.send("ready")
    try:
        result = job(deps, *args)
    except Exception as fault:  # noqa: BLE001 - the test judges it
        line.send(f"{type(fault).__name__}: {fault}")
    else:
        line.send(str(result))
