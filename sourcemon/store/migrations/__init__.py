"""The schema's history, and the way to its newest state. Alembic, configured from code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from sourcemon.errors import DatabaseBehind, DatabaseUnavailable
from sourcemon.store import dialect

_UPGRADE_LOCK = 7_310_042
"""The key of the PostgreSQL advisory lock under which one process at a time migrates."""


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Where a database's schema stands; ``current`` is ``None`` while it is empty."""

    current: str | None
    head: str
    known: bool
    """Whether this program knows the current revision; a newer program's it does not."""

    @property
    def is_current(self) -> bool:
        """Whether the program and the database agree."""
        return self.current == self.head


def state(database_url: str) -> SchemaState:
    """Where the schema stands.

    Raises:
        DatabaseUnavailable: the database cannot be reached.
        BadSetting: the URL is none.
    """
    url = dialect.parse_url(database_url)
    if dialect.is_sqlite(url) and _is_missing(Path(str(url.database))):
        return SchemaState(None, _head(), known=True)
    return _on_a_connection(database_url, _state, writes=False)


def shown(database_url: str) -> str:
    """The URL for people, without its password and options.

    Raises:
        BadSetting: the URL is none.
    """
    return dialect.shown(dialect.parse_url(database_url))


def upgrade(database_url: str) -> SchemaState:
    """Bring the schema to this program's newest revision; what it is afterwards.

    Safe to call from several processes at once: one migrates, the others find it done.

    Raises:
        DatabaseBehind: the schema was made by a newer program; nothing is changed.
        DatabaseUnavailable: the database cannot be reached.
        BadSetting: the URL is none.
    """
    return _on_a_connection(database_url, _upgraded, writes=True)


def require_current(database_url: str) -> None:
    """Check that program and database agree.

    Raises:
        DatabaseBehind: they do not; the message says what to do.
        DatabaseUnavailable: the database cannot be reached.
    """
    found = state(database_url)
    if found.is_current:
        return
    shown = dialect.shown(dialect.parse_url(database_url))
    if found.known:
        at = f"at revision {found.current}" if found.current else "empty"
        raise DatabaseBehind(
            f"database {shown} is {at}, this program needs {found.head}: run `sourcemon db upgrade`"
        )
    raise _newer(found, shown)


def _on_a_connection(
    database_url: str, work: Callable[[Connection, str], SchemaState], *, writes: bool
) -> SchemaState:
    """What ``work`` says of a connection of its own, closed afterwards."""
    url = dialect.parse_url(database_url)
    _make_folder(url)
    engine = dialect.make_engine(url, pool_size=1).execution_options(**{dialect.WRITES: writes})
    try:
        with engine.begin() as connection:
            return work(connection, dialect.shown(url))
    except DBAPIError as error:
        if not dialect.is_unavailable(error):
            raise
        message = str(error.orig).strip().split("\n", 1)[0]
        raise DatabaseUnavailable(
            f"database {dialect.shown(url)}: {message}; start it, or set SOURCEMON_DATABASE_URL"
        ) from error
    finally:
        engine.dispose()


def _state(connection: Connection, _shown: str) -> SchemaState:
    current = MigrationContext.configure(connection).get_current_revision()
    scripts = ScriptDirectory.from_config(_config())
    revisions = {script.revision for script in scripts.walk_revisions()}
    return SchemaState(current, _head(), known=current is None or current in revisions)


def _head() -> str:
    """The newest revision that this program knows."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    if head is None:
        raise RuntimeError("the package holds no migration")
    return head


def _upgraded(connection: Connection, shown: str) -> SchemaState:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_LOCK})
    found = _state(connection, shown)
    if not found.known:
        raise _newer(found, shown)
    if not found.is_current:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return _state(connection, shown)


def _config() -> Config:
    """Alembic's configuration: the folder of this package, and nothing from a file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _is_missing(file: Path) -> bool:
    """Whether there is no file yet where one could be made."""
    return not file.exists() and (file.parent.is_dir() or not file.parent.exists())


def _make_folder(url: URL) -> None:
    """The folder for an SQLite file, made if it is missing."""
    if dialect.is_sqlite(url) and url.database:
        try:
            Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DatabaseUnavailable(
                f"database {dialect.shown(url)}: its folder cannot be made ({error.strerror})"
            ) from error


def _newer(found: SchemaState, shown: str) -> DatabaseBehind:
    return DatabaseBehind(
        f"database {shown} is at revision {found.current}, which this program does not know:"
        " it was made by a newer sourcemon; upgrade the program"
    )
