"""Two dispatcher processes at once: every due source is polled by exactly one of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sourcemon.operations import listing
from tests.flows.conftest import MakeWorld, plain_feed

pytestmark = pytest.mark.usefixtures("prefect_server")

ROOT = Path(__file__).parents[2]
SOURCES = 40


def dispatcher(database_url: str, port: int | None, limit: int) -> subprocess.Popen[str]:
    """A dispatcher that waits for its word."""
    return subprocess.Popen(
        (
            *(sys.executable, "-m", "tests.flows.dispatcher_process"),
            *(database_url, str(port), str(limit)),
        ),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_dispatchers_poll_disjoint_sets(make_world: MakeWorld, database_url: str) -> None:
    paths = [f"/site{number:02}/feed.xml" for number in range(SOURCES)]
    with make_world([plain_feed(path) for path in paths], database_url=database_url) as world:
        for path in paths:
            world.watch(path)
        port = urlsplit(world.site.url("/")).port
        both = [dispatcher(database_url, port, SOURCES // 2) for _ in range(2)]
        try:
            for process in both:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
            for process in both:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
            said = [process.communicate(timeout=60)[0] for process in both]
        finally:
            for process in both:
                process.kill()

        assert said == [f"{SOURCES // 2} NewItems\n"] * 2
        assert [world.site.log.hits(path) for path in paths] == [1] * SOURCES
        assert len(listing.runs_of(world.deps, limit=1000)) == SOURCES
