"""Runs a server until standard input ends, then stops it and removes its folder.

Standard input ends when the session that holds its other end closes it or dies in any way.

Usage: postgres_keeper.py FOLDER UID GID COMMAND…, where UID and GID may be empty.
"""

from __future__ import annotations

import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

STOP_TIMEOUT_S = 20


def main(folder: str, uid: str, gid: str, *command: str) -> int:
    """Keep the server; should it end by itself, say its last words."""
    owner: dict[str, Any] = {}
    if uid:
        owner = {"user": int(uid), "group": int(gid), "extra_groups": ()}
    log = Path(folder) / "server.log"
    try:
        with log.open("wb") as output:
            server = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                **owner,
            )
            is_wanted = _await_end(server)
        if not is_wanted:
            sys.stdout.write(log.read_text(errors="replace").strip().rpartition("\n")[2])
        return server.returncode
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _await_end(server: subprocess.Popen[bytes]) -> bool:
    """Wait for either end; whether it was standard input's. The server is gone afterwards."""
    while server.poll() is None:
        if select.select([sys.stdin], [], [], 0.1)[0]:
            _stop(server)
            return True
    return False


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)  # "fast" to PostgreSQL: clients are cut off
    try:
        server.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        server.send_signal(signal.SIGQUIT)
        server.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
