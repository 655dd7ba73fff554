"""Keeps a server for a session: it ends with the session, however that ends.

Run as a program it runs a server until standard input ends, then stops it and removes its folder.
Standard input ends when the session that holds its other end closes it or dies.
"""

from __future__ import annotations

import json
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STOP_TIMEOUT_S = 20


class Kept:
    """A running server and its folder."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        folder: Path,
        env: Mapping[str, str],
        owner: Mapping[str, Any] | None = None,
    ) -> None:
        """``owner`` is how :class:`subprocess.Popen` is told of another user to run it as.

        The keeper has a session of its own, so that Ctrl-C reaches it only by way of ours.
        """
        self.folder = folder
        self._keeper = subprocess.Popen(
            (sys.executable, __file__, folder, json.dumps(dict(owner or {})), *command),
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    @property
    def is_running(self) -> bool:
        """Whether the server has not ended by itself."""
        return self._keeper.poll() is None

    def stop(self) -> str:
        """Stop the server and remove its folder; the last words of one that ended by itself."""
        said, _ = self._keeper.communicate(timeout=STOP_TIMEOUT_S + 10)
        shutil.rmtree(self.folder, ignore_errors=True)  # in case there was nobody to do it
        return said.decode(errors="replace")


def _main(folder: str, owner: str, *command: str) -> int:
    log = Path(folder) / "server.log"
    try:
        with log.open("wb") as output:
            server = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                **json.loads(owner),
            )
            was_stopped = _await_end(server)
        if not was_stopped:
            sys.stdout.write(log.read_text(errors="replace").strip().rpartition("\n")[2])
        return server.returncode
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _await_end(server: subprocess.Popen[bytes]) -> bool:
    """Wait until standard input or the server ends; whether it was standard input."""
    while server.poll() is None:
        if select.select([sys.stdin], [], [], 0.1)[0]:
            _stop(server)
            return True
    return False


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)  # to PostgreSQL this is "fast": clients are cut off
    try:
        server.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
