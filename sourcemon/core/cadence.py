"""Our own wish when to poll next: the source's interval, slowed where a server gives no hint."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from sourcemon.core.durations import describe
from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.core.sources import Source, SourceKind

CAPPED_KINDS = frozenset({SourceKind.FEED})
"""The kinds whose servers rarely say how often they want to be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CadencePolicy:
    """How our own interval is stretched; nothing here ever makes a poll earlier."""

    jitter: float = 0.1
    """The largest share of the interval that chance adds."""
    ceiling_with_validators: timedelta = timedelta(minutes=5)
    """The shortest interval for a public feed that can answer 304."""
    ceiling_without: timedelta = timedelta(hours=1)
    """The shortest interval for a public feed that sends every byte each time."""


def next_cadence(
    source: Source,
    policy: CadencePolicy,
    *,
    unvalidated: bool,
    hinted: bool,
    now: datetime,
    roll: float,
) -> Objection:
    """The cadence after a poll that ended at ``now``: ``now + interval * (1 + jitter * roll)``.

    ``unvalidated``: the server answered and gave us neither ETag nor Last-Modified, so that each
    poll costs it every byte. ``hinted``: it said itself how often it wants to be asked, so that
    the ceiling is not ours to set.
    """
    interval, because = source.interval, f"every {describe(source.interval)}"
    ceiling = policy.ceiling_without if unvalidated else policy.ceiling_with_validators
    if _is_capped(source) and not hinted and interval < ceiling:
        reason = "the server sends no validators" if unvalidated else "the server gives no hint"
        because = f"{because}, raised by ceiling to {describe(ceiling)}: {reason}"
        interval = ceiling
    return Objection(ObjectionName.CADENCE, now + interval * (1 + policy.jitter * roll), because)


def is_public_host(url: str) -> bool:
    """Whether the URL's host is a name or a public address, not a literal local one."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return True


def _is_capped(source: Source) -> bool:
    return source.kind in CAPPED_KINDS and is_public_host(source.url)
