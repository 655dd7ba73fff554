"""Each behaviour of the connection, against a running site. The only tests that spend real time."""

from __future__ import annotations

import threading
import time
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
    Request,
    drip,
    fails,
    max_age,
    resets,
    silent,
    slow,
    torn,
)
from sourcemon.replay.waterside import LIGHTHOUSE

NOON = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
NEWS = Newsroom("/n", desk=LIGHTHOUSE, published=Every(timedelta(days=1), NOON))

Play = Callable[..., ReplaySite]


def test_slow_begins_late(play: Play, client: httpx.Client) -> None:
    url = play(slow(NEWS, seconds=0.1)).url("/n")
    began_s = time.monotonic()

    assert client.get(url).status_code == 200
    assert time.monotonic() - began_s >= 0.1


def test_slow_runs_into_a_client_without_patience(play: Play, client: httpx.Client) -> None:
    site = play(slow(NEWS, seconds=30))

    with pytest.raises(httpx.ReadTimeout):
        client.get(site.url("/n"), timeout=0.05)

    site.log.wait_for(lambda log: log.hits("/n") == 1 and log.in_flight() == 0)
    assert [access.status for access in site.log.requests()] == [None]


def test_drip_sends_all_in_pieces(play: Play, client: httpx.Client) -> None:
    whole = NEWS.answer(Request(path="/n", at=NOON)).body
    url = play(drip(NEWS, size=200, pause_s=0.01)).url("/n")
    began_s = time.monotonic()

    assert client.get(url).content == whole
    assert time.monotonic() - began_s >= 0.01 * (len(whole) // 200)


def test_a_drip_ends_when_the_client_leaves(play: Play, client: httpx.Client) -> None:
    site = play(drip(NEWS, size=1, pause_s=0.01))

    with client.stream("GET", site.url("/n")) as answer:
        site.log.wait_for(lambda log: log.count(200) == 1)

    site.log.wait_for(lambda log: log.hits("/n") == 1 and log.in_flight() == 0)
    assert site.log.requests()[0].body_bytes < int(answer.headers["Content-Length"])


def test_torn_promises_more_than_it_sends(play: Play, client: httpx.Client) -> None:
    site = play(torn(NEWS, withheld=10))

    with client.stream("GET", site.url("/n")) as answer, pytest.raises(httpx.RemoteProtocolError):
        answer.read()

    promised = int(answer.headers["Content-Length"])
    assert site.log.requests()[0].body_bytes == promised - 10


def test_torn_may_withhold_everything(play: Play, client: httpx.Client) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(play(torn(NEWS, withheld=10**9)).url("/n"))


def test_torn_leaves_an_empty_body_alone(play: Play, client: httpx.Client) -> None:
    url = play(torn(NEWS)).url("/n")

    assert client.get(url, headers={"If-None-Match": "*"}).status_code == 304


def test_silent_never_answers(play: Play, client: httpx.Client) -> None:
    site = play(silent(NEWS))

    with pytest.raises(httpx.ReadTimeout):
        client.get(site.url("/n"), timeout=0.05)

    site.log.wait_for(lambda log: log.hits("/n") == 1 and log.in_flight() == 0)
    assert site.log.requests()[0].status is None


def test_silent_ends_with_its_window(play: Play, client: httpx.Client, clock: FakeClock) -> None:
    url = play(silent(NEWS, until=NOON + timedelta(minutes=1))).url("/n")
    clock.advance(timedelta(minutes=1))

    assert client.get(url).status_code == 200


def test_resets_hangs_up_without_a_word(play: Play, client: httpx.Client) -> None:
    site = play(resets(NEWS))

    with pytest.raises(httpx.ReadError):
        client.get(site.url("/n"))

    site.log.wait_for(lambda log: log.hits("/n") == 1 and log.in_flight() == 0)
    assert site.log.requests()[0].status is None


def test_held_answers_wait_for_the_test(play: Play, client: httpx.Client) -> None:
    held = Held(NEWS)
    site = play(held)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(client.get, site.url("/n"))
        assert held.entered.wait(5)

        assert not asked.done()
        assert site.log.in_flight() == 1
        assert site.log.count(200) == 0

        held.release.set()
        assert asked.result().status_code == 200
    assert client.get(site.url("/n")).status_code == 200


def test_a_held_answer_is_the_one_of_its_arrival(
    play: Play, client: httpx.Client, clock: FakeClock
) -> None:
    held = Held(NEWS)
    site = play(held)
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(client.get, site.url("/n"))
        assert held.entered.wait(5)
        clock.advance(timedelta(days=3))
        held.release.set()
        answer = asked.result()

    assert answer.headers["Date"] == "Mon, 02 Jun 2025 12:00:00 GMT"
    assert answer.text.count("<item>") == 1


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(ValueError, match="pace"):
        drip(NEWS, size=0, pause_s=1).answer(Request(path="/n", at=NOON))
    with pytest.raises(ValueError, match="delay_s"):
        slow(NEWS, seconds=-1).answer(Request(path="/n", at=NOON))
    with pytest.raises(ValueError, match="withhold"):
        torn(NEWS, withheld=-1).answer(Request(path="/n", at=NOON))


STOPPED: dict[str, Feed] = {
    "silent": silent(NEWS),
    "slow": slow(NEWS, seconds=30),
    "held": Held(NEWS),
    "dripping": drip(NEWS, size=1, pause_s=30),
    "slow behind other behaviours": max_age(slow(NEWS, seconds=30), timedelta(minutes=1)),
    "slow to fail": slow(fails(NEWS, status=500), seconds=30),
}


@pytest.mark.parametrize("feed", STOPPED.values(), ids=STOPPED)
def test_stopping_cuts_an_answer_that_is_under_way(feed: Feed, play: Play) -> None:
    site = play(feed)
    before = set(threading.enumerate())
    with ThreadPoolExecutor() as pool, httpx.Client(trust_env=False) as client:
        asked = pool.submit(client.get, site.url("/n"))
        site.log.wait_for(lambda log: log.hits("/n") == 1)
        site.stop()

        assert isinstance(asked.exception(5), httpx.TransportError)

    assert site.log.in_flight() == 0
    assert [t for t in set(threading.enumerate()) - before if "replay" in t.name] == []
