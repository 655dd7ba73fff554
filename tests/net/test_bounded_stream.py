"""A socket whose waits end with the fetch; and the transport over it, used by httpx itself."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from datetime import timedelta

import httpcore
import httpx
import pytest

from sourcemon.core.replies import FetchLimits
from sourcemon.net.backend import GuardedBackend
from sourcemon.net.deadline import Deadline
from sourcemon.net.guard import AddressGuard
from sourcemon.net.lookups import destinations
from sourcemon.net.streams import BoundedStream, HeadTooLarge
from sourcemon.net.transport import OneShotTransport
from tests.net.loopback import Exchange, Loopback, Script

MINUTE = timedelta(minutes=1)
Ends = tuple[BoundedStream, socket.socket]


@pytest.fixture
def ends() -> Iterator[Callable[..., Ends]]:
    """Both ends of a connection: the stream and its peer."""
    opened: list[socket.socket] = []

    def build(*, total: timedelta = MINUTE, head_bytes: int = 100) -> Ends:
        ours, theirs = socket.socketpair()
        opened.extend((ours, theirs))
        deadline = Deadline.after(total)
        return BoundedStream(ours, deadline=deadline, head_bytes=head_bytes), theirs

    yield build
    for sock in opened:
        sock.close()


def test_bytes_go_both_ways(ends: Callable[..., Ends]) -> None:
    stream, peer = ends()
    stream.write(b"ping", timeout=1)
    assert peer.recv(10) == b"ping"
    peer.sendall(b"pong")
    assert stream.read(10, timeout=1) == b"pong"
    peer.close()
    assert stream.read(10, timeout=1) == b""


def test_a_peer_that_reads_nothing_stops_a_write(ends: Callable[..., Ends]) -> None:
    stream, _ = ends()
    with pytest.raises(httpcore.WriteTimeout, match=r"nothing happened for 0\.05 s"):
        stream.write(bytes(10_000_000), timeout=0.05)


def test_a_peer_that_is_gone_breaks_a_write(ends: Callable[..., Ends]) -> None:
    stream, peer = ends()
    peer.close()
    with pytest.raises(httpcore.WriteError):
        stream.write(bytes(10_000_000), timeout=1)


PASSED = {
    "read": (lambda stream: stream.read(10, timeout=1), httpcore.ReadTimeout),
    "write": (lambda stream: stream.write(b"x", timeout=1), httpcore.WriteTimeout),
    "write without a timeout": (lambda stream: stream.write(b"x"), httpcore.WriteTimeout),
}


@pytest.mark.parametrize(("use", "late"), PASSED.values(), ids=PASSED)
def test_nothing_happens_after_the_deadline(
    ends: Callable[..., Ends], use: Callable[[BoundedStream], object], late: type[Exception]
) -> None:
    stream, _ = ends(total=timedelta(0))
    with pytest.raises(late, match="not finished after 0 s in all"):
        use(stream)


def test_the_head_has_a_limit_and_the_body_has_not(ends: Callable[..., Ends]) -> None:
    stream, peer = ends(head_bytes=10)
    peer.sendall(b"x" * 30)
    assert stream.read(8, timeout=1) == b"x" * 8
    assert stream.read(8, timeout=1) == b"x" * 2
    with pytest.raises(HeadTooLarge):
        stream.read(8, timeout=1)
    stream.head_is_complete()
    assert stream.read(30, timeout=1) == b"x" * 20


def test_closing_twice_is_no_error(ends: Callable[..., Ends]) -> None:
    stream, _ = ends()
    stream.close()
    stream.close()


def test_httpx_itself_can_use_the_transport(serve: Callable[[Script], Loopback]) -> None:
    def script(exchange: Exchange) -> None:
        exchange.answer(b"feed", headers="X-A: 1\r\n")

    names = destinations({"site.test": serve(script).address})
    backend = GuardedBackend(guard=AddressGuard(), limits=FetchLimits(), names=names)
    with httpx.Client(transport=OneShotTransport(backend), trust_env=False) as client:
        response = client.get("http://site.test/")
    assert response.text == "feed"
    assert response.headers["x-a"] == "1"
    assert response.http_version == "HTTP/1.1"
