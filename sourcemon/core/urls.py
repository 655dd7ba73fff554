"""URLs as we store and compare them. No look-ups, and no byte of a path or query is rewritten."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from urllib.parse import SplitResult, urlsplit, urlunsplit

from sourcemon.errors import BadUrl

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_LENGTH = 8_000
TRACKING = ("utm_", "fbclid", "gclid", "mc_cid", "mc_eid")
"""Names, or beginnings of names, of parameters that tell where a reader came from."""

_CONTROLS = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Control characters, lone surrogates, line and paragraph separators."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_HALF_A_SCHEME = re.compile(r"https?:", re.IGNORECASE)
_FEED = re.compile(r"feed:(//)?", re.IGNORECASE)
_PORT = re.compile(r":([0-9]*)$")
_NO_HOST_CHARACTERS = frozenset("\\^|<>\"{}`%,;!$&'()*+=~")


def pollable_url(text: str) -> str:
    """The URL to store for what a person typed, without fragment and default port.

    ``feed:`` prefixes are taken off and a missing scheme becomes ``https``; scheme and host are
    in lower case, path and query as they are.

    Raises:
        BadUrl: no host, a scheme other than http and https, an impossible port, white space or
            control characters inside, credentials before the host, or more than 8000 characters.
    """
    url = _with_scheme(text.strip())
    if any(c.isspace() or unicodedata.category(c) in _CONTROLS for c in url):
        raise BadUrl(url, "it has white space or control characters inside")
    parts = _split(url)
    if "@" in parts.netloc:
        raise BadUrl(url, "credentials do not belong in a URL; give the address without them")
    if len(url) > MAX_URL_LENGTH:
        raise BadUrl(url, f"it is longer than {MAX_URL_LENGTH} characters")
    return urlunsplit((parts.scheme, _netloc(parts), parts.path or "/", parts.query, ""))


def comparable_url(url: str) -> str:
    """``url`` without what makes no difference to a reader; equal results mean the same resource.

    Dropped: the scheme (http and https are one), a default port, the fragment, a trailing slash
    of the path, and tracking parameters. Text that is no URL comes back as it is.
    """
    try:
        parts = urlsplit(url.strip())
        netloc = _netloc(parts)
    except ValueError:
        return url.strip()
    if not netloc:
        return url.strip()
    kept = [p for p in parts.query.split("&") if not p.lower().startswith(TRACKING)]
    return urlunsplit(("", netloc, parts.path.rstrip("/") or "/", "&".join(kept), ""))


def host_of(url: str) -> str:
    """``host:port`` of a URL, the unit of politeness; the port is always named."""
    parts = urlsplit(url)
    port = parts.port or DEFAULT_PORTS.get(parts.scheme.lower(), 0)
    return f"{_host(parts)}:{port}"


def origin_of(url: str) -> tuple[str, str]:
    """Scheme and ``host:port``: what credentials are bound to (RFC 6454)."""
    return urlsplit(url).scheme.lower(), host_of(url)


def _with_scheme(text: str) -> str:
    """``text`` with the scheme that a person leaves out or a feed link hides.

    Raises:
        BadUrl: the slashes after the scheme are missing.
    """
    url = _FEED.sub("", text, count=1) if _FEED.match(text) else text
    if _SCHEME.match(url):
        return url
    if _HALF_A_SCHEME.match(url):
        raise BadUrl(url, "a scheme is followed by two slashes, as in https://")
    return f"https://{url}"


def _split(url: str) -> SplitResult:
    """``url`` in parts.

    Raises:
        BadUrl: as :func:`pollable_url`; its words never repeat credentials.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        host = _host(parts)
        readable = _has_readable_netloc(parts)
    except ValueError:
        readable = False
    if not readable:
        raise BadUrl(url, "it is malformed (its host or its port cannot be read)")
    if parts.scheme.lower() not in DEFAULT_PORTS:
        raise BadUrl(url, f"only http and https can be polled, not {parts.scheme!r}")
    if not host:
        raise BadUrl(url, "it names no host")
    if port == 0:
        raise BadUrl(url, "port 0 cannot be connected to")
    return parts


def _has_readable_netloc(parts: SplitResult) -> bool:
    """Whether host and port are what they seem: ASCII digits, and in brackets an address.

    Raises:
        ValueError: what stands in brackets is no address.
    """
    after_user = parts.netloc.rpartition("@")[2]
    if after_user.startswith("["):
        ipaddress.IPv6Address(parts.hostname or "")
        return True
    name = _PORT.sub("", after_user)
    return ":" not in name and not _NO_HOST_CHARACTERS & set(name)


def _host(parts: SplitResult) -> str:
    """The host in lower case without its root dot, IPv6 in brackets; empty when there is none.

    A label in ASCII form (``xn--``) is written in letters, so that a name has one form.
    """
    host = (parts.hostname or "").rstrip(".")
    if ":" in host:
        return f"[{host}]"
    return ".".join(map(_in_letters, host.split("."))) if "xn--" in host else host


def _in_letters(label: str) -> str:
    """A label of a name in letters, or as it is where that would not be the same label."""
    if not label.startswith("xn--"):
        return label
    try:
        letters = label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return label
    is_same = letters.isprintable() and letters == letters.lower() and not letters.isascii()
    return letters if is_same and not _NO_HOST_CHARACTERS & set(letters) else label


def _netloc(parts: SplitResult) -> str:
    """Host and port, the port left out where it is the default."""
    port = parts.port
    if port is None or port == DEFAULT_PORTS.get(parts.scheme.lower()):
        return _host(parts)
    return f"{_host(parts)}:{port}"
