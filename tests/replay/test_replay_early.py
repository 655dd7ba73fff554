"""The oracle for "never early", judged on its own and through a running site."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from sourcemon.clock import FakeClock
from sourcemon.replay import (
    Every,
    Feed,
    Held,
    Newsroom,
    ReplaySite,
    expires,
    fails,
    max_age,
    moved,
    poll_interval,
    retry_after,
)
from sourcemon.replay.waterside import HARBOUR

NOON = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
NEWS = Newsroom("/n", desk=HARBOUR, published=Every(timedelta(days=1), NOON))
PLAIN = Newsroom("/plain", desk=HARBOUR, published=Every(timedelta(days=1), NOON))
LIMITED = retry_after(fails(NEWS, status=429, until=NOON + SECOND), 120 * SECOND)

Play = Callable[..., ReplaySite]

# Of each row: a feed at /n, the seconds and targets of requests, and which of them are early.
CASES: dict[str, tuple[Feed, list[tuple[float, str]], list[int]]] = {
    "who asks for nothing cannot be early": (NEWS, [(0, "/n"), (0, "/n"), (1, "/n")], []),
    "the very instant of a stop is in time": (LIMITED, [(0, "/n"), (120, "/n")], []),
    "a second before it is early": (LIMITED, [(0, "/n"), (119, "/n")], [1]),
    "a stop as a date": (
        retry_after(fails(NEWS, status=503, until=NOON + SECOND), NOON + 60 * SECOND),
        [(0, "/n"), (59.5, "/n"), (60, "/n")],
        [1],
    ),
    "another path is not bound": (LIMITED, [(0, "/n"), (1, "/plain")], []),
    "a stop binds every query of its path": (LIMITED, [(0, "/n?page=1"), (1, "/n?page=2")], [1]),
    "a floor leaves the next page of the walk alone": (
        max_age(NEWS, 60 * SECOND),
        [(0, "/n?page=1"), (0, "/n?page=2"), (59, "/n?page=1"), (60, "/n?page=2")],
        [2],
    ),
    "the freshness of an answer": (
        max_age(NEWS, 60 * SECOND),
        [(0, "/n"), (60, "/n"), (119, "/n")],
        [2],
    ),
    "Expires": (expires(NEWS, 60 * SECOND), [(0, "/n"), (59, "/n")], [1]),
    "a poll interval": (poll_interval(NEWS, 900 * SECOND), [(0, "/n"), (899, "/n")], [1]),
    "the later of two asks decides": (
        poll_interval(max_age(NEWS, 60 * SECOND), 30 * SECOND),
        [(0, "/n"), (45, "/n"), (105, "/n")],
        [1],
    ),
    "a later answer takes no ask back": (
        LIMITED,
        [(0, "/n"), (10, "/n"), (20, "/n"), (120, "/n")],
        [1, 2],
    ),
    "an early request that is refused again moves the stop": (
        retry_after(fails(NEWS, status=429, until=NOON + 60 * SECOND), 120 * SECOND),
        [(0, "/n"), (30, "/n"), (120, "/n"), (150, "/n")],
        [1, 2],
    ),
}


@pytest.mark.parametrize(("feed", "visits", "early"), CASES.values(), ids=CASES)
def test_early(
    feed: Feed,
    visits: list[tuple[float, str]],
    early: list[int],
    play: Play,
    client: httpx.Client,
    clock: FakeClock,
) -> None:
    site = play(feed, PLAIN)
    for seconds, target in visits:
        clock.jump_to(NOON + seconds * SECOND)
        client.get(site.url(target))

    assert [found.request.serial for found in site.log.early_requests()] == early


def test_an_early_request_comes_with_the_ask_it_broke(
    play: Play, client: httpx.Client, clock: FakeClock
) -> None:
    site = play(LIMITED)
    client.get(site.url("/n"))
    clock.advance(100 * SECOND)
    client.get(site.url("/n"))

    (found,) = site.log.early_requests()

    assert (found.request.serial, found.asked_by.serial) == (1, 0)
    assert (found.ask.because, found.ask.until) == ("Retry-After: 120", NOON + 120 * SECOND)
    assert found.by == 20 * SECOND
    assert str(found) == (
        "/n at 2025-06-02T12:01:40+00:00, 0:00:20 before the stop of Retry-After: 120"
    )


def test_an_ask_that_nobody_has_heard_yet_binds_nobody(play: Play, client: httpx.Client) -> None:
    held = Held(LIMITED)
    site = play(held)
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(client.get, site.url("/n")) for _ in range(3)]
        site.log.wait_for(lambda log: log.in_flight() == 3)
        held.release.set()
        assert {a.result().status_code for a in asked} == {429}

    assert site.log.early_requests() == ()
    client.get(site.url("/n"))
    assert len(site.log.early_requests()) == 1


def test_an_ask_to_a_client_that_had_left_binds_nobody(play: Play, client: httpx.Client) -> None:
    held = Held(LIMITED)
    site = play(held)
    with pytest.raises(httpx.ReadTimeout):
        client.get(site.url("/n"), timeout=0.05)
    held.release.set()
    site.log.wait_for(lambda log: log.hits("/n") == 1 and log.in_flight() == 0)

    client.get(site.url("/n"))

    assert [line.status for line in site.log.requests()] == [None, 429]
    assert site.log.early_requests() == ()


def test_a_redirect_binds_its_own_path_and_its_target_its_own(
    play: Play, client: httpx.Client, clock: FakeClock
) -> None:
    old = max_age(moved("/old", "/n"), 600 * SECOND, on=None)
    site = play(old, max_age(NEWS, 60 * SECOND))
    for seconds in (0, 60, 90):
        clock.jump_to(NOON + seconds * SECOND)
        client.get(site.url("/old"), follow_redirects=True)

    assert [found.request.path for found in site.log.early_requests()] == ["/n"]
