"""The one client of a process: a request plan becomes a reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

import httpx

from sourcemon.core.replies import (
    ErrorCategory,
    Failure,
    FetchLimits,
    Headers,
    Hop,
    NoResponse,
    Reply,
    RequestPlan,
    Response,
    Validators,
)
from sourcemon.net.backend import GuardedBackend
from sourcemon.net.bodies import Body, read_body
from sourcemon.net.deadline import Deadline
from sourcemon.net.failures import WORLD, failure_of, named_host
from sourcemon.net.guard import AddressGuard
from sourcemon.net.lookups import destinations
from sourcemon.net.redirects import Target, askable_url, target_of
from sourcemon.net.transport import DEADLINE, OneShotTransport

Heard = Callable[[Response], None]
_WITHOUT_BODY = frozenset({204, 304})
_WIRE = "latin-1"
"""Header values are bytes; Latin-1 gives each byte a character and takes it back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """The next request of a fetch: where to, and the redirects that led there."""

    url: str
    hops: tuple[Hop, ...] = ()


def in_silence(_head: Response) -> None:
    """Take no notice of a head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fetch:
    """What stays the same over all hops of a fetch."""

    plan: RequestPlan
    deadline: Deadline
    heard: Heard


class HttpClient:
    """Fetches planned URLs, redirects included, within limits and past a guard.

    For any number of threads, for the life of the process. It decides nothing about *when*, waits
    for nobody, tries nothing twice, and reads no body but to unpack it. The transport is driven
    without ``httpx.Client``, which logs every URL, keeps cookies and raises on an unusable
    ``Location``.
    """

    def __init__(
        self,
        *,
        user_agent: str,
        limits: FetchLimits,
        guard: AddressGuard,
        now: Callable[[], datetime],
        resolver: Mapping[str, str] = MappingProxyType({}),
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """``resolver`` sends hosts to ``address`` or ``address:port``, past look-up and guard.

        ``transport`` replaces the network, guard and resolver included.

        Raises:
            ValueError: the user agent is no header value, or ``resolver`` names no address.
        """
        if not user_agent.strip() or not user_agent.isprintable():
            raise ValueError(f"{user_agent!r} cannot be sent as User-Agent")
        self._user_agent = user_agent.strip().encode(_WIRE)
        self._limits = limits
        self._now = now
        backend = GuardedBackend(guard=guard, limits=limits, names=destinations(resolver))
        self._transport = transport or OneShotTransport(backend)
        self._is_closed = False

    def fetch(self, plan: RequestPlan, *, heard: Heard = in_silence) -> Reply:
        """What came of asking for ``plan``: a response, or why there is none.

        Validators go along every hop: those that are stored came from the end of the same walk.
        ``heard`` is given the head of the answer, its body empty, before any of the body is read:
        a slow body must not keep from us what the head says. ``sent_at`` and ``received_at`` are
        those of the last request; a redirect that was not followed because its target is refused
        is the last hop, and ``url`` the target.

        Raises:
            Stopped: the caller was told to stop, see :mod:`sourcemon.net.deadline`.
            RuntimeError: the client is closed.
            ValueError, httpx.LocalProtocolError: a validator or ``accept`` is no header value.
        """
        if self._is_closed:
            raise RuntimeError("the client is closed")
        deadline = Deadline.after(self._limits.total_timeout)
        fetch = _Fetch(plan=plan, deadline=deadline, heard=heard)
        outcome: _Step | Reply = _Step(url=plan.url)
        while isinstance(outcome, _Step):
            outcome = self._ask(fetch, outcome)
        return outcome

    def close(self) -> None:
        """End the client; fetches under way are not cut off and end within their limits."""
        self._is_closed = True
        self._transport.close()

    def _ask(self, fetch: _Fetch, step: _Step) -> _Step | Reply:
        """One request, and what follows from its response."""
        fetch.deadline.require_going_on()
        sent_at = self._now()
        try:
            request = self._request(fetch.plan, step.url, fetch.deadline)
            answer = self._transport.handle_request(request)
        except WORLD as problem:
            failure = failure_of(problem, host=named_host(step.url))
            return self._without_response(step, failure, sent_at)
        try:
            return self._judged(fetch, step, answer, sent_at)
        finally:
            answer.close()

    def _judged(
        self, fetch: _Fetch, step: _Step, answer: httpx.Response, sent_at: datetime
    ) -> _Step | Reply:
        """A response as a reply, or the step that its redirect asks for."""
        received_at = self._now()
        headers = _headers_of(answer)
        host = named_host(step.url)
        if _size_of(headers) > self._limits.max_header_bytes:
            failure = Failure(ErrorCategory.TOO_LARGE, f"{host} sent too many header bytes")
            return self._without_response(step, failure, sent_at)
        status = answer.status_code
        target = target_of(step.url, status, headers, received_at=received_at)
        if target is not None:
            hop = Hop(url=step.url, status=status, headers=headers, received_at=received_at)
            return self._onward(step, hop, target, sent_at)
        head = Response(
            url=step.url,
            status=status,
            headers=headers,
            body=b"",
            hops=step.hops,
            sent_at=sent_at,
            received_at=received_at,
            conditional=bool(fetch.plan.validators),
        )
        fetch.heard(head)
        body = self._body_of(answer, headers, host)
        return replace(
            head,
            body=body.content,
            body_failure=body.failure,
            bytes_received=body.received,
        )

    def _onward(self, step: _Step, hop: Hop, target: Target, sent_at: datetime) -> _Step | Reply:
        """The next step of a redirect, or the refusal to take it."""
        onward = _Step(url=target.url, hops=(*step.hops, hop))
        refusal = target.refusal
        if target.url in {known.url for known in onward.hops}:
            refusal = "the redirects go in a circle"
        elif len(step.hops) >= self._limits.max_redirects:
            refusal = f"more than {self._limits.max_redirects} redirects"
        if refusal is None:
            return onward
        message = f"{named_host(hop.url)} redirects to {named_host(target.url)}: {refusal}"
        return self._without_response(onward, Failure(ErrorCategory.REFUSED, message), sent_at)

    def _body_of(self, answer: httpx.Response, headers: Headers, host: str) -> Body:
        if answer.status_code in _WITHOUT_BODY:
            return Body()
        pieces = answer.stream
        if not isinstance(pieces, httpx.SyncByteStream):
            raise TypeError("the transport must be a synchronous one")
        return read_body(pieces, headers=headers, limits=self._limits, host=host)

    def _without_response(self, step: _Step, failure: Failure, sent_at: datetime) -> NoResponse:
        return NoResponse(
            url=step.url,
            failure=failure,
            hops=step.hops,
            sent_at=sent_at,
            received_at=self._now(),
        )

    def _request(self, plan: RequestPlan, url: str, deadline: Deadline) -> httpx.Request:
        """The GET for one step.

        Raises:
            httpx.InvalidURL, httpx.UnsupportedProtocol: as :func:`askable_url`.
            ValueError: as :meth:`fetch`.
        """
        headers = [
            (b"User-Agent", self._user_agent),
            (b"Accept", plan.accept.encode(_WIRE)),
            (b"Accept-Encoding", b"gzip, deflate"),
            (b"Connection", b"close"),  # who keeps none open must say so (RFC 9112 section 9.3)
            *_conditions(plan.validators),
        ]
        return httpx.Request(
            "GET", askable_url(url), headers=headers, extensions={DEADLINE: deadline}
        )


def _conditions(validators: Validators) -> Iterable[tuple[bytes, bytes]]:
    """The header fields that make a request conditional, byte for byte as they were received."""
    if validators.etag is not None:
        yield b"If-None-Match", validators.etag.encode(_WIRE)
    if validators.last_modified is not None:
        yield b"If-Modified-Since", validators.last_modified.encode(_WIRE)


def _headers_of(answer: httpx.Response) -> Headers:
    return Headers(
        tuple((name.decode(_WIRE), value.decode(_WIRE)) for name, value in answer.headers.raw)
    )


def _size_of(headers: Headers) -> int:
    """Bytes of the fields as they came, separators included."""
    return sum(len(name) + len(value) + 4 for name, value in headers.fields)
