"""One connection per request, without a pool, made by the guarded backend and nobody else."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpcore
import httpx

from sourcemon.core.urls import DEFAULT_PORTS
from sourcemon.net.backend import GuardedBackend
from sourcemon.net.deadline import Deadline
from sourcemon.net.streams import BoundedStream

DEADLINE = "sourcemon.deadline"
"""The request extension that holds the :class:`Deadline` of the fetch; optional."""

_HTTPX_FOR: Mapping[type[Exception], type[httpx.TransportError]] = {
    httpcore.ConnectTimeout: httpx.ConnectTimeout,
    httpcore.ReadTimeout: httpx.ReadTimeout,
    httpcore.WriteTimeout: httpx.WriteTimeout,
    httpcore.PoolTimeout: httpx.PoolTimeout,
    httpcore.TimeoutException: httpx.TimeoutException,
    httpcore.ConnectError: httpx.ConnectError,
    httpcore.ReadError: httpx.ReadError,
    httpcore.WriteError: httpx.WriteError,
    httpcore.NetworkError: httpx.NetworkError,
    httpcore.ProxyError: httpx.ProxyError,
    httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
    httpcore.LocalProtocolError: httpx.LocalProtocolError,
    httpcore.RemoteProtocolError: httpx.RemoteProtocolError,
    httpcore.ProtocolError: httpx.ProtocolError,
}


class OneShotTransport(httpx.BaseTransport):
    """Plain HTTP/1.1, each request on a connection of its own; shared by any number of threads.

    There is nothing to share but the TLS context: no pool whose bookkeeping grows, no connection
    reused under another request, no limit below what the callers' threads need. It keeps no
    cookies, follows no redirect, knows no proxy and reads nothing from the environment.
    """

    def __init__(
        self, backend: GuardedBackend, *, ssl_context: ssl.SSLContext | None = None
    ) -> None:
        self._backend = backend
        self._limits = backend.limits
        self._ssl_context = ssl_context or httpx.create_ssl_context(trust_env=False)
        # Once: setting it per connection, as httpcore does, is no thread-safe call in OpenSSL.
        self._ssl_context.set_alpn_protocols(["http/1.1"])

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The response's head; its stream holds the connection until it is closed.

        Raises:
            httpx.TransportError: as :data:`_HTTPX_FOR`; the cause is httpcore's or the backend's.
        """
        with _as_httpx():
            stream = self._open(request)
            connection = httpcore.HTTP11Connection(_origin(request.url), stream)
            try:
                response = connection.handle_request(self._core_request(request))
            except BaseException:
                connection.close()
                raise
        stream.head_is_complete()
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_ConnectionBody(connection, response),
            extensions=response.extensions,
        )

    def _open(self, request: httpx.Request) -> BoundedStream:
        """A connection for one request, under TLS when its URL says so."""
        deadline = request.extensions.get(DEADLINE)
        if not isinstance(deadline, Deadline):
            deadline = Deadline.after(self._limits.total_timeout)
        host = request.url.raw_host.decode("ascii")
        stream = self._backend.connect(host, _port(request.url), deadline)
        if request.url.scheme == "http":
            return stream
        timeout = self._limits.connect_timeout.total_seconds()
        return stream.start_tls(self._ssl_context, server_hostname=host, timeout=timeout)

    def _core_request(self, request: httpx.Request) -> httpcore.Request:
        """The request in httpcore's terms, with our patience."""
        timeout = self._limits.read_timeout.total_seconds()
        url = request.url
        return httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            extensions={"timeout": {"read": timeout, "write": timeout}},
        )


class _ConnectionBody(httpx.SyncByteStream):
    """The body of one response; closing it closes the connection."""

    def __init__(self, connection: httpcore.HTTP11Connection, response: httpcore.Response) -> None:
        self._connection = connection
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._connection.close()


@contextmanager
def _as_httpx() -> Iterator[None]:
    """Raise httpcore's exceptions as those of httpx with the same name; the first is the cause."""
    try:
        yield
    except tuple(_HTTPX_FOR) as problem:
        kind = next(_HTTPX_FOR[base] for base in type(problem).__mro__ if base in _HTTPX_FOR)
        raise kind(str(problem)) from problem


def _origin(url: httpx.URL) -> httpcore.Origin:
    return httpcore.Origin(scheme=url.raw_scheme, host=url.raw_host, port=_port(url))


def _port(url: httpx.URL) -> int:
    return url.port or DEFAULT_PORTS[url.scheme]
