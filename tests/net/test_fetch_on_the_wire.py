"""From plan to reply over real sockets: time, torn bytes, floods, many threads."""

from __future__ import annotations

import gzip
import itertools
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

import httpcore
import pytest

from sourcemon.core.replies import (
    ErrorCategory,
    FetchLimits,
    NoResponse,
    Reply,
    RequestPlan,
    Response,
    Validators,
)
from sourcemon.net.client import HttpClient
from sourcemon.net.guard import AddressGuard
from tests.net.loopback import Exchange, Loopback, Script

Serve = Callable[[Script], Loopback]
ClientFor = Callable[..., HttpClient]

PLAN = RequestPlan(url="http://site.test/feed", accept="text/xml")
QUICK = FetchLimits(
    connect_timeout=timedelta(seconds=0.2),
    read_timeout=timedelta(seconds=0.2),
    total_timeout=timedelta(seconds=0.4),
    max_body_bytes=2_000_000,
)
SOON_S = 1.5
"""No fetch under :data:`QUICK` lasts longer, on a slow machine neither."""


def answered(reply: Reply) -> Response:
    assert isinstance(reply, Response), reply
    return reply


def unanswered(reply: Reply) -> NoResponse:
    assert isinstance(reply, NoResponse), reply
    return reply


@pytest.fixture
def is_soon() -> Iterator[None]:
    """The test may take no longer than :data:`SOON_S`."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < SOON_S


def test_one_request_as_it_goes_over_the_wire(serve: Serve, client_for: ClientFor) -> None:
    server = serve(lambda exchange: exchange.answer(b"feed", headers='ETag: "a"\r\n'))
    plan = RequestPlan(
        url="http://site.test/feed?q=1",
        accept="text/xml",
        validators=Validators(etag='"\xe9"', last_modified="Fri, 09 Jan 2026 07:00:00 GMT"),
    )
    reply = answered(client_for(server).fetch(plan))
    assert (reply.status, reply.body, reply.bytes_received) == (200, b"feed", 4)
    assert reply.headers.fields == (("Content-Length", "4"), ("ETag", '"a"'))
    request = (
        b"GET /feed?q=1 HTTP/1.1\r\n"
        b"Host: site.test\r\n"
        b"User-Agent: sourcemon/0 (+mailto:op@site.test)\r\n"
        b"Accept: text/xml\r\n"
        b"Accept-Encoding: gzip, deflate\r\n"
        b"Connection: close\r\n"
        b'If-None-Match: "\xe9"\r\n'
        b"If-Modified-Since: Fri, 09 Jan 2026 07:00:00 GMT\r\n"
        b"\r\n"
    )
    assert server.heads == [request]


BODIES: dict[str, tuple[bytes, bytes]] = {
    "chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nfee\r\n1\r\nd\r\n0\r\n\r\n",
        b"feed",
    ),
    "until the connection ends": (b"HTTP/1.0 200 OK\r\n\r\nfeed", b"feed"),
    "after informational responses": (
        b"HTTP/1.1 103 Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfeed",
        b"feed",
    ),
    "without a reason phrase": (b"HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nfeed", b"feed"),
    "with line feeds only": (b"HTTP/1.1 200 OK\nContent-Length: 4\n\nfeed", b"feed"),
    "none of 304 with a coding": (
        b"HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n",
        b"",
    ),
}


@pytest.mark.parametrize(("raw", "body"), BODIES.values(), ids=BODIES)
def test_bodies(serve: Serve, client_for: ClientFor, raw: bytes, body: bytes) -> None:
    server = serve(lambda exchange: exchange.send(raw))
    reply = answered(client_for(server).fetch(PLAN))
    assert reply.body == body
    assert reply.body_failure is None


def test_bytes_received_are_the_compressed_ones(serve: Serve, client_for: ClientFor) -> None:
    packed = gzip.compress(b"feed" * 1000)
    server = serve(lambda exchange: exchange.answer(packed, headers="Content-Encoding: gzip\r\n"))
    reply = answered(client_for(server).fetch(PLAN))
    assert reply.body == b"feed" * 1000
    assert reply.bytes_received == len(packed)


TORN: dict[str, bytes] = {
    "fewer bytes than announced": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfee",
    "chunks without an end": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nfee\r\n",
    "a chunk without a length": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
}


@pytest.mark.parametrize("raw", TORN.values(), ids=TORN)
def test_torn_bodies_keep_status_and_headers(
    serve: Serve, client_for: ClientFor, raw: bytes
) -> None:
    reply = answered(client_for(serve(lambda e: e.send(raw))).fetch(PLAN))
    assert reply.status == 200
    assert reply.body == b""
    assert reply.body_failure is not None
    assert reply.body_failure.category is ErrorCategory.NETWORK


def test_a_reset_in_the_middle_of_a_body(serve: Serve, client_for: ClientFor) -> None:
    def script(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfee")
        time.sleep(0.05)
        exchange.reset()

    reply = answered(client_for(serve(script)).fetch(PLAN))
    assert reply.body_failure is not None
    assert reply.body_failure.category is ErrorCategory.NETWORK


NO_HTTP: dict[str, Script] = {
    "nothing, then the end": lambda _: None,
    "a reset": lambda exchange: exchange.reset(),
    "another protocol": lambda exchange: exchange.send(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "half a head": lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\nContent-"),
    "two lengths": lambda exchange: exchange.send(
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"
    ),
}


@pytest.mark.parametrize("script", NO_HTTP.values(), ids=NO_HTTP)
def test_what_is_no_response(serve: Serve, client_for: ClientFor, script: Script) -> None:
    server = serve(script)
    reply = unanswered(client_for(server).fetch(PLAN))
    assert reply.failure.category is ErrorCategory.NETWORK
    assert reply.failure.message.startswith("site.test:80 ")
    assert len(server.heads) == 1, "nothing is tried twice"


def test_nobody_listens(client_for: ClientFor) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    reply = unanswered(client_for(names={"site.test": address}).fetch(PLAN))
    assert reply.failure.category is ErrorCategory.NETWORK
    assert reply.failure.message == "site.test:80 could not be connected to (Connection refused)"


def lines() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    for number in itertools.count():
        yield f"X-{number}: y\r\n".encode()


def single_bytes() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    yield from itertools.repeat(b"x")


NO_RESPONSE_IN_TIME: dict[str, Script] = {
    "silence": lambda exchange: exchange.hang(),
    "a head line by line": lambda exchange: exchange.drip(lines(), every_s=0.05),
    "a head byte by byte": lambda exchange: exchange.drip(
        (bytes([b]) for b in b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 999), every_s=0.05
    ),
    "informational responses for ever": lambda exchange: exchange.drip(
        itertools.repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n"), every_s=0.05
    ),
}


@pytest.mark.usefixtures("is_soon")
@pytest.mark.parametrize("script", NO_RESPONSE_IN_TIME.values(), ids=NO_RESPONSE_IN_TIME)
def test_no_response_in_time(serve: Serve, client_for: ClientFor, script: Script) -> None:
    reply = unanswered(client_for(serve(script), limits=QUICK).fetch(PLAN))
    assert reply.failure.category is ErrorCategory.TIMEOUT


def begun(rest: Callable[[Exchange], None]) -> Script:
    def script(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n<rss>")
        rest(exchange)

    return script


NO_BODY_IN_TIME: dict[str, Script] = {
    "silence in the middle": begun(lambda exchange: exchange.hang()),
    "byte by byte": begun(lambda e: e.drip(itertools.repeat(b"x", 995), every_s=0.05)),
}


@pytest.mark.usefixtures("is_soon")
@pytest.mark.parametrize("script", NO_BODY_IN_TIME.values(), ids=NO_BODY_IN_TIME)
def test_no_body_in_time(serve: Serve, client_for: ClientFor, script: Script) -> None:
    reply = answered(client_for(serve(script), limits=QUICK).fetch(PLAN))
    assert reply.status == 200
    assert reply.body == b""
    assert reply.body_failure is not None
    assert reply.body_failure.category is ErrorCategory.TIMEOUT


@pytest.mark.usefixtures("is_soon")
def test_the_time_is_that_of_all_hops_together(serve: Serve, client_for: ClientFor) -> None:
    def script(exchange: Exchange) -> None:
        time.sleep(0.15)
        exchange.answer(status="302 Found", headers=f"Location: {exchange.path}x\r\n")

    reply = unanswered(client_for(serve(script), limits=QUICK).fetch(PLAN))
    assert reply.failure.category is ErrorCategory.TIMEOUT
    assert "0.4 s in all" in reply.failure.message
    assert 1 <= len(reply.hops) <= 3


@pytest.mark.usefixtures("is_soon")
def test_a_listener_that_accepts_nobody(client_for: ClientFor) -> None:
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        reply = unanswered(client_for(names={"site.test": address}, limits=QUICK).fetch(PLAN))
    assert reply.failure.category is ErrorCategory.TIMEOUT


def flood() -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    yield from itertools.repeat(b"X-Flood: " + b"y" * 1000 + b"\r\n", 10_000)


FLOODS: dict[str, Script] = {
    "header lines without end": lambda exchange: exchange.drip(flood(), every_s=0),
    "one line without end": lambda exchange: exchange.drip(
        itertools.chain([b"HTTP/1.1 200 OK\r\nX: "], itertools.repeat(b"y" * 9000, 999)), every_s=0
    ),
    "informational responses": lambda exchange: exchange.drip(
        itertools.repeat(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100, 9_999), every_s=0
    ),
}


@pytest.mark.parametrize("script", FLOODS.values(), ids=FLOODS)
def test_a_flood_of_headers_is_cut_off(serve: Serve, client_for: ClientFor, script: Script) -> None:
    client = client_for(serve(script))
    tracemalloc.start()
    try:
        reply = unanswered(client.fetch(PLAN))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reply.failure.category is ErrorCategory.TOO_LARGE
    assert peak < 1_500_000


SIZES_OF_HEAD = {"fits exactly": (1000, True), "one byte more": (1001, False)}


@pytest.mark.parametrize(("size", "fits"), SIZES_OF_HEAD.values(), ids=SIZES_OF_HEAD)
def test_the_limit_of_the_head(serve: Serve, client_for: ClientFor, size: int, fits: bool) -> None:
    start = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: "
    raw = start + b"y" * (size - len(start) - 4) + b"\r\n\r\n"
    limits = FetchLimits(max_header_bytes=1000)
    reply = client_for(serve(lambda e: e.send(raw)), limits=limits).fetch(PLAN)
    assert isinstance(reply, Response) is fits


def test_an_endless_body_stops_at_the_limit(serve: Serve, client_for: ClientFor) -> None:
    chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"

    def script(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        exchange.drip(itertools.repeat(chunk), every_s=0)

    client = client_for(serve(script), limits=FetchLimits(max_body_bytes=2_000_000))
    tracemalloc.start()
    try:
        reply = answered(client.fetch(PLAN))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reply.body_failure is not None
    assert reply.body_failure.category is ErrorCategory.TOO_LARGE
    assert reply.bytes_received < 2_000_000 + 100_000
    assert peak < 2_000_000 + 1_500_000  # the server's own pieces are counted, too


@pytest.mark.usefixtures("is_soon")
def test_a_huge_announcement_is_not_waited_for(serve: Serve, client_for: ClientFor) -> None:
    def script(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n<rss>")
        exchange.hang()

    reply = answered(client_for(serve(script)).fetch(PLAN))
    assert reply.body_failure is not None
    assert reply.body_failure.category is ErrorCategory.TOO_LARGE


INWARD = {
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "loopback": "http://127.0.0.1/",
    "loopback in decimal": "http://2130706433/",
    "loopback in hexadecimal": "http://0x7f000001/",
    "loopback cut short": "http://127.1/",
    "loopback over IPv6": "http://[::1]/",
    "loopback mapped": "http://[::ffff:127.0.0.1]/",
    "link-local with a zone": "http://[fe80::1%25lo]/",
}


@pytest.mark.usefixtures("numeric_names")
@pytest.mark.parametrize("location", INWARD.values(), ids=INWARD)
def test_a_redirect_inward_is_refused(serve: Serve, client_for: ClientFor, location: str) -> None:
    server = serve(lambda e: e.answer(status="302 Found", headers=f"Location: {location}\r\n"))
    reply = unanswered(client_for(server).fetch(PLAN))
    assert reply.failure.category is ErrorCategory.REFUSED
    assert [hop.url for hop in reply.hops] == [PLAN.url]
    assert len(server.heads) == 1


def test_a_redirect_to_our_own_server_by_address_is_refused(
    serve: Serve, client_for: ClientFor
) -> None:
    server = serve(lambda e: e.answer(status="302 Found", headers=f"Location: {inner}\r\n"))
    inner = f"http://{server.address}/inner"
    reply = unanswered(client_for(server).fetch(PLAN))
    assert reply.failure.category is ErrorCategory.REFUSED
    assert "127.0.0.1 is a loopback address" in reply.failure.message
    assert reply.url == inner
    assert len(server.heads) == 1


def test_a_redirect_to_localhost_is_refused(serve: Serve, client_for: ClientFor) -> None:
    location = "Location: http://LOCALHOST./\r\n"
    server = serve(lambda e: e.answer(status="302 Found", headers=location))
    reply = unanswered(client_for(server).fetch(PLAN))
    assert reply.failure.category is ErrorCategory.REFUSED
    assert reply.url == "http://localhost/"


def test_an_allowed_network_is_reached_by_address(serve: Serve) -> None:
    server = serve(lambda exchange: exchange.answer(b"feed"))
    client = HttpClient(
        user_agent="x",
        limits=FetchLimits(),
        guard=AddressGuard(allowed=(ip_network("127.0.0.0/8"),)),
        now=lambda: datetime(2026, 1, 10, tzinfo=UTC),
    )
    plan = RequestPlan(url=f"http://{server.address}/", accept="*/*")
    assert answered(client.fetch(plan)).body == b"feed"


def test_a_name_that_turns_to_loopback_is_refused(
    serve: Serve, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(lambda exchange: exchange.answer(b"secret"))
    asked: list[str] = []

    def getaddrinfo(host: str, port: int, **_: object) -> list[object]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    plan = RequestPlan(url=f"http://rebind.test:{server.port}/", accept="*/*")
    reply = unanswered(client_for().fetch(plan))
    assert reply.failure.category is ErrorCategory.REFUSED
    assert asked == ["rebind.test"]
    assert server.heads == []


def test_a_name_without_address(client_for: ClientFor, monkeypatch: pytest.MonkeyPatch) -> None:
    def getaddrinfo(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    failure = unanswered(client_for().fetch(PLAN)).failure
    assert failure.category is ErrorCategory.NETWORK
    assert failure.message == "site.test:80 could not be looked up (Name or service not known)"


def test_every_connection_is_made_by_our_backend(
    serve: Serve, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The assumption under the guard: nothing in httpx or httpcore connects or looks up itself."""
    connected: list[object] = []
    plain_connect = socket.socket.connect

    def connect(self: socket.socket, address: tuple[str, int]) -> None:
        connected.append(address)
        plain_connect(self, address)

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a connection went past the backend")

    monkeypatch.setattr(socket.socket, "connect", connect, raising=False)
    monkeypatch.setattr(socket, "create_connection", forbidden)
    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    monkeypatch.setattr(httpcore.SyncBackend, "connect_tcp", forbidden)
    server = serve(hopping)
    assert answered(client_for(server).fetch(PLAN)).body == b"feed"
    assert connected == [("127.0.0.1", server.port)] * 2


