"""The tests' own PostgreSQL: found, or said to be missing; and gone when the session is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests import postgres
from tests.architecture.project import ROOT
from tests.postgres import NoServer, PostgresServer

WAYS: dict[str, Callable[[], list[Path]]] = {
    "installed on the machine": postgres.installed_programs,
    "from the wheel": postgres.wheel_programs,
}
PATIENCE_S = 60

WAITING = """
import threading
from pathlib import Path

def test_waits(postgres_server):
    started = Path({started!r})
    started.with_suffix(".new").write_text(postgres_server.admin_url.query["host"])
    started.with_suffix(".new").rename(started)
    threading.Event().wait()
"""


@pytest.mark.parametrize("programs", WAYS.values(), ids=WAYS)
def test_a_server_starts_works_and_leaves_nothing(programs: Callable[[], list[Path]]) -> None:
    folders = programs()
    if not folders:
        pytest.skip("this machine has no such server")
    server = postgres.own_server(folders[:1])
    folder = Path(str(server.admin_url.query["host"]))
    pid = _pid(folder)
    server.create("one")
    _run(server, "one", "CREATE TABLE kept (id int)")

    server.create("two", template="one")
    _run(server, "two", "INSERT INTO kept VALUES (1)")
    server.drop("one")
    server.stop()

    assert not folder.exists()
    assert not _is_alive(pid)


def test_a_folder_without_a_server_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(NoServer, match=str(tmp_path)):
        postgres.own_server([tmp_path])


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_session_that_is_ended_leaves_no_server(blow: signal.Signals, tmp_path: Path) -> None:
    started = tmp_path / "started"
    waiting = tmp_path / "test_waiting.py"
    waiting.write_text(WAITING.format(started=str(started)))
    session = _session(waiting)
    assert _comes_true(lambda: started.exists() or session.poll() is not None)
    folder = Path(started.read_text())
    pid = _pid(folder)
    assert _is_alive(pid)

    session.send_signal(blow)
    session.communicate(timeout=PATIENCE_S)

    assert _comes_true(lambda: not folder.exists())
    assert not _is_alive(pid)


CHOICES = {
    "opted out": ({"SOURCEMON_TEST_POSTGRES": "off"}, "1 skipped"),
    "opted out in CI": ({"SOURCEMON_TEST_POSTGRES": "off", "CI": "1"}, "refused in CI"),
    "named but absent": (
        {"SOURCEMON_TEST_POSTGRES_URL": "postgresql://127.0.0.1:9/x"},
        "no PostgreSQL: SOURCEMON_TEST_POSTGRES_URL: connection",
    ),
}


@pytest.mark.parametrize("environment, summary", CHOICES.values(), ids=CHOICES)
def test_a_missing_server_is_never_silent(
    environment: dict[str, str], summary: str, tmp_path: Path
) -> None:
    asking = tmp_path / "test_asks.py"
    asking.write_text("def test_asks(postgres_server): pass")

    said, _ = _session(asking, **environment).communicate(timeout=PATIENCE_S)

    assert summary in said


def test_a_named_server_is_used_and_left_running(postgres_server: PostgresServer) -> None:
    named = postgres.named_server(postgres_server.url("postgres").replace("+psycopg", ""))

    named.create("through_its_url")
    named.stop()
    postgres_server.drop("through_its_url")


def _session(test: Path, **environment: str) -> subprocess.Popen[str]:
    """A session of its own that runs one file as if it lay beside ours."""
    clean = {name: value for name, value in os.environ.items() if name != "CI"}
    ours = {"PYTHONPATH": str(ROOT), "TMPDIR": str(test.parent)}
    return subprocess.Popen(
        (
            *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.conftest"),
            *("-c", ROOT / "pyproject.toml", test),
        ),
        cwd=ROOT,
        env=clean | ours | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _run(server: PostgresServer, dbname: str, statement: str) -> None:
    url = server.url(dbname).replace("+psycopg", "")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode())


def _pid(folder: Path) -> int:
    """The process of the server in a folder."""
    return int((folder / "data" / "postmaster.pid").read_text().split()[0])


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _comes_true(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
