"""What cannot work is told in one line before anything is started."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from deployments import provision, serve
from deployments.prefect_api import DEFAULT_URL, Answer, Place, answer_at, wanted_place
from sourcemon import wiring
from sourcemon.operations import register
from sourcemon.replay import ReplaySite
from sourcemon.settings import Settings

CONTACT = "mailto:tests@example.org"


@pytest.fixture(autouse=True)
def _nothing_may_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*arguments: object, **_: object) -> None:
        pytest.fail(f"it was started: {arguments}")

    monkeypatch.setattr(subprocess, "Popen", started)


@pytest.fixture(autouse=True)
def database(monkeypatch: pytest.MonkeyPatch, sqlite_url: str) -> str:
    """A database that is all right."""
    monkeypatch.setenv("SOURCEMON_DATABASE_URL", sqlite_url)
    return sqlite_url


@pytest.fixture
def nobody() -> str:
    """An address of this machine at which nobody is."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def foreign() -> Iterator[ReplaySite]:
    """A web server that is no Prefect."""
    with ReplaySite((), now=lambda: datetime(2026, 1, 1, tzinfo=UTC)) as site:
        yield site


@contextmanager
def api_at(url: str) -> Iterator[None]:
    with temporary_settings({PREFECT_API_URL: url}):
        yield


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that `make up` says, which exits with 2."""
    assert serve.main() == 2
    said = capsys.readouterr()
    assert said.out.count("\n") == said.err.count("\n") == 1
    return said.err


def watch(url: str, *, database: str, enabled: bool = True) -> None:
    deps = wiring.build(Settings(database_url=database, contact=CONTACT))
    source = register.add(deps, url)
    if not enabled:
        register.disable(deps, source.id)
    deps.close()


def test_a_bad_setting(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("SOURCEMON_POLLING__THREADS", "0")

    assert "SOURCEMON_POLLING__THREADS: Input should be greater than" in refusal(capsys)


def test_a_database_that_cannot_be_reached(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], nobody: str
) -> None:
    monkeypatch.setenv("SOURCEMON_DATABASE_URL", f"postgresql://{nobody}/none")

    assert refusal(capsys).startswith(f"error: database postgresql+psycopg://{nobody}/none: ")


def test_no_contact_while_a_public_server_is_to_be_asked(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    watch("https://example.org/feed.xml", database=database)

    assert refusal(capsys).startswith("error: no contact is set")


@pytest.mark.parametrize(
    "url, enabled",
    [("https://example.org/feed.xml", False), ("http://127.0.0.1:8000/feed.xml", True)],
)
def test_no_contact_is_needed_while_no_public_server_is_asked(
    url: str, enabled: bool, database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    watch(url, database=database, enabled=enabled)

    with api_at("https://127.0.0.1:1/api"):
        assert refusal(capsys).startswith("error: no Prefect server answers at")


NOT_OURS = {
    "an address that is not this machine's": "http://0.0.0.0:{port}/api",
    "an encrypted one": "https://127.0.0.1:{port}/api",
    "a path that our server would not have": "http://127.0.0.1:{port}/prefect/api",
}


@pytest.mark.parametrize("url", NOT_OURS.values(), ids=NOT_OURS)
def test_nobody_answers_where_no_server_of_ours_could(
    url: str, nobody: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = url.format(port=nobody.rpartition(":")[2])

    with api_at(place):
        assert refusal(capsys).startswith(f"error: no Prefect server answers at {place}: start it")


def test_the_port_is_taken_by_something_else(
    foreign: ReplaySite, capsys: pytest.CaptureFixture[str]
) -> None:
    place = foreign.url("/api")

    with api_at(place):
        assert refusal(capsys).startswith(f"error: what answers at {place} is no Prefect server")


def test_a_folder_that_cannot_be_written_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str], nobody: str
) -> None:
    (tmp_path / "sourcemon").write_text("in the way")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))

    with api_at(f"http://{nobody}/api"):
        assert refusal(capsys) == (
            f"error: {tmp_path}/sourcemon/logs cannot be written to: Not a directory\n"
        )


def test_an_address_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with api_at("127.0.0.1:4200"):
        assert "is no address; the usual one is http://127.0.0.1:4200/api" in refusal(capsys)


def test_a_server_that_says_nothing_is_no_prefect() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        place = Place(f"http://127.0.0.1:{mute.getsockname()[1]}/api")

        assert answer_at(place, within_s=0.2) is Answer.SOMEBODY_ELSE


def test_the_usual_address_is_taken_where_none_is_set() -> None:
    with temporary_settings(restore_defaults={PREFECT_API_URL}):
        assert wanted_place() == Place(DEFAULT_URL)


def test_localhost_is_served_at_a_numeric_address() -> None:
    place = Place("http://localhost:4300/api")

    assert (place.host, place.port, place.can_be_ours) == ("127.0.0.1", 4300, True)


def test_provisioning_needs_a_server(nobody: str, capsys: pytest.CaptureFixture[str]) -> None:
    with api_at(f"http://{nobody}/api"):
        assert provision.main([]) == 2

    assert f"no Prefect server answers at http://{nobody}/api" in capsys.readouterr().err
