"""What the log keeps, and what can be waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from sourcemon.clock import FakeClock
from sourcemon.core.replies import Headers
from sourcemon.replay import AccessLog, AskKind, Every, Held, Newsroom, ReplaySite, max_age
from sourcemon.replay.waterside import HARBOUR

NOON = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
NEWS = Newsroom("/n", desk=HARBOUR, published=Every(timedelta(days=1), NOON))

Play = Callable[..., ReplaySite]


def test_a_line_of_the_log(play: Play, client: httpx.Client, clock: FakeClock) -> None:
    site = play(max_age(NEWS, timedelta(minutes=1)))
    clock.advance(timedelta(minutes=5))
    headers = {
        "User-Agent": "sourcemon/test",
        "Accept": "application/rss+xml",
        "If-None-Match": '"old"',
        "If-Modified-Since": "Mon, 02 Jun 2025 11:00:00 GMT",
        "Authorization": "Bearer hush",
    }
    answer = client.get(site.url("/n?page=2&q=a"), headers=headers)

    (line,) = site.log.requests()

    assert line.at == NOON + timedelta(minutes=5)
    assert (line.method, line.path, line.query) == ("GET", "/n", "page=2&q=a")
    assert f"http://{line.host}" == site.url("/")[:-1]
    assert (line.user_agent, line.accept) == ("sourcemon/test", "application/rss+xml")
    assert (line.if_none_match, line.if_modified_since) == (
        '"old"',
        "Mon, 02 Jun 2025 11:00:00 GMT",
    )
    assert line.is_conditional
    assert line.has_authorization
    assert "hush" not in repr(line)
    assert (line.status, line.body_bytes) == (200, len(answer.content))
    assert [(ask.kind, ask.until) for ask in line.asks] == [
        (AskKind.FLOOR, NOON + timedelta(minutes=6))
    ]
    assert line.ended_s is not None
    assert line.began_s <= line.ended_s


def test_a_plain_request_has_neither_condition_nor_authorization(
    play: Play, client: httpx.Client
) -> None:
    site = play(NEWS)
    client.get(site.url("/n"))

    (line,) = site.log.requests()

    assert not line.is_conditional
    assert not line.has_authorization
    assert line.asks == ()


def test_whoever_has_the_answer_finds_it_in_the_log(play: Play, client: httpx.Client) -> None:
    """No waiting: the line is complete before the last byte leaves."""
    site = play(NEWS)
    for expected in range(1, 200):
        client.get(site.url("/n"))
        assert (site.log.count(200), site.log.in_flight()) == (expected, 0)

    assert site.log.in_flight_peak() == 1


def test_counts(play: Play, client: httpx.Client) -> None:
    site = play(NEWS)
    for path in ("/n", "/n", "/missing"):
        client.get(site.url(path))

    assert (site.log.hits("/n"), site.log.hits("/missing"), site.log.hits("/other")) == (2, 1, 0)
    assert (site.log.count(200), site.log.count(404), site.log.count(500)) == (2, 1, 0)
    assert [line.serial for line in site.log.requests()] == [0, 1, 2]
    assert [line.serial for line in site.log.requests("/missing")] == [2]


def test_the_peak_counts_requests_at_one_instant(play: Play) -> None:
    held = Held(NEWS)
    site = play(held)
    limits = httpx.Limits(max_connections=None)
    with ThreadPoolExecutor(20) as pool, httpx.Client(trust_env=False, limits=limits) as client:
        asked = [pool.submit(client.get, site.url("/n")) for _ in range(20)]
        site.log.wait_for(lambda log: log.in_flight() == 20)
        held.release.set()
        assert {a.result().status_code for a in asked} == {200}

    assert site.log.in_flight() == 0
    assert site.log.in_flight_peak() == 20


def test_many_threads_lose_no_line(play: Play) -> None:
    site = play(NEWS)
    with ThreadPoolExecutor(8) as pool, httpx.Client(trust_env=False) as client:
        list(pool.map(lambda n: client.get(site.url(f"/n?{n}")), range(400)))

    assert {line.query for line in site.log.requests("/n")} == {str(n) for n in range(400)}
    assert [line.serial for line in site.log.requests()] == list(range(400))
    assert 1 <= site.log.in_flight_peak() <= 8


def test_waiting_ends_with_the_change_it_waits_for() -> None:
    log = AccessLog()
    waiting = threading.Event()

    def arrives(seen: AccessLog) -> bool:
        waiting.set()
        return seen.hits("/n") == 1

    with ThreadPoolExecutor() as pool:
        waited = pool.submit(log.wait_for, arrives)
        assert waiting.wait(5)
        log.begin(method="GET", target="/n", headers=Headers(), at=NOON)
        assert waited.result(5) is None


def test_waiting_in_vain_says_what_was_seen() -> None:
    log = AccessLog()
    log.begin(method="GET", target="/n", headers=Headers(), at=NOON)

    with pytest.raises(TimeoutError, match=r"\('/n', None\)"):
        log.wait_for(lambda seen: seen.count(200) == 1, timeout_s=0.01)


def test_an_answer_ends_once() -> None:
    log = AccessLog()
    line = log.begin(method="GET", target="/n", headers=Headers(), at=NOON)
    log.end(line.serial, body_bytes=7)
    log.end(line.serial, body_bytes=0)

    assert (log.in_flight(), log.requests()[0].body_bytes) == (0, 7)
