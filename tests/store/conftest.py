"""Databases as the tests of the store want them: migrated, empty, and a second door to each."""

from __future__ import annotations

import pytest

from sourcemon.store.session import Database
from tests.store.shared import (  # noqa: F401 - fixtures
    SharedDatabase,
    database_url,
    postgres_url,
    shared,
    shared_postgres,
    shared_sqlite,
)


@pytest.fixture
def database(shared: SharedDatabase) -> Database:  # noqa: F811 - a fixture
    """A migrated database without a row."""
    return shared.database


@pytest.fixture
def elsewhere(shared: SharedDatabase) -> Database:  # noqa: F811 - a fixture
    """The same database as another process opens it."""
    return shared.elsewhere
