"""What every test gets: a home of its own, no network, and on request databases and a Prefect."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import configuration, settings

from tests.isolation import OUTSIDE, isolate_process, refused_network
from tests.postgres import NoServer, PostgresServer, named_server, own_server
from tests.prefect_server import running_server

_ROOT = Path(__file__).parent.parent
_HOME = Path(tempfile.mkdtemp(prefix="sourcemon-tests-"))
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
isolate_process(_HOME)

configuration.set_hypothesis_home_dir(_ROOT / ".hypothesis")
settings.register_profile("short", deadline=None, derandomize=True)
settings.register_profile("long", deadline=None, max_examples=10_000)
settings.load_profile("short")


def pytest_configure() -> None:
    """Let SIGTERM end a session as Ctrl-C does: with all fixtures torn down."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    """Loopback and unix sockets only; subprocesses are not covered."""
    yield from refused_network()


@pytest.fixture(autouse=True)
def _nobodys_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting from the environment, none from a file in the current folder."""
    for name in tuple(os.environ):
        if name.startswith("SOURCEMON_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(_HOME)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop of tests marked ``anyio``: the one that Prefect runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[str]:
    """A Prefect server that records task runs and events, and knows limits; its API's URL.

    No schedules, late runs or automations: a test that needs them starts a server of its own with
    :func:`tests.prefect_server.running_server`.
    """
    from prefect.settings import (  # noqa: PLC0415 - reads the environment when it is imported
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        temporary_settings,
    )

    api_url = os.environ["PREFECT_API_URL"]
    without_heartbeats = temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None})
    with running_server(api_url), without_heartbeats:
        yield api_url


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The session's PostgreSQL server; without one every test that asks for it fails."""
    wanted = OUTSIDE.get("SOURCEMON_TEST_POSTGRES_URL")
    if OUTSIDE.get("SOURCEMON_TEST_POSTGRES") == "off":
        if OUTSIDE.get("CI"):
            pytest.fail("SOURCEMON_TEST_POSTGRES=off is refused in CI", pytrace=False)
        pytest.skip("SOURCEMON_TEST_POSTGRES=off")
    try:
        server = named_server(wanted) if wanted else own_server()
    except NoServer as reason:
        pytest.fail(f"no PostgreSQL: {reason}", pytrace=False)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def sqlite_template() -> Path:
    """A migrated SQLite file, to be copied."""
    template = _HOME / "template.sqlite"
    migrated_template(f"sqlite:///{template}")
    return template


@pytest.fixture(scope="session")
def postgres_template(postgres_server: PostgresServer) -> Iterator[str]:
    """The name of a migrated PostgreSQL database, to be copied."""
    name = f"sourcemon_template_{uuid.uuid4().hex}"
    postgres_server.create(name)
    migrated_template(postgres_server.url(name))
    yield name
    postgres_server.drop(name)


def migrated_template(url: str) -> None:
    """Bring an empty database to the newest schema, and let go of it."""
    from sourcemon.store import migrations  # noqa: PLC0415 - only tests of databases need it

    migrations.upgrade(url)


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """The URL of a migrated, empty SQLite file of the test's own."""
    file = shutil.copyfile(sqlite_template, tmp_path / "sourcemon.sqlite")
    return f"sqlite:///{file}"


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, postgres_template: str) -> Iterator[str]:
    """The URL of a migrated, empty PostgreSQL database of the test's own."""
    name = f"sourcemon_test_{uuid.uuid4().hex}"
    postgres_server.create(name, template=postgres_template)
    yield postgres_server.url(name)
    postgres_server.drop(name)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a migrated, empty database: the test runs once on each kind."""
    return str(request.getfixturevalue(f"{request.param}_url"))
