"""A Prefect server in a process of its own, with what a test wants to see of it."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.keeper import Kept

START_TIMEOUT_S = 180

RECORDING = {
    "PREFECT_SERVER_DATABASE_CONNECTION_URL": (
        "sqlite+aiosqlite:///file::memory:?cache=shared&uri=true&check_same_thread=false"
    ),
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_ENABLED": "true",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "true",
}
"""Task runs and events kept, in memory: on a file of SQLite a server stalls under writes."""


@contextlib.contextmanager
def running_server(api_url: str, environment: Mapping[str, str] = RECORDING) -> Iterator[None]:
    """A server that answers at ``api_url`` while the block runs."""
    _, _, port = api_url.removesuffix("/api").rpartition(":")
    folder = Path(tempfile.mkdtemp(prefix="sourcemon-prefect-"))
    server = Kept(
        [sys.executable, "-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", port],
        folder=folder,
        env={**os.environ, "PREFECT_HOME": str(folder), **environment},
    )
    try:
        _await_health(server, api_url)
        yield
    finally:
        server.stop()


def _await_health(server: Kept, api_url: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while server.is_running and time.monotonic() < deadline:
        with (
            contextlib.suppress(urllib.error.URLError),
            urllib.request.urlopen(f"{api_url}/health", timeout=5),
        ):
            return
        time.sleep(0.1)
    raise RuntimeError(f"no Prefect server at {api_url}: {server.stop() or 'it does not answer'}")
