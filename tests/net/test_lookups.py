"""Names to addresses."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from sourcemon.net.lookups import Destination, destinations, look_up

ENTRIES = {
    "an address": ("127.0.0.1", Destination(address="127.0.0.1")),
    "an address and a port": ("127.0.0.1:8080", Destination(address="127.0.0.1", port=8080)),
    "an IPv6 address": ("::1", Destination(address="::1")),
    "an IPv6 address and a port": ("[::1]:8080", Destination(address="::1", port=8080)),
}


@pytest.mark.parametrize(("text", "destination"), ENTRIES.values(), ids=ENTRIES)
def test_entries_of_the_map(text: str, destination: Destination) -> None:
    assert destinations({"Kiosk.Test.": text}) == {"kiosk.test": destination}


@pytest.mark.parametrize(
    "text", ["", "kiosk.test", "kiosk.test:80", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536"]
)
def test_what_is_no_entry_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"kiosk\.test must be sent to"):
        destinations({"kiosk.test": text})


def test_answers_keep_their_order_and_come_once(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ["2606:2800:220:1::1", "93.184.216.34", "2606:2800:220:1::1"]
    found = [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", (a, 80)) for a in answers]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert look_up("kiosk.test", 80, timeout_s=1) == ("2606:2800:220:1::1", "93.184.216.34")


def test_a_resolver_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(5) and [])
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        look_up("kiosk.test", 80, timeout_s=0.1)
    assert time.monotonic() - began < 1
    released.set()


PROBLEMS: dict[str, BaseException] = {
    "no such name": socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
    "no possible name": UnicodeError("label empty or too long"),
}


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_what_the_resolver_raises_is_raised_here(
    monkeypatch: pytest.MonkeyPatch, problem: BaseException
) -> None:
    def getaddrinfo(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    with pytest.raises(type(problem)):
        look_up("kiosk.test", 80, timeout_s=1)
