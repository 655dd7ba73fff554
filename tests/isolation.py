"""Keeps tests away from the person who runs them and from the network. Tests nothing itself."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable, Iterator, Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

OUTSIDE: Mapping[str, str] = dict(os.environ)
"""The environment that the tests were started with, before anything of it was cleared."""

_CLEARED = ("SOURCEMON_", "PREFECT_")
_PROXIES = ("all_proxy", "ftp_proxy", "http_proxy", "https_proxy", "no_proxy")
_PREFECT_SERVICES_LEFT_OUT = (
    "CANCELLATION_CLEANUP",
    "CLEANUP_RECONCILER",
    "EVENT_PERSISTER",
    "FOREMAN",
    "LATE_RUNS",
    "PAUSE_EXPIRATIONS",
    "REPOSSESSOR",
    "SCHEDULER",
    "TASK_RUN_RECORDER",
    "TRIGGERS",
)


def isolate_process(home: Path) -> None:
    """Give this process and its children ``home`` in place of the person's folders and settings.

    Must be called before Prefect is imported: it reads its settings then.
    """
    for name in tuple(os.environ):
        if name.startswith(_CLEARED) or name.lower() in _PROXIES or name.startswith("XDG_"):
            del os.environ[name]
    os.environ["HOME"] = str(home)
    os.environ.update(_prefect_environment(home))


def _prefect_environment(home: Path) -> dict[str, str]:
    """Prefect as the tests want it: a home of its own, one known server, nothing sent anywhere.

    No server runs at ``PREFECT_API_URL`` until a test asks for one, and Prefect starts none by
    itself. The services are left out unless a server is started with them.
    """
    return {
        "DO_NOT_TRACK": "1",
        "PREFECT_API_URL": f"http://127.0.0.1:{_free_port()}/api",
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_UI_ENABLED": "false",
        **{
            f"PREFECT_SERVER_SERVICES_{service}_ENABLED": "false"
            for service in _PREFECT_SERVICES_LEFT_OUT
        },
    }


def _free_port() -> int:
    """A port that is free now, below those that systems hand out to whoever asks for any."""
    for port in random.SystemRandom().sample(range(20_000, 30_000), k=100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no port between 20000 and 30000 is free")


def refused_network() -> Iterator[None]:
    """While it runs, sockets reach this machine only, and no name but ``localhost`` is looked up.

    The refusal is not an ``Exception``, so that nothing under test can take it for a fault of the
    world and go on.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, _local_only(getattr(socket.socket, name)))
        for name in ("getaddrinfo", "gethostbyaddr", "gethostbyname", "gethostbyname_ex"):
            patch.setattr(socket, name, _localhost_only(getattr(socket, name)))
        yield


def _local_only(method: Callable[..., Any]) -> Callable[..., Any]:
    """The socket's method, for addresses of this machine; the address is its last argument."""

    def guarded(self: socket.socket, *args: Any) -> Any:
        address = args[-1]
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(address[0]):
            self.close()  # whoever opened it expects an ``Exception`` and would forget it
            pytest.fail(f"a test tried to reach {address[0]} over the network")
        return method(self, *args)

    return guarded


def _localhost_only(look_up: Callable[..., Any]) -> Callable[..., Any]:
    """The look-up, for ``localhost``, literal addresses and "any address"."""

    def guarded(*args: Any, **kwargs: Any) -> Any:
        host = args[0] if args else kwargs.get("host")
        name = host.decode() if isinstance(host, bytes) else host
        if name not in (None, "", "localhost") and not _is_literal(name):
            pytest.fail(f"a test tried to look up {name} in the DNS")
        return look_up(*args, **kwargs)

    return guarded


def _is_local(host: str) -> bool:
    return host in ("", "localhost") or (_is_literal(host) and _reaches_this_machine(host))


def _reaches_this_machine(literal: str) -> bool:
    """Whether connecting to the address stays here; the unspecified one means loopback, too."""
    address = ip_address(literal)
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _is_literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
