"""The ready-made feeds of the demonstration, and what is known of each beforehand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sourcemon.replay import inland, waterside
from sourcemon.replay.answers import Feed
from sourcemon.replay.conditional import EtagKind
from sourcemon.replay.desks import Desk, Edit
from sourcemon.replay.dialects import Dialect
from sourcemon.replay.newsroom import Listed, Newsroom
from sourcemon.replay.scripted import fails, gone_from, moved, poll_interval, retry_after
from sourcemon.replay.wire import slow

_MARKET = "/market/tonight.atom"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSource:
    """A source of the demonstration. Counts are of entries with distinct identities."""

    name: str
    path: str
    entries_at_start: int
    """In its first good answer, whenever that comes, if it comes before any change."""
    entries_later: int = 0
    """Published by the known change, besides those at the start."""
    corrections_later: int = 0
    """Entries that the known change rewrites."""
    behaviour: str


DEMO_SOURCES = (
    DemoSource(
        name="Harbour notices",
        path="/harbour/notices.xml",
        entries_at_start=12,
        behaviour="RSS 2.0 with a strong ETag, gzip; never changes",
    ),
    DemoSource(
        name="Lighthouse log",
        path="/lighthouse/log.atom",
        entries_at_start=8,
        behaviour="Atom with Last-Modified and no ETag; never changes",
    ),
    DemoSource(
        name="Observatory nights",
        path="/observatory/nights.rdf",
        entries_at_start=6,
        behaviour="RDF (RSS 1.0) with a weak ETag; never changes",
    ),
    DemoSource(
        name="Mountain weather",
        path="/mountain/weather.xml",
        entries_at_start=10,
        entries_later=2,
        corrections_later=1,
        behaviour="RSS 2.0; at start + 20 min two new entries, and entry 9 is corrected",
    ),
    DemoSource(
        name="Security advisories",
        path="/advisories/feed.atom",
        entries_at_start=7,
        behaviour="Atom; every 200 and 304 asks for X-Poll-Interval: 900",
    ),
    DemoSource(
        name="Council minutes",
        path="/council/minutes.xml",
        entries_at_start=9,
        behaviour="429 with Retry-After: 1800 before start + 30 min, then RSS 2.0",
    ),
    DemoSource(
        name="Ferry sailings",
        path="/ferry/sailings.xml",
        entries_at_start=5,
        behaviour="500 before start + 10 min, then RSS 2.0",
    ),
    DemoSource(
        name="Wreck of the week",
        path="/wrecks/finds.xml",
        entries_at_start=4,
        behaviour="RSS 0.91 without guids and dates; each answer takes 1.5 real seconds",
    ),
    DemoSource(
        name="Night market",
        path="/market/stalls.xml",
        entries_at_start=6,
        behaviour=f"302 to {_MARKET}, which is Atom",
    ),
    DemoSource(
        name="Railway works",
        path="/railway/works.xml",
        entries_at_start=3,
        behaviour="RSS 2.0; 410 from start + 1 h on",
    ),
)
"""What ``demo_feeds`` plays, one source per row; its entries are known at the start."""


def demo_feeds(start: datetime) -> tuple[Feed, ...]:
    """The feeds behind :data:`DEMO_SOURCES` when the demonstration begins at ``start``.

    One feed more than there are sources: the target of the redirect.
    """
    return (*_well_behaved(start), *_troubled(start))


def _well_behaved(start: datetime) -> tuple[Feed, ...]:
    """The feeds that answer every request at once, with 200 or 304."""
    harbour = _newsroom("/harbour/notices.xml", waterside.HARBOUR, start, entries=12)
    lighthouse = _newsroom("/lighthouse/log.atom", waterside.LIGHTHOUSE, start, entries=8)
    observatory = _newsroom("/observatory/nights.rdf", inland.OBSERVATORY, start, entries=6)
    advisories = _newsroom("/advisories/feed.atom", inland.ADVISORIES, start, entries=7)
    return (
        replace(harbour, gzips=True, sends_last_modified=False),
        replace(lighthouse, dialect=Dialect.ATOM, etag=EtagKind.NONE),
        replace(observatory, dialect=Dialect.RDF, etag=EtagKind.WEAK),
        _mountain(start),
        poll_interval(replace(advisories, dialect=Dialect.ATOM), timedelta(seconds=900)),
    )


def _troubled(start: datetime) -> tuple[Feed, ...]:
    """The feeds that refuse, fail, dawdle, point elsewhere or go away."""
    council = _newsroom("/council/minutes.xml", inland.COUNCIL, start, entries=9)
    limited = fails(council, status=429, until=start + timedelta(minutes=30))
    ferry = _newsroom("/ferry/sailings.xml", waterside.FERRY, start, entries=5)
    wrecks = _newsroom("/wrecks/finds.xml", waterside.WRECKS, start, entries=4)
    market = _newsroom(_MARKET, waterside.NIGHT_MARKET, start, entries=6)
    railway = _newsroom("/railway/works.xml", inland.RAILWAY, start, entries=3)
    return (
        retry_after(limited, timedelta(seconds=1800)),
        fails(ferry, status=500, until=start + timedelta(minutes=10)),
        slow(replace(wrecks, dialect=Dialect.RSS_091, encoding="iso-8859-1"), seconds=1.5),
        moved("/market/stalls.xml", _MARKET, status=302),
        replace(market, dialect=Dialect.ATOM),
        gone_from(railway, start + timedelta(hours=1)),
    )


def _mountain(start: datetime) -> Newsroom:
    """Ten bulletins; at start + 20 min two more, and the ninth is corrected."""
    changes_at = start + timedelta(minutes=20)
    room = _newsroom("/mountain/weather.xml", inland.MOUNTAIN, start, entries=10)
    correction = Edit(
        number=9,
        at=changes_at,
        title="Bulletin 9 (berichtigt): Föhn bis Abend, Reue vertagt",
        text="<p>Sturmböen über <b>1 900 m</b>. Der Wetterwart bittet um Verzeihung.</p>",
    )
    later = Listed((*_backlog(start, entries=10), changes_at, changes_at))
    return replace(room, published=later, edits=(correction,))


def _newsroom(path: str, desk: Desk, start: datetime, *, entries: int) -> Newsroom:
    """A feed that has published its last entry an hour before the start."""
    return Newsroom(path, desk=desk, published=Listed(_backlog(start, entries=entries)))


def _backlog(start: datetime, *, entries: int) -> tuple[datetime, ...]:
    """Instants six hours apart, the last one an hour before ``start``, ascending."""
    newest = start - timedelta(hours=1)
    return tuple(newest - timedelta(hours=6) * age for age in reversed(range(entries)))
