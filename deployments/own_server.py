"""The process in which a Prefect server of ours runs: ``prefect server start``, on a lifeline."""

# ruff: noqa: PLC0415 - the lifeline is held before seconds of imports

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from deployments import lifeline

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession, AsyncSessionTransaction


def main() -> None:
    """Serve at ``HOST PORT``, the two arguments, until SIGTERM or the end of the lifeline.

    Every request is logged, so that whoever started us can count what was refused.
    """
    host, port = sys.argv[1:]
    lifeline.hold()
    from prefect.cli import app

    let_writers_queue()
    sys.argv = [
        *("prefect", "--no-prompt", "server", "start"),
        *("--host", host, "--port", port, "--log-level", "INFO"),
    ]
    app()


def let_writers_queue() -> None:
    """Let every transaction of the server on an SQLite file ask for the write lock at its start.

    Left alone, most of them read first and ask when they come to write. Where another one has
    written in between, SQLite refuses at once, the server answers 503, and its client sleeps two
    seconds: one request in thirty while a tick polls ten sources. Asked for at the start, the lock
    is waited for. Reading outside transactions is not touched, nor is PostgreSQL. A Prefect that
    has no such place any more is left as it is.
    """
    try:
        from prefect.server.database.configurations import AioSqliteConfiguration

        begin = AioSqliteConfiguration.begin_transaction
    except (ImportError, AttributeError):
        print("| WARNING | writers do not queue in this version of Prefect", file=sys.stderr)
        return

    @asynccontextmanager
    async def begin_immediately(
        self: AioSqliteConfiguration,
        session: AsyncSession,
        with_for_update: bool = False,  # noqa: ARG001, FBT001, FBT002 - the signature it replaces
    ) -> AsyncGenerator[AsyncSessionTransaction, None]:
        async with begin(self, session, with_for_update=True) as transaction:
            yield transaction

    AioSqliteConfiguration.begin_transaction = begin_immediately  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
