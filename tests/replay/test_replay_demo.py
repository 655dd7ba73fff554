"""The ready-made feeds play what their table says."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import feedparser
import httpx
import pytest

from sourcemon.clock import FakeClock
from sourcemon.replay import DEMO_SOURCES, DemoSource, ReplaySite, Request, demo_feeds

START = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def site(clock: FakeClock, play: Callable[..., ReplaySite]) -> ReplaySite:
    """The demonstration's site at its start."""
    return play(*demo_feeds(clock.now()))


def entries(body: bytes) -> dict[str, str]:
    """Title by identity, as a reader knows it: by guid, else by link."""
    document = feedparser.parse(body)
    assert not document.bozo
    return {entry.get("id") or entry.link: entry.title for entry in document.entries}


# The minute of each source's first good answer; all others give one at once.
FIRST_GOOD = {"/council/minutes.xml": 30, "/ferry/sailings.xml": 10}


# The wrecks would take 1.5 real seconds; they are read from the script instead.
FAST = [source for source in DEMO_SOURCES if source.path != "/wrecks/finds.xml"]


@pytest.mark.parametrize("source", FAST, ids=lambda source: source.name)
def test_entries_at_start(
    source: DemoSource, site: ReplaySite, client: httpx.Client, clock: FakeClock
) -> None:
    clock.advance(FIRST_GOOD.get(source.path, 0) * MINUTE)

    answer = client.get(site.url(source.path), follow_redirects=True)

    assert answer.status_code == 200
    assert len(entries(answer.content)) == source.entries_at_start


def test_only_the_mountain_changes_and_as_told(
    site: ReplaySite, client: httpx.Client, clock: FakeClock
) -> None:
    good = [source for source in FAST if source.path not in FIRST_GOOD]
    before = {s: client.get(site.url(s.path), follow_redirects=True).content for s in good}
    clock.advance(59 * MINUTE)
    after = {s: client.get(site.url(s.path), follow_redirects=True).content for s in good}

    for source in good:
        old, new = entries(before[source]), entries(after[source])
        corrected = [key for key, title in old.items() if new[key] != title]
        assert len(new.keys() - old.keys()) == source.entries_later
        assert len(corrected) == source.corrections_later


STATUSES: dict[str, tuple[str, dict[float, int]]] = {
    "the mountain has news at minute 20": ("/mountain/weather.xml", {0: 200, 19: 304, 20: 200}),
    "the council is limited for half an hour": (
        "/council/minutes.xml",
        {0: 429, 29: 429, 30: 200, 60: 304},
    ),
    "the ferry fails for ten minutes": ("/ferry/sailings.xml", {0: 500, 9: 500, 10: 200, 20: 304}),
    "the market is elsewhere": ("/market/stalls.xml", {0: 302, 600: 302}),
    "the railway goes after an hour": ("/railway/works.xml", {0: 200, 59: 304, 60: 410}),
    "the harbour never changes": ("/harbour/notices.xml", {0: 200, 6000: 304}),
    "the lighthouse never changes": ("/lighthouse/log.atom", {0: 200, 6000: 304}),
    "the observatory never changes": ("/observatory/nights.rdf", {0: 200, 6000: 304}),
}


@pytest.mark.parametrize(("path", "expected"), STATUSES.values(), ids=STATUSES)
def test_statuses(
    path: str, expected: dict[float, int], site: ReplaySite, client: httpx.Client, clock: FakeClock
) -> None:
    validators: dict[str, str] = {}
    seen = {}
    for minute in expected:
        clock.jump_to(START + minute * MINUTE)
        answer = client.get(site.url(path), headers=validators)
        seen[minute] = answer.status_code
        names = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}
        validators |= {names[n]: answer.headers[n] for n in names if n in answer.headers}

    assert seen == expected


VALIDATORS: dict[str, tuple[str, tuple[bool, bool]]] = {
    "the harbour has a tag": ("/harbour/notices.xml", (True, False)),
    "the lighthouse has a date": ("/lighthouse/log.atom", (False, True)),
    "the observatory has both": ("/observatory/nights.rdf", (True, True)),
}


@pytest.mark.parametrize(("path", "expected"), VALIDATORS.values(), ids=VALIDATORS)
def test_validators(
    path: str, expected: tuple[bool, bool], site: ReplaySite, client: httpx.Client
) -> None:
    headers = client.get(site.url(path)).headers

    assert ("ETag" in headers, "Last-Modified" in headers) == expected


def test_what_is_asked(site: ReplaySite, client: httpx.Client) -> None:
    advisories = client.get(site.url("/advisories/feed.atom"))
    council = client.get(site.url("/council/minutes.xml"))

    assert advisories.headers["X-Poll-Interval"] == "900"
    assert council.headers["Retry-After"] == "1800"
    assert [[ask.until - START for ask in line.asks] for line in site.log.requests()] == [
        [15 * MINUTE],
        [30 * MINUTE],
    ]


def test_the_wrecks_take_their_time() -> None:
    (source,) = set(DEMO_SOURCES) - set(FAST)
    (wrecks,) = [feed for feed in demo_feeds(START) if feed.path == source.path]
    answer = wrecks.answer(Request(path=wrecks.path, at=START))

    assert answer.delay_s == 1.5
    assert len(entries(answer.body)) == source.entries_at_start


def test_every_source_has_a_feed_and_the_redirect_a_target() -> None:
    paths = {feed.path for feed in demo_feeds(START)}

    assert paths - {source.path for source in DEMO_SOURCES} == {"/market/tonight.atom"}
    assert {source.path for source in DEMO_SOURCES} < paths
