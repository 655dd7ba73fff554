"""Tests reach nobody and read nobody's settings."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

FARAWAY = "192.0.2.1"  # reserved for documentation (RFC 5737)


def _connect(host: str, family: int = socket.AF_INET) -> None:
    with socket.socket(family) as client:
        client.settimeout(0.5)
        client.connect((host, 9))


def _connect_ex(host: str) -> None:
    with socket.socket() as client:
        client.settimeout(0.5)
        client.connect_ex((host, 9))


def _send_datagram(host: str) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.sendto(b"", (host, 9))


async def _open_connection(host: str) -> None:
    await asyncio.open_connection(host, 9)


REFUSED: dict[str, Callable[[], object]] = {
    "a connection": lambda: _connect(FARAWAY),
    "a connection over IPv6": lambda: _connect("2001:db8::1", socket.AF_INET6),
    "a connection to a mapped address": lambda: _connect(f"::ffff:{FARAWAY}", socket.AF_INET6),
    "a connection that returns its error": lambda: _connect_ex(FARAWAY),
    "a datagram": lambda: _send_datagram(FARAWAY),
    "a connection by name": lambda: socket.create_connection(("example.invalid", 80)),
    "a look-up": lambda: socket.getaddrinfo("example.invalid", 80),
    "an old-fashioned look-up": lambda: socket.gethostbyname("example.invalid"),
    "an HTTP client": lambda: httpx.get(f"http://{FARAWAY}/", timeout=0.5),
    "an event loop": lambda: asyncio.run(_open_connection(FARAWAY)),
    "an event loop's look-up": lambda: asyncio.run(_open_connection("example.invalid")),
}


@pytest.mark.parametrize("attempt", REFUSED.values(), ids=REFUSED)
def test_the_network_is_out_of_reach(attempt: Callable[[], object]) -> None:
    with pytest.raises(pytest.fail.Exception, match="a test tried to"):
        attempt()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_within_reach(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection((host, server.getsockname()[1])).close()


def test_no_setting_comes_from_outside() -> None:
    assert [name for name in os.environ if name.startswith("SOURCEMON_")] == []
    assert not Path(".env").exists()
    assert not Path("sourcemon.toml").exists()


def test_prefect_has_a_home_of_its_own() -> None:
    from prefect.settings import get_current_settings  # noqa: PLC0415 - only here

    home = get_current_settings().home

    assert home.is_relative_to(Path.home())
    assert Path.home().is_relative_to(tempfile.gettempdir())
