"""Validators and 304, against a running site."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from sourcemon.clock import FakeClock
from sourcemon.replay import EtagKind, Every, Newsroom, ReplaySite
from sourcemon.replay.waterside import HARBOUR

NOON = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
HOURLY = Every(timedelta(hours=1), NOON - timedelta(hours=4, minutes=30))
CHANGED = "Mon, 02 Jun 2025 11:30:00 GMT"
BEFORE = "Mon, 02 Jun 2025 11:29:59 GMT"
LATER = "Mon, 02 Jun 2025 11:45:00 GMT"
STALE = '"stale"'

Play = Callable[..., ReplaySite]


def newsroom(**fields: object) -> Newsroom:
    """Five hourly notices by noon, the newest at 11:30."""
    return Newsroom("/harbour/feed.xml", desk=HARBOUR, published=HOURLY, **fields)  # type: ignore[arg-type]


CONDITIONS: dict[str, tuple[dict[str, str], int]] = {
    "no condition: the whole feed": ({}, 200),
    "the current tag: not modified": ({"If-None-Match": "{etag}"}, 304),
    "the current tag said weakly: compared weakly": ({"If-None-Match": "W/{etag}"}, 304),
    "the current tag in a list": ({"If-None-Match": '"a,b", {etag}, W/"c"'}, 304),
    "any tag will do": ({"If-None-Match": "*"}, 304),
    "an old tag": ({"If-None-Match": STALE}, 200),
    "a tag without its quotes is none": ({"If-None-Match": "{bare}"}, 200),
    "unchanged since the instant of the change": ({"If-Modified-Since": CHANGED}, 304),
    "unchanged since later": ({"If-Modified-Since": LATER}, 304),
    "changed a second later": ({"If-Modified-Since": BEFORE}, 200),
    "a date that is none": ({"If-Modified-Since": "yesterday"}, 200),
    "an old tag silences a fresh date": (
        {"If-None-Match": STALE, "If-Modified-Since": LATER},
        200,
    ),
    "the current tag silences an old date": (
        {"If-None-Match": "{etag}", "If-Modified-Since": BEFORE},
        304,
    ),
}


@pytest.mark.parametrize(("condition", "status"), CONDITIONS.values(), ids=CONDITIONS)
def test_condition(
    condition: dict[str, str], status: int, play: Play, client: httpx.Client
) -> None:
    url = play(newsroom()).url("/harbour/feed.xml")
    etag = client.get(url).headers["ETag"]
    asked = {
        k: v.replace("{etag}", etag).replace("{bare}", etag[1:-1]) for k, v in condition.items()
    }

    answer = client.get(url, headers=asked)

    assert answer.status_code == status
    assert bool(answer.content) == (status == 200)
    assert answer.headers["ETag"] == etag
    assert answer.headers["Last-Modified"] == CHANGED


def test_not_modified_says_nothing_about_a_body(play: Play, client: httpx.Client) -> None:
    url = play(newsroom()).url("/harbour/feed.xml")

    answer = client.get(url, headers={"If-None-Match": "*"})

    assert set(answer.headers) == {"etag", "last-modified", "date", "server"}


def test_validators_change_with_the_content_only(
    play: Play, client: httpx.Client, clock: FakeClock
) -> None:
    url = play(newsroom()).url("/harbour/feed.xml")
    first = client.get(url)
    clock.advance(timedelta(minutes=29))
    same = client.get(url)
    clock.advance(timedelta(minutes=1))
    newer = client.get(url)

    assert same.headers["ETag"] == first.headers["ETag"]
    assert same.headers["Date"] == "Mon, 02 Jun 2025 12:29:00 GMT"
    assert newer.headers["ETag"] != first.headers["ETag"]
    assert newer.headers["Last-Modified"] == "Mon, 02 Jun 2025 12:30:00 GMT"


SENT: dict[str, tuple[Newsroom, bool, bool]] = {
    "both by default": (newsroom(), True, True),
    "only the date": (newsroom(etag=EtagKind.NONE), False, True),
    "only the tag": (newsroom(sends_last_modified=False), True, False),
}


@pytest.mark.parametrize(("feed", "tag", "date"), SENT.values(), ids=SENT)
def test_validators_sent(
    feed: Newsroom, tag: bool, date: bool, play: Play, client: httpx.Client
) -> None:
    url = play(feed).url(feed.path)
    headers = client.get(url).headers

    assert ("ETag" in headers, "Last-Modified" in headers) == (tag, date)
    wanted = {"If-None-Match": headers["ETag"]} if tag else {"If-Modified-Since": CHANGED}
    assert client.get(url, headers=wanted).status_code == 304
    unknown = {"If-Modified-Since": LATER} if tag else {"If-None-Match": STALE}
    assert client.get(url, headers=unknown).status_code == (304 if tag and date else 200)


def test_a_weak_tag_matches_itself(play: Play, client: httpx.Client) -> None:
    url = play(newsroom(etag=EtagKind.WEAK)).url("/harbour/feed.xml")
    etag = client.get(url).headers["ETag"]

    assert etag.startswith('W/"')
    assert client.get(url, headers={"If-None-Match": etag}).status_code == 304


GZIP: dict[str, tuple[bool, str, bool]] = {
    "compressed when both want it": (True, "br, gzip", True),
    "compressed for a client that takes anything": (True, "*", True),
    "plain when the client does not say": (True, "", False),
    "plain when the client forbids it": (True, "gzip;q=0", False),
    "compressed at a low weight": (True, "gzip; q=0.1", True),
    "plain when the feed does not": (False, "gzip", False),
}


@pytest.mark.parametrize(("gzips", "accepted", "expected"), GZIP.values(), ids=GZIP)
def test_gzip(gzips: bool, accepted: str, expected: bool, play: Play, client: httpx.Client) -> None:
    feed = newsroom(gzips=gzips)
    site = play(feed)

    answer = client.get(site.url(feed.path), headers={"Accept-Encoding": accepted})

    assert (answer.headers.get("Content-Encoding") == "gzip") == expected
    assert b"Dicke Berta" in answer.content
    assert (int(answer.headers["Content-Length"]) < len(answer.content)) == expected
    assert site.log.requests()[0].body_bytes == int(answer.headers["Content-Length"])


def test_plain_and_gzipped_bodies_have_different_tags(play: Play, client: httpx.Client) -> None:
    url = play(newsroom(gzips=True)).url("/harbour/feed.xml")
    tags = [
        client.get(url, headers={"Accept-Encoding": coding}).headers["ETag"]
        for coding in ("gzip", "identity", "gzip")
    ]

    assert tags[0] == tags[2] != tags[1]
