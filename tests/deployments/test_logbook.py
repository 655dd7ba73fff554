"""What processes say is kept, bounded and counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from deployments.logbook import Logbook

ACCESS = '12:00:00.000 | INFO    | uvicorn.access - 127.0.0.1:5503 - "{} HTTP/1.1" {}'

LINES = {
    "a request that was answered is counted and not kept": (
        ACCESS.format("GET /api/health", 200),
        (1, 0, 0),
        False,
    ),
    "a request that found the database busy is counted and kept": (
        ACCESS.format("POST /api/task_runs/", 503),
        (1, 1, 0),
        True,
    ),
    "a port is no status": (ACCESS.format("GET /api/503", 200), (1, 0, 0), False),
    "the server's own form of a request is known": (
        'INFO:     127.0.0.1:40000 - "POST /api/flow_runs/ HTTP/1.1" 503 Service Unavailable',
        (1, 1, 0),
        True,
    ),
    "an error is counted and kept": (
        "12:00:00.000 | ERROR   | Flow run 'poll-due' - Finished in state Failed('…')",
        (0, 0, 1),
        True,
    ),
    "anything else is kept": (
        "12:00:00.000 | WARNING | prefect.server - a word about ERROR",
        (0, 0, 0),
        True,
    ),
}


@pytest.mark.parametrize("line, counts, is_kept", LINES.values(), ids=LINES)
def test_a_line_is_counted_and_kept(
    line: str, counts: tuple[int, int, int], is_kept: bool, tmp_path: Path
) -> None:
    log = Logbook(tmp_path / "some.log")

    log.hear(line)
    log.close()

    assert (log.requests, log.busy, log.errors) == counts
    assert log.file.read_text() == (f"{line}\n" if is_kept else "")
    assert log.last_lines == ((line,) if is_kept else ())