def hopping(exchange: Exchange) -> None:
    """One redirect, then the feed."""
    if exchange.path == "/feed":
        exchange.answer(status="301 Moved Permanently", headers="Location: /new\r\n")
    else:
        exchange.answer(b"feed")


def test_the_environment_sends_nothing_through_a_proxy(
    serve: Serve, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert answered(client_for(serve(lambda e: e.answer(b"feed"))).fetch(PLAN)).body == b"feed"


def test_sixteen_threads_share_one_client(serve: Serve, client_for: ClientFor) -> None:
    def script(exchange: Exchange) -> None:
        time.sleep(0.002)
        body = exchange.path.encode() * 500
        exchange.answer(gzip.compress(body), headers="Content-Encoding: gzip\r\n")

    client = client_for(serve(script))

    def fetch(number: int) -> bool:
        path = f"/{number}"
        reply = client.fetch(RequestPlan(url=f"http://site.test{path}", accept="*/*"))
        return answered(reply).body == path.encode() * 500

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(fetch, range(320)))


def test_sixty_four_fetches_are_in_flight_at_once(serve: Serve, client_for: ClientFor) -> None:
    together = threading.Barrier(64, timeout=5)

    def script(exchange: Exchange) -> None:
        together.wait()
        exchange.answer(b"feed")

    client = client_for(serve(script))
    with ThreadPoolExecutor(64) as pool:
        replies = list(pool.map(client.fetch, [PLAN] * 64))
    assert all(answered(reply).body == b"feed" for reply in replies)


def test_no_socket_is_left_open(serve: Serve, client_for: ClientFor) -> None:
    closed: list[bool] = []

    def script(exchange: Exchange) -> None:
        exchange.answer(b"feed")
        exchange.hang()
        closed.append(True)

    server = serve(script)
    client = client_for(server)
    for _ in range(3):
        client.fetch(PLAN)
    deadline = time.monotonic() + 2
    while len(closed) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(closed) == 3
