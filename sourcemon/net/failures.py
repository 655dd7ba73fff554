"""The exceptions of a fetch as values: which of them the world caused, and in what words."""

from __future__ import annotations

import errno
import ssl
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import httpx

from sourcemon.core.replies import ErrorCategory, Failure
from sourcemon.core.urls import host_of
from sourcemon.net.backend import AddressRefused, LookUpFailed, LookUpTimeout
from sourcemon.net.streams import HeadTooLarge

_LONGEST_DETAIL = 200
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

_BY_CAUSE: Mapping[type[Exception], tuple[ErrorCategory, str]] = {
    AddressRefused: (
        ErrorCategory.REFUSED,
        "was not asked, SOURCEMON_HTTP__ALLOWED_NETWORKS does not allow it",
    ),
    LookUpFailed: (ErrorCategory.NETWORK, "could not be looked up"),
    LookUpTimeout: (ErrorCategory.TIMEOUT, "could not be looked up in time"),
    HeadTooLarge: (ErrorCategory.TOO_LARGE, "sent too many header bytes"),
    ssl.SSLCertVerificationError: (ErrorCategory.TLS, "has no certificate that we trust"),
    ssl.SSLError: (ErrorCategory.TLS, "could not be spoken to over TLS"),
}
"""What lies behind an httpx exception and says more than its class."""

_BY_CLASS: Mapping[type[Exception], tuple[ErrorCategory, str]] = {
    httpx.ConnectTimeout: (ErrorCategory.TIMEOUT, "accepted no connection in time"),
    httpx.ReadTimeout: (ErrorCategory.TIMEOUT, "was too slow"),
    httpx.WriteTimeout: (ErrorCategory.TIMEOUT, "took the request too slowly"),
    httpx.PoolTimeout: (ErrorCategory.TIMEOUT, "had to wait for a connection too long"),
    httpx.TimeoutException: (ErrorCategory.TIMEOUT, "was too slow"),
    httpx.ConnectError: (ErrorCategory.NETWORK, "could not be connected to"),
    httpx.ReadError: (ErrorCategory.NETWORK, "broke the connection"),
    httpx.WriteError: (ErrorCategory.NETWORK, "broke the connection"),
    httpx.CloseError: (ErrorCategory.NETWORK, "broke the connection"),
    httpx.NetworkError: (ErrorCategory.NETWORK, "could not be reached"),
    httpx.RemoteProtocolError: (ErrorCategory.NETWORK, "broke off or spoke no proper HTTP"),
    httpx.ProtocolError: (ErrorCategory.NETWORK, "did not speak proper HTTP"),
    httpx.ProxyError: (ErrorCategory.NETWORK, "could not be reached through the proxy"),
    httpx.UnsupportedProtocol: (ErrorCategory.REFUSED, "was not asked"),
    httpx.InvalidURL: (ErrorCategory.REFUSED, "was not asked, the URL is malformed"),
    httpx.TooManyRedirects: (ErrorCategory.REFUSED, "redirects too often"),
    httpx.DecodingError: (ErrorCategory.PARSE, "sent a body that cannot be unpacked"),
    httpx.TransportError: (ErrorCategory.NETWORK, "could not be reached"),
    httpx.RequestError: (ErrorCategory.NETWORK, "could not be reached"),
    httpx.HTTPError: (ErrorCategory.NETWORK, "could not be reached"),
}

OURS: tuple[type[Exception], ...] = (
    httpx.LocalProtocolError,
    httpx.HTTPStatusError,
    httpx.CookieConflict,
    httpx.StreamError,
)
"""Exceptions that mean a mistake in this program: raised, never recorded as a source's failure."""

WORLD = tuple(_BY_CLASS)
"""Exceptions to catch and hand to :func:`failure_of`; some of :data:`OURS` are subclasses."""


def failure_of(problem: Exception, *, host: str) -> Failure:
    """The failure that an exception of :data:`WORLD` stands for, in one sentence about ``host``.

    Raises:
        Exception: ``problem`` itself, when it is one of :data:`OURS` or this machine is exhausted.
    """
    if isinstance(problem, OURS) or any(map(_is_exhaustion, _causes(problem))):
        raise problem
    category, what = _by_cause(problem) or _first(_BY_CLASS, problem)
    detail = _printable(str(problem))
    return Failure(category, f"{host} {what} ({detail})" if detail else f"{host} {what}")


def named_host(url: str) -> str:
    """``host:port`` of a URL for a sentence; without the port, or no name, where there is none."""
    try:
        has_host = bool(urlsplit(url).hostname)
        return host_of(url).removesuffix(":0") if has_host else "the host"
    except ValueError:
        return "the host"


def _is_exhaustion(cause: BaseException) -> bool:
    """Whether this machine ran out of something: no server is to blame for that."""
    return isinstance(cause, OSError) and cause.errno in _EXHAUSTED


def _by_cause(problem: Exception) -> tuple[ErrorCategory, str] | None:
    """The meaning of the first known exception behind ``problem``."""
    for cause in _causes(problem):
        if isinstance(cause, tuple(_BY_CAUSE)):
            return _first(_BY_CAUSE, cause)
    return None


def _causes(problem: BaseException) -> Iterator[BaseException]:
    cause = problem.__cause__
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _first(
    meanings: Mapping[type[Exception], tuple[ErrorCategory, str]], problem: BaseException
) -> tuple[ErrorCategory, str]:
    """The meaning of the nearest class of ``problem``."""
    return next(meanings[base] for base in type(problem).__mro__ if base in meanings)


def _printable(text: str) -> str:
    """``text`` on one line and short: it may quote what a server sent."""
    line = "".join(c if c.isprintable() else "?" for c in text.strip())
    return line if len(line) <= _LONGEST_DETAIL else line[: _LONGEST_DETAIL - 1] + "…"
