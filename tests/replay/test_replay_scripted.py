"""Each behaviour of status and header, against a running site."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from sourcemon.clock import FakeClock
from sourcemon.replay import (
    Every,
    Feed,
    Newsroom,
    ReplaySite,
    expires,
    fails,
    gone_from,
    max_age,
    moved,
    no_validators,
    not_a_feed,
    poll_interval,
    redirects,
    retry_after,
    says,
    unconditional_304,
    volatile_etag,
)
from sourcemon.replay.inland import MOUNTAIN

NOON = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NEWS = Newsroom("/n", desk=MOUNTAIN, published=Every(timedelta(days=1), NOON - timedelta(days=3)))
TEN = NOON + 10 * MINUTE
TWENTY = NOON + 20 * MINUTE

Play = Callable[..., ReplaySite]

WINDOWS: dict[str, tuple[Feed, dict[int, int]]] = {
    "a fault between two instants": (
        fails(NEWS, status=503, from_=TEN, until=TWENTY),
        {0: 200, 9: 200, 10: 503, 19: 503, 20: 200},
    ),
    "a fault from the beginning": (fails(NEWS, status=500, until=TEN), {0: 500, 9: 500, 10: 200}),
    "a fault for good": (fails(NEWS, status=404), {0: 404, 999: 404}),
    "gone from an instant on": (gone_from(NEWS, TEN), {9: 200, 10: 410, 999: 410}),
    "a redirect between two instants": (
        redirects(NEWS, "/elsewhere", status=301, from_=TEN, until=TWENTY),
        {9: 200, 10: 301, 20: 200},
    ),
    "304 to everything, conditional or not": (
        unconditional_304(NEWS, from_=TEN, until=TWENTY),
        {9: 200, 10: 304, 20: 200},
    ),
    "faults after one another": (
        fails(fails(NEWS, status=500, until=TEN), status=429, from_=TEN, until=TWENTY),
        {0: 500, 10: 429, 20: 200},
    ),
}


@pytest.mark.parametrize(("feed", "expected"), WINDOWS.values(), ids=WINDOWS)
def test_window(
    feed: Feed, expected: dict[int, int], play: Play, client: httpx.Client, clock: FakeClock
) -> None:
    url = play(feed).url("/n")
    seen = {}
    for minute in expected:
        clock.jump_to(NOON + minute * MINUTE)
        seen[minute] = client.get(url).status_code

    assert seen == expected


LIMITED = fails(NEWS, status=429)
HEADERS: dict[str, tuple[Feed, dict[str, str | None]]] = {
    "Retry-After in seconds": (
        retry_after(LIMITED, timedelta(minutes=2, milliseconds=900)),
        {"Retry-After": "120"},
    ),
    "Retry-After as a date": (
        retry_after(LIMITED, TEN),
        {"Retry-After": "Mon, 02 Jun 2025 12:10:00 GMT"},
    ),
    "Retry-After only on limits": (retry_after(NEWS, MINUTE), {"Retry-After": None}),
    "Retry-After on 200 when wanted": (
        retry_after(NEWS, MINUTE, on={200}),
        {"Retry-After": "60"},
    ),
    "max-age": (max_age(NEWS, 5 * MINUTE), {"Cache-Control": "max-age=300"}),
    "max-age not on faults": (max_age(LIMITED, MINUTE), {"Cache-Control": None}),
    "max-age on faults when wanted": (
        max_age(LIMITED, MINUTE, on=None),
        {"Cache-Control": "max-age=60"},
    ),
    "Expires counts from the request": (
        expires(NEWS, 10 * MINUTE),
        {"Expires": "Mon, 02 Jun 2025 12:10:00 GMT", "Date": "Mon, 02 Jun 2025 12:00:00 GMT"},
    ),
    "Expires not on faults": (expires(LIMITED, MINUTE), {"Expires": None}),
    "X-Poll-Interval": (poll_interval(NEWS, 15 * MINUTE), {"X-Poll-Interval": "900"}),
    "the outer of two equal headers wins": (
        max_age(max_age(NEWS, MINUTE), 2 * MINUTE),
        {"Cache-Control": "max-age=120"},
    ),
    "several at once": (
        poll_interval(max_age(NEWS, MINUTE), MINUTE),
        {"Cache-Control": "max-age=60", "X-Poll-Interval": "60"},
    ),
    "a wrong clock": (
        says(NEWS, "Date", "Thu, 01 Jan 1970 00:00:00 GMT"),
        {"Date": "Thu, 01 Jan 1970 00:00:00 GMT"},
    ),
    "a redirect says where": (moved("/n", "/m", status=308), {"Location": "/m"}),
}


@pytest.mark.parametrize(("feed", "expected"), HEADERS.values(), ids=HEADERS)
def test_header(
    feed: Feed, expected: dict[str, str | None], play: Play, client: httpx.Client
) -> None:
    headers = client.get(play(feed).url("/n")).headers

    assert {name: headers.get(name) for name in expected} == expected


def test_freshness_is_sent_with_304_too(play: Play, client: httpx.Client) -> None:
    url = play(max_age(NEWS, MINUTE)).url("/n")

    answer = client.get(url, headers={"If-None-Match": "*"})

    assert (answer.status_code, answer.headers["Cache-Control"]) == (304, "max-age=60")


def test_a_redirect_can_be_followed(play: Play, client: httpx.Client) -> None:
    site = play(moved("/old/feed.xml", "/n", status=302), NEWS)

    answer = client.get(site.url("/old/feed.xml"), follow_redirects=True)

    assert answer.status_code == 200
    assert [access.path for access in site.log.requests()] == ["/old/feed.xml", "/n"]


def test_a_log_in_page_is_a_healthy_answer(play: Play, client: httpx.Client) -> None:
    answer = client.get(play(not_a_feed(NEWS, until=TEN)).url("/n"))

    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "<form" in answer.text


def test_no_validators_are_sent_and_none_obeyed(play: Play, client: httpx.Client) -> None:
    url = play(no_validators(NEWS)).url("/n")

    answer = client.get(url, headers={"If-None-Match": "*"})

    assert answer.status_code == 200
    assert not {"etag", "last-modified"} & set(answer.headers)


def test_a_volatile_tag_never_matches(play: Play, client: httpx.Client) -> None:
    url = play(volatile_etag(NEWS)).url("/n")
    first = client.get(url)
    both = {"If-None-Match": first.headers["ETag"], "If-Modified-Since": first.headers["Date"]}

    second = client.get(url, headers=both)

    assert second.status_code == 200
    assert second.content == first.content
    assert second.headers["ETag"] != first.headers["ETag"]


def test_a_volatile_tag_leaves_the_date_alone(play: Play, client: httpx.Client) -> None:
    url = play(volatile_etag(NEWS)).url("/n")
    headers = {"If-Modified-Since": client.get(url).headers["Last-Modified"]}

    assert client.get(url, headers=headers).status_code == 304
