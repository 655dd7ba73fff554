"""From plan to reply, the network replaced by a function."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import httpx
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

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
URL = "https://kiosk.test/feed"
Handler = Callable[[httpx.Request], httpx.Response]
Fields = list[tuple[bytes, bytes]]


class FakeSite:
    """Answers by URL and keeps the requests; 404 for what it does not know."""

    def __init__(self) -> None:
        self._pages: dict[str, Handler | httpx.Response] = {}
        self.requests: list[httpx.Request] = []

    def add(self, url: str, page: Handler | httpx.Response) -> FakeSite:
        self._pages[url] = page
        return self

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        page = self._pages.get(str(request.url))
        if page is None:
            return httpx.Response(404)
        return page if isinstance(page, httpx.Response) else page(request)


def to(
    location: str, status: int = 302, more: Mapping[str, str] = MappingProxyType({})
) -> httpx.Response:
    return httpx.Response(status, headers={"Location": location, **more})


def fetch(
    site: Handler, url: str = URL, *, validators: Validators | None = None, **limits: int
) -> Reply:
    clock = Ticking()
    client = HttpClient(
        user_agent="sourcemon/0 (+mailto:op@kiosk.test)",
        limits=FetchLimits(**limits),  # type: ignore[arg-type]
        guard=AddressGuard(),
        now=clock.now,
        transport=httpx.MockTransport(site),
    )
    plan = RequestPlan(url=url, accept="text/xml", validators=validators or Validators())
    return client.fetch(plan)


class Ticking:
    """A clock that is a second later each time it is read."""

    def __init__(self) -> None:
        self._next = NOW

    def now(self) -> datetime:
        self._next += timedelta(seconds=1)
        return self._next - timedelta(seconds=1)


def answered(reply: Reply) -> Response:
    assert isinstance(reply, Response), reply
    return reply


def refused(reply: Reply) -> NoResponse:
    assert isinstance(reply, NoResponse), reply
    assert reply.failure.category is ErrorCategory.REFUSED
    return reply


def test_a_response_with_everything_it_came_with() -> None:
    site = FakeSite().add(URL, httpx.Response(200, headers=[("X-A", "1"), ("x-a", "2")], text="hi"))
    reply = answered(fetch(site))
    assert (reply.url, reply.status, reply.body, reply.hops) == (URL, 200, b"hi", ())
    assert list(reply.headers.all("X-a")) == ["1", "2"]
    assert reply.bytes_received == 2
    assert reply.sent_at == NOW
    assert reply.received_at == NOW + timedelta(seconds=1)
    assert reply.body_failure is None
    assert not reply.conditional


def test_exactly_these_headers_are_sent() -> None:
    site = FakeSite()
    fetch(site)
    assert site.requests[0].headers.raw == [
        (b"Host", b"kiosk.test"),
        (b"User-Agent", b"sourcemon/0 (+mailto:op@kiosk.test)"),
        (b"Accept", b"text/xml"),
        (b"Accept-Encoding", b"gzip, deflate"),
        (b"Connection", b"close"),
    ]


VALIDATORS = {
    "none": (Validators(), []),
    "an ETag": (Validators(etag='W/"a-gzip"'), [(b"If-None-Match", b'W/"a-gzip"')]),
    "an ETag that is no ETag": (Validators(etag="a b"), [(b"If-None-Match", b"a b")]),
    "an ETag of Latin-1 bytes": (
        Validators(etag='"\xe9\xff"'),
        [(b"If-None-Match", b'"\xe9\xff"')],
    ),
    "a date that is no date": (
        Validators(last_modified="yesterday"),
        [(b"If-Modified-Since", b"yesterday")],
    ),
    "both": (
        Validators(etag='"a"', last_modified="Fri, 09 Jan 2026 07:00:00 GMT"),
        [
            (b"If-None-Match", b'"a"'),
            (b"If-Modified-Since", b"Fri, 09 Jan 2026 07:00:00 GMT"),
        ],
    ),
}


@pytest.mark.parametrize(("validators", "fields"), VALIDATORS.values(), ids=VALIDATORS)
def test_validators_go_out_byte_for_byte(validators: Validators, fields: Fields) -> None:
    site = FakeSite()
    reply = answered(fetch(site, validators=validators))
    assert site.requests[0].headers.raw[5:] == fields
    assert reply.conditional is bool(fields)


@pytest.mark.parametrize("etag", ['"\xe9\xff"', '"a\x01b"', 'W/"x', "''"])
def test_a_validator_comes_back_as_it_came(etag: str) -> None:
    site = FakeSite().add(URL, httpx.Response(200, headers=[(b"ETag", etag.encode("latin-1"))]))
    received = answered(fetch(site)).headers.get("etag")
    assert received == etag
    fetch(site, validators=Validators(etag=received))
    assert (b"If-None-Match", etag.encode("latin-1")) in site.requests[1].headers.raw


def test_a_validator_that_no_server_can_have_sent_is_our_mistake() -> None:
    with pytest.raises(ValueError, match="latin-1"):
        fetch(FakeSite(), validators=Validators(etag="\u2603"))


def test_the_host_is_named_without_user_and_fragment() -> None:
    site = FakeSite()
    fetch(site, "https://user:secret@kiosk.test:8443/feed#top")
    request = site.requests[0]
    assert str(request.url) == "https://kiosk.test:8443/feed"
    assert request.headers["host"] == "kiosk.test:8443"
    assert "authorization" not in request.headers


def test_no_cookie_is_sent_to_the_next_hop_or_request() -> None:
    site = FakeSite().add(URL, to("/two", more={"Set-Cookie": "a=1"}))
    fetch(site)
    fetch(site)
    assert len(site.requests) == 4
    assert all("cookie" not in request.headers for request in site.requests)


def test_hops_are_recorded_with_who_sent_them_and_when() -> None:
    site = FakeSite()
    site.add(URL, to("https://new.test/", 301, {"ETag": '"x"'}))
    site.add("https://new.test/", to("/rss", 308))
    site.add("https://new.test/rss", httpx.Response(200, text="feed"))
    reply = answered(fetch(site))
    assert reply.url == "https://new.test/rss"
    assert [(hop.url, hop.status) for hop in reply.hops] == [(URL, 301), ("https://new.test/", 308)]
    assert reply.hops[0].headers.get("etag") == '"x"'
    assert [hop.received_at for hop in reply.hops] == [
        NOW + timedelta(seconds=1),
        NOW + timedelta(seconds=3),
    ]
    assert reply.sent_at == NOW + timedelta(seconds=4)


def test_validators_go_along_every_hop() -> None:
    site = FakeSite().add(URL, to("https://cdn.test/x"))
    site.add("https://cdn.test/x", httpx.Response(304))
    reply = answered(fetch(site, validators=Validators(etag='"a"')))
    assert reply.status == 304
    assert reply.conditional
    assert [request.headers["if-none-match"] for request in site.requests] == ['"a"', '"a"']


def test_five_redirects_are_followed_and_the_sixth_is_refused() -> None:
    site = FakeSite()
    for number in range(6):
        site.add(f"https://kiosk.test/{number}", to(f"/{number + 1}"))
    reply = refused(fetch(site, "https://kiosk.test/0"))
    assert "redirects" in reply.failure.message
    assert len(site.requests) == 6
    assert reply.url == "https://kiosk.test/6"
    assert len(reply.hops) == 6
    site.add("https://kiosk.test/5", httpx.Response(200))
    assert answered(fetch(site, "https://kiosk.test/0")).status == 200


def test_a_circle_ends_where_it_closes() -> None:
    site = FakeSite().add(URL, to("/two")).add("https://kiosk.test/two", to("/feed"))
    reply = refused(fetch(site))
    assert "circle" in reply.failure.message
    assert len(site.requests) == 2


def test_a_redirect_to_itself_is_asked_once() -> None:
    site = FakeSite().add(URL, to("/feed"))
    refused(fetch(site))
    assert len(site.requests) == 1


REFUSED = {
    "from https to http": ("http://kiosk.test/", "from https to http"),
    "to another scheme": ("ftp://kiosk.test/", "only http and https"),
}


@pytest.mark.parametrize(("location", "why"), REFUSED.values(), ids=REFUSED)
def test_refused_redirects(location: str, why: str) -> None:
    site = FakeSite().add(URL, to(location, 301))
    reply = refused(fetch(site))
    assert why in reply.failure.message
    assert reply.url == location
    assert [hop.status for hop in reply.hops] == [301]
    assert len(site.requests) == 1


def test_a_user_in_a_location_is_never_sent_or_kept() -> None:
    site = FakeSite().add(URL, to("https://user:secret@new.test/"))
    reply = answered(fetch(site))
    assert reply.url == "https://new.test/"
    assert "authorization" not in site.requests[1].headers
    refusal = refused(fetch(FakeSite().add(URL, to("ftp://user:secret@new.test/"))))
    assert "secret" not in refusal.failure.message + refusal.url


def test_a_redirect_with_retry_after_is_the_answer() -> None:
    site = FakeSite().add(URL, to("/new", 302, {"Retry-After": "120"}))
    reply = answered(fetch(site))
    assert reply.status == 302
    assert reply.hops == ()
    assert len(site.requests) == 1


@pytest.mark.parametrize("location", [None, "", "https://["])
def test_a_redirect_to_nowhere_is_the_answer(location: str | None) -> None:
    page = httpx.Response(302, headers={} if location is None else {"Location": location})
    assert answered(fetch(FakeSite().add(URL, page))).status == 302


UNASKABLE = [
    "ftp://kiosk.test/",
    "kiosk.test/feed",
    "https://",
    "https://[::1",
    "http://0177.0.0.1/",
    "https://kiosk.test:99999/",
    "https://\u2603\u2603..test/",
]


@pytest.mark.parametrize("url", UNASKABLE)
def test_a_url_that_cannot_be_asked_is_refused(url: str) -> None:
    site = FakeSite()
    reply = refused(fetch(site, url))
    assert reply.url == url
    assert site.requests == []


@pytest.mark.parametrize("status", [204, 304])
def test_no_body_is_read_or_unpacked_where_there_is_none(status: int) -> None:
    headers = {"Content-Encoding": "gzip", "Content-Length": "99999999999"}
    page = httpx.Response(status, headers=headers, stream=Unreadable())
    reply = answered(fetch(FakeSite().add(URL, page)))
    assert (reply.status, reply.body, reply.body_failure) == (status, b"", None)


class Unreadable(httpx.SyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        raise AssertionError("the body was read")


def test_a_body_that_cannot_be_used_leaves_status_and_headers() -> None:
    torn = gzip.compress(b"feed" * 100)[:-20]
    headers = {"Content-Encoding": "gzip", "X-Poll-Interval": "60"}
    page = httpx.Response(503, headers=headers, stream=httpx.ByteStream(torn))
    reply = answered(fetch(FakeSite().add(URL, page)))
    assert reply.status == 503
    assert reply.headers.get("x-poll-interval") == "60"
    assert reply.body == b""
    assert reply.body_failure is not None
    assert reply.body_failure.category is ErrorCategory.NETWORK
    assert reply.bytes_received == len(torn)


def test_too_many_header_bytes_are_no_response() -> None:
    page = httpx.Response(200, headers={"X-Big": "x" * 65_536})
    reply = fetch(FakeSite().add(URL, page))
    assert isinstance(reply, NoResponse)
    assert reply.failure.category is ErrorCategory.TOO_LARGE


EXCEPTIONS = {
    "a timeout": (httpx.ReadTimeout("silence"), ErrorCategory.TIMEOUT),
    "a refused connection": (httpx.ConnectError("refused"), ErrorCategory.NETWORK),
    "bad HTTP": (httpx.RemoteProtocolError("bad"), ErrorCategory.NETWORK),
}


@pytest.mark.parametrize(("problem", "category"), EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_what_the_transport_raises_is_a_failure(
    problem: Exception, category: ErrorCategory
) -> None:
    def site(request: httpx.Request) -> httpx.Response:
        raise problem

    reply = fetch(site)
    assert isinstance(reply, NoResponse)
    assert reply.failure.category is category
    assert reply.failure.message.startswith("kiosk.test:443 ")
    assert reply.url == URL


OURS = {
    "a request that cannot be sent": httpx.LocalProtocolError("bad header"),
    "a bug": KeyError("bug"),
}


@pytest.mark.parametrize("problem", OURS.values(), ids=OURS)
def test_a_mistake_of_ours_is_raised(problem: Exception) -> None:
    def site(request: httpx.Request) -> httpx.Response:
        raise problem

    with pytest.raises(type(problem)):
        fetch(site)


def test_a_response_is_closed_even_when_it_is_not_read() -> None:
    closed: list[str] = []

    class Counted(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield b"page"

        def close(self) -> None:
            closed.append("closed")

    site = FakeSite()
    site.add(URL, lambda _: httpx.Response(302, headers={"Location": "/2"}, stream=Counted()))
    site.add("https://kiosk.test/2", lambda _: httpx.Response(200, stream=Counted()))
    fetch(site)
    assert closed == ["closed", "closed"]


def test_a_closed_client_is_a_mistake() -> None:
    client = HttpClient(
        user_agent="x",
        limits=FetchLimits(),
        guard=AddressGuard(),
        now=lambda: NOW,
        transport=httpx.MockTransport(FakeSite()),
    )
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.fetch(RequestPlan(url=URL, accept="*/*"))


@pytest.mark.parametrize("user_agent", ["", "  ", "a\r\nX: y", "caf\u2603"])
def test_a_user_agent_that_cannot_be_sent_is_refused_at_once(user_agent: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - one of them is Python's own
        HttpClient(
            user_agent=user_agent,
            limits=FetchLimits(),
            guard=AddressGuard(),
            now=lambda: NOW,
            transport=httpx.MockTransport(FakeSite()),
        )
