"""Names to addresses: the operator's map and the system's resolver. Judges no address."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from ipaddress import ip_address
from threading import Thread


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where the operator sends a name: an address, and a port when the URL's does not count."""

    address: str
    port: int | None = None


def destinations(resolver: Mapping[str, str]) -> dict[str, Destination]:
    """The operator's map of host to ``address`` or ``address:port``, hosts in lower case.

    Raises:
        ValueError: an entry is neither; an IPv6 address with a port is written ``[::1]:8080``.
    """
    return {host.lower().rstrip("."): _destination(host, text) for host, text in resolver.items()}


def look_up(host: str, port: int, *, timeout_s: float) -> tuple[str, ...]:
    """Every address that the system's resolver gives for ``host``, in its order, each once.

    ``getaddrinfo`` cannot be interrupted. It runs in a thread of its own, which is left behind
    when time is up and ends when the resolver gives up (with glibc's defaults after half a
    minute); it keeps no process from exiting.

    Raises:
        TimeoutError: no answer within ``timeout_s``.
        OSError: there is no such name, or the resolver failed.
        UnicodeError: the text cannot be a host name (an empty or too long label).
    """
    answer: Future[tuple[str, ...]] = Future()
    asker = Thread(target=_answer, args=(answer, host, port), name="look-up", daemon=True)
    asker.start()
    return answer.result(timeout=max(timeout_s, 0))


def _answer(answer: Future[tuple[str, ...]], host: str, port: int) -> None:
    """Resolve the future with what ``getaddrinfo`` says or raises."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        answer.set_result(tuple(dict.fromkeys(str(entry[4][0]) for entry in found)))
    except BaseException as problem:  # noqa: BLE001 - raised again in the thread that waits
        answer.set_exception(problem)


def _destination(host: str, text: str) -> Destination:
    """One entry of the operator's map.

    Raises:
        ValueError: as :func:`destinations`.
    """
    if is_address(text):
        return Destination(address=text)
    address, _, port = text.rpartition(":")
    address = address.removeprefix("[").removesuffix("]")
    if not is_address(address) or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise ValueError(f"{host} must be sent to an address or address:port, not to {text!r}")
    return Destination(address=address, port=int(port))


def is_address(text: str) -> bool:
    """Whether ``text`` is an IPv4 or IPv6 address in its usual spelling."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
