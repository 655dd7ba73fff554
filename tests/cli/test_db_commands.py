"""``db check`` and ``db upgrade`` work on a database that every other command refuses."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sourcemon.cli.main import main
from sourcemon.store import migrations
from tests.cli.conftest import Ran


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database file that somebody named and nobody made."""
    file = tmp_path / "named.db"
    monkeypatch.setenv("SOURCEMON_DATABASE_URL", f"sqlite:///{file}")
    return file


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command with the settings of the environment."""

    def run_command(*arguments: str) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        out, err = capsys.readouterr()
        return Ran(int(ended.value.code or 0), out, err)

    return run_command


def head(database: Path) -> str:
    """The revision that this program needs."""
    return migrations.state(f"sqlite:///{database}").head


def at_revision(database: Path, revision: str) -> None:
    """Make the database say that it is at that revision."""
    migrations.upgrade(f"sqlite:///{database}")
    connection = sqlite3.connect(database)
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", [revision])
    connection.close()


def test_an_empty_database_is_told_and_how_to_fill_it(run, database: Path) -> None:
    ran = run("db", "check")

    assert (ran.code, ran.out) == (
        2,
        "The schema holds nothing yet: run `sourcemon db upgrade`\n",
    )
    assert ran.err == f"database: sqlite:///{database}\n"


def test_upgrade_makes_it_current(run, database: Path) -> None:
    upgraded = run("db", "upgrade")
    again = run("db", "upgrade")
    checked = run("db", "check")

    needed = head(database)
    assert (upgraded.code, upgraded.out) == (0, f"Upgraded from nothing to {needed}\n")
    assert again.out == f"The schema was current already: revision {needed}\n"
    assert (checked.code, checked.out) == (
        0,
        f"The schema, revision {needed}, is what this program needs\n",
    )


def test_a_newer_database_is_left_alone(run, database: Path) -> None:
    at_revision(database, "9999")

    checked = run("db", "check")
    upgraded = run("db", "upgrade")

    assert checked.code == upgraded.code == 2
    assert checked.out.endswith(": upgrade the program\n")
    assert upgraded.errors[0].endswith("upgrade the program")


STATES = {"nothing": None, "an unknown revision": "9999", "the needed revision": ""}


@pytest.mark.parametrize("revision", STATES.values(), ids=STATES)
def test_the_document_of_check_names_state_revision_and_need(run, database, revision) -> None:
    if revision is not None:
        at_revision(database, revision or head(database))

    ran = run("db", "check", "--json")

    needed = head(database)
    state = {None: "empty", "9999": "newer", "": "current"}[revision]
    assert ran.code == (0 if revision == "" else 2)
    assert ran.document == {
        "state": state,
        "revision": needed if revision == "" else revision,
        "needed": needed,
    }


def test_the_document_of_upgrade_tells_from_where(run, database: Path) -> None:
    assert run("db", "upgrade", "--json").document == {
        "state": "current",
        "revision": head(database),
        "needed": head(database),
        "upgraded_from": None,
    }


UNUSABLE = {
    "no URL": ("banana", "SOURCEMON_DATABASE_URL is no database URL"),
    "another database": ("mysql://h/d", "use sqlite or postgresql"),
    "a folder": ("sqlite:////", "unable to open database file"),
    "nobody listens": ("postgresql://u:hidden@127.0.0.1:1/d", "Connection refused"),
}


@pytest.mark.parametrize("url, line", UNUSABLE.values(), ids=UNUSABLE)
@pytest.mark.parametrize("command", [["sources"], ["db", "check"], ["db", "upgrade"]])
def test_a_database_that_cannot_be_used_is_one_line_and_exit_2(
    run, monkeypatch: pytest.MonkeyPatch, url, line, command
) -> None:
    monkeypatch.setenv("SOURCEMON_DATABASE_URL", url)

    ran = run(*command)

    assert (ran.code, ran.out) == (2, "")
    (error,) = ran.errors
    assert error.startswith("error: ")
    assert line in error
    assert "hidden" not in ran.err


def test_a_named_database_without_a_schema_is_refused_with_the_fix(run, database: Path) -> None:
    ran = run("sources")

    assert ran.code == 2
    assert "run `sourcemon db upgrade`" in ran.errors[0]


def test_a_wrong_setting_is_one_line_that_names_it(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCEMON_POLLING__THREADS", "0")

    ran = run("db", "check")

    assert (ran.code, ran.out) == (2, "")
    (error,) = ran.errors
    assert "SOURCEMON_POLLING__THREADS" in error
