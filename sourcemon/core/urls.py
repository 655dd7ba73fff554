"""URLs as we store and compare them. No look-ups, no percent-decoding beyond RFC 3986 section 6."""

from __future__ import annotations

from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from sourcemon.errors import BadUrl

DEFAULT_PORTS = {"http": 80, "https": 443}
_TRACKING = ("utm_", "fbclid", "gclid", "mc_cid", "mc_eid")
MAX_URL_LENGTH = 8_000


def pollable_url(text: str) -> str:
    """The URL to store for what a person typed, without fragment and default port.

    ``feed:`` prefixes are taken off and a missing scheme becomes ``https``.

    Raises:
        BadUrl: no host, a scheme other than http and https, an impossible port, white space or
            control characters inside, credentials before the host, or more than 8000 characters.
    """
    url = _with_scheme(text.strip())
    if any(ord(c) <= 0x20 or ord(c) == 0x7F for c in url):
        raise BadUrl(url, "it has white space or control characters inside")
    if len(url) > MAX_URL_LENGTH:
        raise BadUrl(url[:80] + "…", f"it is longer than {MAX_URL_LENGTH} characters")
    parts = _split(url)
    if parts.username is not None:
        raise BadUrl(url, "credentials do not belong in a URL; give the address without them")
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
    query = urlencode(
        [
            (key, value)
            for key, value in parse_qsl(parts.query, keep_blank_values=True)
            if not key.lower().startswith(_TRACKING)
        ]
    )
    return urlunsplit(("", netloc, parts.path.rstrip("/") or "/", query, ""))


def host_of(url: str) -> str:
    """``host:port`` of a URL, the unit of politeness; the port is always named."""
    parts = urlsplit(url)
    port = parts.port or DEFAULT_PORTS.get(parts.scheme.lower(), 0)
    return f"{(parts.hostname or '').rstrip('.')}:{port}"


def origin_of(url: str) -> tuple[str, str]:
    """Scheme and ``host:port``: what credentials are bound to (RFC 6454)."""
    return urlsplit(url).scheme.lower(), host_of(url)


def _with_scheme(text: str) -> str:
    """``text`` with the scheme that a person leaves out or a feed link hides."""
    lowered = text.lower()
    if lowered.startswith(("feed:http://", "feed:https://")):
        return text[len("feed:") :]
    if lowered.startswith("feed://"):
        return "https://" + text[len("feed://") :]
    return text if "://" in text else f"https://{text}"


def _split(url: str) -> SplitResult:
    """``url`` in parts.

    Raises:
        BadUrl: as :func:`pollable_url`; its words never repeat credentials.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadUrl(url, "it is malformed (its host or its port cannot be read)") from None
    if parts.scheme.lower() not in DEFAULT_PORTS:
        raise BadUrl(url, f"only http and https can be polled, not {parts.scheme or 'nothing'!r}")
    if not parts.hostname:
        raise BadUrl(url, "it names no host")
    if port == 0:
        raise BadUrl(url, "port 0 cannot be connected to")
    return parts


def _netloc(parts: SplitResult) -> str:
    """Host without its root dot, IPv6 in brackets, and the port unless it is the default."""
    host = (parts.hostname or "").rstrip(".")
    shown = f"[{host}]" if ":" in host else host
    port = parts.port
    if port is None or port == DEFAULT_PORTS.get(parts.scheme.lower()):
        return shown
    return f"{shown}:{port}"
