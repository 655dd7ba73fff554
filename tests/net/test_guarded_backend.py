"""Connections: looked up once, checked, and made to the address that was checked."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from ipaddress import ip_network
from types import MappingProxyType

import httpcore
import pytest

from sourcemon.core.replies import FetchLimits
from sourcemon.net.backend import (
    AddressRefused,
    GuardedBackend,
    LookUpFailed,
    LookUpTimeout,
)
from sourcemon.net.deadline import Deadline
from sourcemon.net.guard import AddressGuard
from sourcemon.net.lookups import destinations

SOON = Deadline.after(timedelta(minutes=10))
LIMITS = FetchLimits(connect_timeout=timedelta(seconds=0.3), read_timeout=timedelta(seconds=0.3))


class FakeNet:
    """A resolver and a network: names have answers, one per look-up, and addresses behave."""

    def __init__(self, answers: Sequence[Sequence[str]], **behaviour: Exception) -> None:
        self._answers = list(answers)
        self._behaviour = behaviour
        self.looked_up: list[str] = []
        self.dialled: list[str] = []

    def look_up(self, host: str, port: int, *, timeout_s: float) -> Sequence[str]:
        self.looked_up.append(host)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def dial(self, address: str, port: int, timeout_s: float) -> socket.socket:
        self.dialled.append(address)
        problem = self._behaviour.get("all") or self._behaviour.get(address)
        if isinstance(problem, TimeoutError):
            time.sleep(timeout_s)
        if problem is not None:
            raise problem
        return socket.socket()


def backend(
    net: FakeNet, guard: AddressGuard | None = None, names: Mapping[str, str] = MappingProxyType({})
) -> GuardedBackend:
    return GuardedBackend(
        guard=guard or AddressGuard(),
        limits=LIMITS,
        names=destinations(names),
        look_up=net.look_up,
        dial=net.dial,
    )


def test_the_checked_address_is_the_dialled_one() -> None:
    net = FakeNet([["93.184.216.34"], ["127.0.0.1"]])
    backend(net).connect("flip.test", 80, SOON).close()
    assert net.dialled == ["93.184.216.34"]
    assert net.looked_up == ["flip.test"]


def test_an_answer_that_flips_to_loopback_is_refused_at_the_next_connection() -> None:
    net = FakeNet([["93.184.216.34"], ["127.0.0.1"]])
    backend(net).connect("flip.test", 80, SOON).close()
    with pytest.raises(AddressRefused):
        backend(net).connect("flip.test", 80, SOON)
    assert net.dialled == ["93.184.216.34"]


def test_of_mixed_answers_only_the_public_ones_are_dialled() -> None:
    mixed = ["192.168.0.5", "::1", "93.184.216.34", "10.0.0.1", "2606:2800:220:1::1"]
    net = FakeNet([mixed], all=ConnectionRefusedError("refused"))
    with pytest.raises(httpcore.ConnectError):
        backend(net).connect("mix.test", 80, SOON)
    assert net.dialled == ["93.184.216.34", "2606:2800:220:1::1"]


def test_without_a_permitted_answer_nothing_is_dialled() -> None:
    net = FakeNet([["192.168.0.5", "::1"]])
    with pytest.raises(AddressRefused, match=r"192\.168\.0\.5 is a private address; ::1 is a loop"):
        backend(net).connect("inner.test", 80, SOON)
    assert net.dialled == []


def test_an_allowed_network_is_dialled() -> None:
    net = FakeNet([["192.168.0.5"]])
    guard = AddressGuard(allowed=(ip_network("192.168.0.0/24"),))
    backend(net, guard).connect("bridge.test", 80, SOON).close()
    assert net.dialled == ["192.168.0.5"]


def test_a_name_of_the_map_is_neither_looked_up_nor_checked() -> None:
    net = FakeNet([["93.184.216.34"]])
    backend(net, names={"lan.test": "127.0.0.1:8080"}).connect("LAN.test.", 80, SOON).close()
    assert net.looked_up == []
    assert net.dialled == ["127.0.0.1"]


@pytest.mark.parametrize("literal", ["127.0.0.1", "::1", "fe80::1%25eth0", "169.254.169.254"])
def test_a_refused_literal_is_not_dialled(literal: str) -> None:
    net = FakeNet([[]])
    with pytest.raises(AddressRefused):
        backend(net).connect(literal, 80, SOON)
    assert net.looked_up == []
    assert net.dialled == []


@pytest.mark.usefixtures("numeric_names")
@pytest.mark.parametrize(
    "spelling", ["127.1", "2130706433", "0x7f000001", "0x7f.1", "017700000001"]
)
def test_every_spelling_of_loopback_that_the_system_knows_is_refused(spelling: str) -> None:
    real = GuardedBackend(guard=AddressGuard(), limits=LIMITS, names={})
    with pytest.raises(AddressRefused):
        real.connect(spelling, 9, SOON)


def test_the_next_address_is_tried_when_one_refuses() -> None:
    first, second = "2606:2800:220:1::1", "93.184.216.34"
    net = FakeNet([[first, second]], **{first: OSError("unreachable")})
    backend(net).connect("kiosk.test", 80, SOON).close()
    assert net.dialled == [first, second]


def test_families_take_turns_and_eight_addresses_are_enough() -> None:
    six = [f"2606:2800:220:1::{n}" for n in range(1, 20)]
    four = ["93.184.216.34", "93.184.216.35"]
    net = FakeNet([[*six, *four]], all=ConnectionRefusedError("refused"))
    with pytest.raises(httpcore.ConnectError):
        backend(net).connect("kiosk.test", 80, SOON)
    assert net.dialled == [six[0], four[0], six[1], four[1], *six[2:6]]


def test_silent_addresses_share_the_time_for_connecting() -> None:
    silent = ["93.184.216.34", "93.184.216.35", "93.184.216.36"]
    net = FakeNet([silent], all=TimeoutError())
    began = time.monotonic()
    with pytest.raises(httpcore.ConnectTimeout):
        backend(net).connect("kiosk.test", 80, SOON)
    assert time.monotonic() - began < 0.6


def test_a_deadline_that_has_passed_dials_nothing() -> None:
    net = FakeNet([["93.184.216.34"]])
    with pytest.raises(httpcore.ConnectTimeout, match="in all"):
        backend(net).connect("kiosk.test", 80, Deadline.after(timedelta(0)))
    assert net.dialled == []


LOOK_UPS: dict[str, tuple[Callable[..., Sequence[str]], type[Exception]]] = {
    "no such name": (lambda *_, **__: _raise(socket.gaierror(-2, "unknown")), LookUpFailed),
    "no possible name": (lambda *_, **__: _raise(UnicodeError("label too long")), LookUpFailed),
    "no address": (lambda *_, **__: (), LookUpFailed),
    "no answer": (lambda *_, **__: _raise(TimeoutError()), LookUpTimeout),
}


def _raise(problem: Exception) -> Sequence[str]:
    raise problem


@pytest.mark.parametrize(("look_up", "kind"), LOOK_UPS.values(), ids=LOOK_UPS)
def test_look_ups_that_fail(look_up: Callable[..., Sequence[str]], kind: type[Exception]) -> None:
    own = GuardedBackend(guard=AddressGuard(), limits=LIMITS, names={}, look_up=look_up)
    with pytest.raises(kind):
        own.connect("kiosk.test", 80, SOON)


@pytest.mark.usefixtures("numeric_names")
def test_a_label_that_is_too_long_is_a_failed_look_up() -> None:
    real = GuardedBackend(guard=AddressGuard(), limits=LIMITS, names={})
    with pytest.raises(LookUpFailed):
        real.connect("x" * 64 + ".test", 80, SOON)


def test_a_look_up_is_bounded_by_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(5) and [])
    real = GuardedBackend(guard=AddressGuard(), limits=FetchLimits(), names={})
    began = time.monotonic()
    with pytest.raises(LookUpTimeout):
        real.connect("kiosk.test", 80, Deadline.after(timedelta(seconds=0.1)))
    assert time.monotonic() - began < 1
    released.set()


def test_a_socket_of_this_machine_is_refused() -> None:
    with pytest.raises(AddressRefused):
        backend(FakeNet([[]])).connect_unix_socket("/var/run/docker.sock")


def test_httpcores_pool_gets_the_same_checks() -> None:
    net = FakeNet([["127.0.0.1"]])
    with (
        httpcore.ConnectionPool(network_backend=backend(net)) as pool,
        pytest.raises(AddressRefused),
    ):
        pool.request("GET", "http://inner.test/")
    assert net.dialled == []
