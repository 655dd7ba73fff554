"""Operations with a real database, a clock that is moved by hand, and a site that behaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sourcemon.clock import FakeClock
from sourcemon.operations.deps import Deps, Policies
from tests.operations.site import FakeSite, Feed
from tests.operations.watched import CONTACT, URL, Watched, watch
from tests.store.shared import (  # noqa: F401 - fixtures
    SharedDatabase,
    database_url,
    postgres_url,
    shared,
    shared_postgres,
    shared_sqlite,
)
from tests.store.stored import NOON


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands at noon."""
    return FakeClock(NOON)


@pytest.fixture
def site(clock: FakeClock) -> FakeSite:
    """The world."""
    return FakeSite(clock)


@pytest.fixture
def deps(shared: SharedDatabase, clock: FakeClock, site: FakeSite) -> Deps:  # noqa: F811 - a fixture
    """One worker."""
    policies = Policies(contact=CONTACT)
    return Deps(database=shared.database, http=site, clock=clock, policies=policies)


@pytest.fixture
def other_worker(deps: Deps, shared: SharedDatabase) -> Deps:  # noqa: F811 - a fixture
    """A second worker on the same database, clock and world, with connections of its own."""
    return replace(deps, database=shared.elsewhere)


@pytest.fixture
def kiosk(deps: Deps) -> Watched:
    """A source that was never polled."""
    return watch(deps, URL)


@pytest.fixture
def feed(site: FakeSite) -> Feed:
    """The feed behind that source."""
    return site.feed(URL)
