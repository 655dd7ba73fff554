"""What the tests of net share: one instant, a loopback server, a client that talks to it."""

from __future__ import annotations

import _socket
import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

import httpx
import pytest

from sourcemon.core.replies import FetchLimits
from sourcemon.net.client import HttpClient
from sourcemon.net.guard import AddressGuard
from tests.net.loopback import Loopback, Script

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)


@pytest.fixture
def serve() -> Iterator[Callable[[Script], Loopback]]:
    """Start a loopback server with a script; it stops with the test."""
    with contextlib.ExitStack() as stack:
        yield lambda script: stack.enter_context(Loopback(script))


@pytest.fixture
def numeric_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's resolver, for every spelling of an address that it knows; it asks nobody."""

    def getaddrinfo(host: str, port: int, **_: object) -> object:
        flags = socket.AI_NUMERICHOST
        return _socket.getaddrinfo(host, port, socket.AF_UNSPEC, socket.SOCK_STREAM, 0, flags)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.fixture
def client_for() -> Iterator[Callable[..., HttpClient]]:
    """A client that finds ``site.test`` at a server, or at the addresses given; it is closed."""
    with contextlib.ExitStack() as stack:

        def build(
            server: Loopback | None = None,
            *,
            names: Mapping[str, str] | None = None,
            limits: FetchLimits | None = None,
            transport: httpx.BaseTransport | None = None,
        ) -> HttpClient:
            own = {"site.test": server.address} if server else {}
            client = HttpClient(
                user_agent="sourcemon/0 (+mailto:op@site.test)",
                limits=limits or FetchLimits(),
                guard=AddressGuard(),
                now=lambda: NOW,
                resolver={**own, **(names or {})},
                transport=transport,
            )
            stack.callback(client.close)
            return client

        yield build
