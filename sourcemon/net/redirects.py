"""Where a redirect leads, and whether we go there. Pure: asks nobody."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urljoin, urlsplit, urlunsplit

import httpx

from sourcemon.core.headers import retry_after
from sourcemon.core.replies import Headers
from sourcemon.core.urls import DEFAULT_PORTS, MAX_URL_LENGTH

FOLLOWED = frozenset({301, 302, 303, 307, 308})
"""300 offers a choice, 304 is no redirect, 305 and 306 are withdrawn (RFC 9110 section 15.4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a redirect leads; ``refusal`` says why we do not go there, ``None`` when we do."""

    url: str
    refusal: str | None = None


def askable_url(text: str) -> httpx.URL:
    """``text`` as it is put into a request: percent-encoded, no user, no fragment, no root dot.

    Raises:
        httpx.UnsupportedProtocol: the scheme is neither http nor https.
        httpx.InvalidURL: it is malformed, names no host, or an impossible port.
    """
    try:
        url = httpx.URL(text)
        named = url.raw_host.decode("ascii")
        _ = url.host  # read wherever a request is made; idna's errors are of this kind
    except UnicodeError as problem:
        raise httpx.InvalidURL("the host is no name") from problem
    if url.scheme not in DEFAULT_PORTS:
        raise httpx.UnsupportedProtocol(f"only http and https are fetched, not {url.scheme[:20]!r}")
    if url.port is not None and not 0 < url.port < 65_536:
        raise httpx.InvalidURL("the port is impossible")
    host = named.rstrip(".")
    if not host:
        raise httpx.InvalidURL("it names no host")
    if "%" in host and ":" not in host:
        raise httpx.InvalidURL("the host is no name")
    if host == named and not {"@", "#"} & set(text):  # the usual case, not parsed twice
        return url
    return url.copy_with(host=host, userinfo=b"", fragment=None)


def target_of(url: str, status: int, headers: Headers, *, received_at: datetime) -> Target | None:
    """Where the response of ``url`` redirects to; ``None`` when it is an answer and no redirect.

    It is an answer, too, when ``Location`` is missing or unusable, and when a ``Retry-After`` asks
    to wait before the redirected request (RFC 9110 section 10.2.3): we do not wait here. The
    fragment of ``url`` is not inherited, a feed has none.
    """
    location = _readable(headers.get("location") or "")
    if status not in FOLLOWED or not location or retry_after(headers, received_at=received_at):
        return None
    try:
        joined = urljoin(url, location)
        target = str(askable_url(joined))
    except httpx.UnsupportedProtocol as problem:
        return Target(url=_without_user(joined), refusal=str(problem))
    except (httpx.InvalidURL, ValueError):
        return None
    is_downgrade = url.lower().startswith("https:") and target.startswith("http:")
    refusal = "no redirect is followed from https to http" if is_downgrade else None
    return Target(url=target, refusal=refusal)


def _without_user(url: str) -> str:
    """A URL that nobody asks, without what may be a password, and short enough to be kept."""
    parts = urlsplit(url)
    _, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=host))[:MAX_URL_LENGTH]


def _readable(location: str) -> str | None:
    """A ``Location`` as text; ``None`` when it holds control characters or nothing.

    Header values come as Latin-1. Most non-ASCII ones are UTF-8 by mistake; the bytes of the rest
    are percent-encoded one by one.
    """
    location = location.strip(" \t")
    if not location or any(c < " " or c == "\x7f" for c in location):
        return None
    try:
        return location.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return "".join(c if c.isascii() else f"%{ord(c):02X}" for c in location)
