"""What tests of deployments share: wired dependencies and free ports."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sourcemon import wiring
from sourcemon.operations.deps import Deps
from sourcemon.settings import Settings


@pytest.fixture
def deps(sqlite_url: str) -> Iterator[Deps]:
    """Dependencies on a database of the test's own, in force in this process."""
    with wiring.use(wiring.build(Settings(database_url=sqlite_url))) as wired:
        yield wired
        wired.close()
