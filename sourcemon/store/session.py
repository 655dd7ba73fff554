"""Transactions: one to read, one to write, both short, neither held across a request."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from datetime import datetime

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlmodel import Session as Session  # noqa: PLC0414 - the type that callers pass on

from sourcemon.errors import DatabaseUnavailable
from sourcemon.store import dialect


class Database:
    """The database at one URL, shared by the threads of a process; it connects at first use.

    It knows no table. Writers queue on a lock of the process before they queue on SQLite's.
    """

    def __init__(self, url: str, *, pool_size: int = 10) -> None:
        """Raises :class:`sourcemon.errors.BadSetting` for a URL that names no usable database."""
        self._url = dialect.parse_url(url)
        self._engine = dialect.make_engine(self._url, pool_size=pool_size)
        self._reading = dialect.for_reading(self._engine)
        self._writing = self._engine.execution_options(**{dialect.WRITES: True})
        self._write_lock = (
            threading.RLock() if dialect.is_sqlite(self._url) else contextlib.nullcontext()
        )

    @property
    def shown(self) -> str:
        """The URL for people, its password hidden."""
        return dialect.shown(self._url)

    @contextlib.contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that sees one state of the database and changes nothing.

        Raises:
            DatabaseUnavailable: the database cannot be reached or answers with an error.
        """
        with self._translated(), Session(self._reading) as session:
            yield session

    @contextlib.contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that is committed when the block ends and rolled back when it raises.

        Raises:
            DatabaseUnavailable: as :meth:`read`; nothing of the block is stored then.
        """
        with self._write_lock, self._translated(), Session(self._writing) as session:
            yield session
            session.commit()

    def close(self) -> None:
        """Close every pooled connection; the next transaction opens new ones."""
        self._engine.dispose()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn what the driver says about the database itself into our own error."""
        try:
            yield
        except PoolTimeout as error:
            raise DatabaseUnavailable(f"database {self.shown}: {_first_line(error)}") from error
        except DBAPIError as error:
            if not dialect.is_unavailable(error):
                raise
            raise DatabaseUnavailable(f"database {self.shown}: {_first_line(error)}") from error


def instant(session: Session, given: datetime | None) -> datetime:
    """``given``, or the database's own clock where ``None`` asks for it."""
    return dialect.database_instant(session.connection()) if given is None else given


def _first_line(error: Exception) -> str:
    """What went wrong, without the statement."""
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().split("\n", 1)[0] or type(cause).__name__
