"""A PostgreSQL server that can be stopped and started in the midst of things."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy.engine import make_url

from sourcemon.store import migrations
from tests import postgres
from tests.crash.databases import empty
from tests.keeper import Kept

WITHIN_S = 30

_DOWN = "down"
_AGAIN_AND_AGAIN = f"""
    while :; do
        "$@" &
        server=$!
        trap 'kill -INT $server; wait $server; exit 0' INT
        wait $server
        while [ -e {_DOWN} ]; do sleep 0.01; done
    done
"""
"""Runs the server anew whenever it has ended, but not while the file ``down`` is there."""


class Restartable(Kept):
    """A server that comes back when it ends, until it is kept down."""

    def __init__(self, command: Sequence[str | Path], *, folder: Path, **how: Any) -> None:
        supervised = ("/bin/sh", "-c", _AGAIN_AND_AGAIN, "sh", *command)
        super().__init__(supervised, folder=folder, **how)


class RestartableDatabase:
    """A migrated database on a server of its own."""

    def __init__(self, server: postgres.PostgresServer) -> None:
        self._server = server
        assert server.kept is not None
        self._folder = server.kept.folder
        server.create("sourcemon")
        self.url = server.url("sourcemon")
        migrations.upgrade(self.url)

    def empty(self) -> None:
        """Leave no row."""
        empty(self.url)

    def take_down(self) -> None:
        """Stop the server, cutting off everybody; return when it is gone."""
        (self._folder / _DOWN).touch()
        pid_file = self._folder / "data" / "postmaster.pid"
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGINT)
        self._wait_until(lambda: not pid_file.exists())

    def bring_up(self) -> None:
        """Let the server start; return when it answers."""
        (self._folder / _DOWN).unlink()
        self._wait_until(self._answers)

    def _answers(self) -> bool:
        conninfo = make_url(self.url).set(drivername="postgresql")
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(conninfo.render_as_string(hide_password=False)).close()
            return True
        return False

    @staticmethod
    def _wait_until(holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WITHIN_S
        while not holds():
            assert time.monotonic() < deadline
            time.sleep(0.01)


@contextlib.contextmanager
def restartable_database() -> Iterator[RestartableDatabase]:
    """A database whose server ends with the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres, "Kept", Restartable)
        server = postgres.own_server()
    try:
        yield RestartableDatabase(server)
    finally:
        server.stop()
