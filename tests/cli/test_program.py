"""The program as it is started: by its module, from a pipe, on a terminal, with its database."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from sourcemon import __version__
from sourcemon.cli.main import main

PROGRAM = (sys.executable, "-m", "sourcemon")
ROOT = Path(__file__).parent.parent.parent
SLOW = ("alembic", "feedparser", "httpx", "prefect", "psycopg", "pydantic_settings", "sqlalchemy")
COMMANDS = {
    *("add", "sources", "poll", "why", "items", "runs", "enable", "disable"),
    *("db upgrade", "db check"),
}


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """Nothing set but a home and a data folder of the test's own."""
    return {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }


Start = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def start(environment: Mapping[str, str], tmp_path: Path) -> Start:
    """Start the program in an empty folder and wait for its end."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()

    def started(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *arguments],
            cwd=folder,
            env={**environment, **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return started


def on_a_terminal(arguments: list[str], environment: Mapping[str, str]) -> str:
    """What the program writes to a terminal."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, *arguments], stdout=follower, stderr=follower, env=environment
    ):
        os.close(follower)
        written = b""
        while chunk := _read(leader):
            written += chunk
    os.close(leader)
    return written.decode()


def _read(leader: int) -> bytes:
    """What is written next; nothing once the other side is closed, which Linux calls an error."""
    try:
        return os.read(leader, 65_536)
    except OSError:
        return b""


def test_the_embedded_database_is_made_where_it_belongs_and_named(
    start: Start, tmp_path: Path
) -> None:
    ran = start("sources", "--json")

    file = tmp_path / "data" / "sourcemon" / "sourcemon.db"
    assert (ran.returncode, json.loads(ran.stdout)) == (0, [])
    assert ran.stderr == f"database: sqlite:///{file}\n"
    assert file.is_file()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_embedded_database_lies_beside_the_configuration(start: Start, tmp_path: Path) -> None:
    configuration = tmp_path / "etc" / "sourcemon.toml"
    configuration.parent.mkdir()
    configuration.write_text('contact = "mailto:ops@example.org"\n')

    ran = start("add", "https://site.test/feed", SOURCEMON_CONFIG=str(configuration))

    assert ran.returncode == 0
    assert ran.stderr == f"database: sqlite:///{tmp_path / 'etc' / 'sourcemon.db'}\n"


def test_the_version_is_told(start: Start) -> None:
    ran = start("--version")

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"sourcemon {__version__}\n", "")


def help_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """What the program tells about a command."""
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    listed = help_of(capsys) + help_of(capsys, "db")

    assert [command for command in COMMANDS if f"│ {command.split()[-1]} " not in listed] == []


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_an_example_and_speaks_json(
    capsys: pytest.CaptureFixture[str], command
) -> None:
    told = help_of(capsys, *command.split())

    assert f"Example: sourcemon {command}" in told
    assert "--json" in told


def test_without_a_command_the_commands_are_listed_and_nothing_was_done(start: Start) -> None:
    ran = start()

    assert ran.returncode == 2
    assert "Usage: sourcemon" in ran.stdout


def test_help_waits_for_nothing_that_is_slow(environment: Mapping[str, str]) -> None:
    script = (
        "import sys\n"
        "from sourcemon.cli.main import main\n"
        "try:\n    main(['--help'])\n"
        f"finally:\n    print(sorted(set(sys.modules) & {set(SLOW)}), file=sys.stderr)\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )

    assert ran.stderr == "[]\n"


def test_a_pipe_gets_plain_uncut_text(start: Start) -> None:
    name = "A name that is quite a bit longer than the names of sources usually are in practice"
    start("add", "http://127.0.0.1/feed", "--name", name)

    ran = start("sources")

    assert name in ran.stdout
    assert "\x1b" not in ran.stdout + ran.stderr


def test_a_terminal_gets_colours_and_fitted_lines(
    start: Start, environment: Mapping[str, str]
) -> None:
    start("add", "http://127.0.0.1/feed", "--name", "A name that is much too long " * 5)

    shown = on_a_terminal(["sources"], {**environment, "COLUMNS": "80"})

    assert "\x1b[32mdue now" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "…" in plain
    assert all(len(line) <= 80 for line in plain.splitlines() if not line.startswith("database: "))


def test_no_color_is_respected(start: Start, environment: Mapping[str, str]) -> None:
    start("add", "http://127.0.0.1/feed")

    shown = on_a_terminal(["sources"], {**environment, "NO_COLOR": "1"})

    assert "due now" in shown
    assert re.search(r"\x1b\[[0-9;]*3[0-9]", shown) is None


def test_an_encoding_without_a_character_is_no_failure(start: Start) -> None:
    start("add", "http://127.0.0.1/feed", "--name", "漢字")

    ran = start("sources", PYTHONIOENCODING="ascii")

    assert ran.returncode == 0
    assert "\\u6f22" in ran.stdout


def test_a_reader_that_leaves_early_is_no_traceback(environment: Mapping[str, str]) -> None:
    script = (
        "from sourcemon.cli import main, wired\n"
        "wired.deps = lambda screen: screen.document([{'a': 'b' * 99}] * 9999)\n"
        "main.main(['sources'])\n"
    )
    program = f'{sys.executable} -c "{script}" | true'

    ran = subprocess.run(
        ["sh", "-c", program], env=environment, capture_output=True, text=True, check=True
    )

    assert ran.stderr == ""


def test_a_bug_shows_a_plain_traceback_without_values(environment: Mapping[str, str]) -> None:
    script = (
        "from sourcemon.cli import main, wired\n"
        "def broken(screen, secret='hunter2'):\n    raise ZeroDivisionError\n"
        "wired.deps = broken\n"
        "main.main(['sources'])\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 1
    assert ran.stderr.endswith("ZeroDivisionError\n")
    assert "hunter2" not in ran.stderr
