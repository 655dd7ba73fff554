"""A clock that stands still, a site that plays, a client that asks: shared by these tests."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime

import httpx
import pytest

from sourcemon.clock import FakeClock
from sourcemon.replay import Feed, ReplaySite

# The sites speak plain HTTP; an empty context saves every client the reading of all authorities.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

NOON = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands at noon."""
    return FakeClock(NOON)


@pytest.fixture
def play(clock: FakeClock) -> Iterator[Callable[..., ReplaySite]]:
    """Start a site with these feeds on the clock; all are stopped after the test."""
    with ExitStack() as stack:

        def start(*feeds: Feed) -> ReplaySite:
            return stack.enter_context(ReplaySite(feeds, now=clock.now))

        yield start


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    """A client without the environment's proxies, and with no patience for a hanging site."""
    with httpx.Client(trust_env=False, timeout=5.0, verify=NO_TLS) as opened:
        yield opened
