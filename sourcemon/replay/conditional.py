"""A representation to an answer: compression, validators and 304, as RFC 9110 section 13 has it."""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto

from sourcemon.core.replies import Headers
from sourcemon.replay.answers import Answer, Request, http_date

_TAG = re.compile(r'(?:W/)?("[^"]*")')
_BODY_FIELDS = ("Content-Type", "Content-Encoding")


class EtagKind(Enum):
    """Whether an entity tag is sent, and what it promises."""

    STRONG = auto()
    WEAK = auto()
    NONE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Representation:
    """What a path holds at an instant, before anybody asked how to have it."""

    body: bytes
    content_type: str
    changed_at: datetime | None
    """Becomes ``Last-Modified``; ``None`` sends none."""
    etag: EtagKind = EtagKind.STRONG
    gzips: bool = False
    """Whether a client that accepts gzip gets it."""


def answer_conditionally(request: Request, held: Representation) -> Answer:
    """200 with the body, or 304 without it when the client's copy is the one held.

    The tag is computed from the bytes sent, so plain and gzipped bodies differ in theirs.
    """
    full = _full_answer(request, held)
    if not _is_unchanged(request, full, held.changed_at):
        return full
    return Answer(status=304, headers=full.without_headers(*_BODY_FIELDS).headers)


def _full_answer(request: Request, held: Representation) -> Answer:
    fields = [("Content-Type", held.content_type)]
    body = held.body
    if held.gzips:
        fields.append(("Vary", "Accept-Encoding"))
    if held.gzips and _accepts_gzip(request):
        # mtime=0: the same content must give the same bytes, or the tag would change.
        body = gzip.compress(body, mtime=0)
        fields.append(("Content-Encoding", "gzip"))
    if held.etag is not EtagKind.NONE:
        fields.append(("ETag", _tag(body, held.etag)))
    if held.changed_at is not None:
        fields.append(("Last-Modified", http_date(held.changed_at)))
    return Answer(status=200, headers=Headers(tuple(fields)), body=body)


def _tag(body: bytes, kind: EtagKind) -> str:
    quoted = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    return f"W/{quoted}" if kind is EtagKind.WEAK else quoted


def _is_unchanged(request: Request, full: Answer, changed_at: datetime | None) -> bool:
    """Whether the client's copy is current; ``If-None-Match`` silences ``If-Modified-Since``."""
    wanted = ", ".join(request.headers.all("if-none-match"))
    if wanted:
        return _names(wanted, full.headers.get("etag"))
    since = _instant(request.headers.get("if-modified-since"))
    if since is None or changed_at is None:
        return False
    return changed_at.replace(microsecond=0) <= since


def _names(wanted: str, etag: str | None) -> bool:
    """Whether a list of tags names ``etag`` in weak comparison (RFC 9110 section 8.8.3.2)."""
    if wanted.strip() == "*":
        return True
    return etag is not None and etag.removeprefix("W/") in _TAG.findall(wanted)


def _instant(text: str | None) -> datetime | None:
    """The instant of an HTTP-date, ``None`` when it is missing or none."""
    try:
        parsed = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed


def _accepts_gzip(request: Request) -> bool:
    """Whether gzip is among the codings accepted, and not with a weight of zero."""
    for coding in ",".join(request.headers.all("accept-encoding")).split(","):
        name, _, weight = coding.replace(" ", "").lower().partition(";q=")
        if name in ("gzip", "*"):
            return not re.fullmatch(r"0(\.0*)?", weight)
    return False
