"""URLs in documents: absolute, http or https, fit to be stored."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from sourcemon.core.entries import storable
from sourcemon.core.urls import DEFAULT_PORTS, MAX_URL_LENGTH

_IGNORED = re.compile(r"[\t\r\n\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")


def absolute_url(value: object, *, base: str) -> str | None:
    """``value`` as an absolute http(s) URL of at most 8000 characters, or ``None``.

    Line breaks and other control characters inside are left out and blanks become ``%20``, as
    browsers do (WHATWG URL section 4.4).
    """
    if not isinstance(value, str) or not value.strip():
        return None
    reference = _IGNORED.sub("", storable(value)).strip().replace(" ", "%20")
    try:
        url = urljoin(base, reference)
        parts = urlsplit(url)
        usable = parts.scheme in DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return url if usable and len(url) <= MAX_URL_LENGTH else None
