"""A server of ours on an SQLite file: who comes to write waits, nobody is refused."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from prefect.server.database import configurations
from prefect.server.database.configurations import AioSqliteConfiguration

from deployments.own_server import let_writers_queue


@pytest.fixture
def _queueing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        AioSqliteConfiguration, "begin_transaction", AioSqliteConfiguration.begin_transaction
    )
    let_writers_queue()


def another_could_write_while_we_read(file: Path) -> bool:
    """Whether a transaction that has read something leaves the write lock to others."""

    async def tried() -> bool:
        config = AioSqliteConfiguration(connection_url=f"sqlite+aiosqlite:///{file}")
        session = await config.session(await config.engine())
        async with session, config.begin_transaction(session):
            await session.execute(sa.text("SELECT 1"))
            return await asyncio.to_thread(_can_write, file)

    return asyncio.run(tried())


def _can_write(file: Path) -> bool:
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
    return True


def test_left_alone_another_could_write_in_between_and_the_writer_would_be_refused(
    tmp_path: Path,
) -> None:
    assert another_could_write_while_we_read(tmp_path / "prefect.db")


@pytest.mark.usefixtures("_queueing")
def test_the_write_lock_is_taken_when_the_transaction_begins(tmp_path: Path) -> None:
    assert not another_could_write_while_we_read(tmp_path / "prefect.db")


def test_a_prefect_without_that_place_is_left_as_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(configurations, "AioSqliteConfiguration")

    let_writers_queue()

    assert "writers do not queue" in capsys.readouterr().err
