"""The site itself: what it answers without a script, how it starts and how it stops."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import httpx
import pytest

from sourcemon.clock import FakeClock
from sourcemon.replay import Answer, Every, Newsroom, ReplaySite, Request, moved
from sourcemon.replay.waterside import HARBOUR

NOON = datetime(2025, 6, 2, 12, 0, tzinfo=UTC)
NEWS = Newsroom("/harbour/feed.xml", desk=HARBOUR, published=Every(timedelta(days=1), NOON))

Play = Callable[..., ReplaySite]


def replay_threads() -> list[str]:
    """The names of the site's threads that are alive."""
    return [t.name for t in threading.enumerate() if t.name.startswith("replay-")]


def test_an_unknown_path_is_not_found(play: Play, client: httpx.Client) -> None:
    assert client.get(play(NEWS).url("/harbour")).status_code == 404


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_only_get_is_played(method: str, play: Play, client: httpx.Client) -> None:
    site = play(NEWS)

    answer = client.request(method, site.url("/harbour/feed.xml"))

    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET")
    assert [line.method for line in site.log.requests()] == [method]


def test_a_malformed_request_is_answered_on_the_sites_clock(play: Play) -> None:
    url = urlsplit(play(NEWS).url("/"))
    with socket.create_connection((url.hostname, url.port or 0), timeout=5) as connection:
        connection.sendall(b"GET / / HTTP/1.1\r\n\r\n")
        answer = connection.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Date: Mon, 02 Jun 2025 12:00:00 GMT\r\n" in answer


def test_one_connection_carries_many_requests(play: Play, client: httpx.Client) -> None:
    url = play(NEWS).url("/harbour/feed.xml")
    for _ in range(5):
        client.get(url)

    assert replay_threads().count("replay-client") == 1


def test_it_is_quiet(play: Play, client: httpx.Client, capfd: pytest.CaptureFixture[str]) -> None:
    client.get(play(NEWS).url("/harbour/feed.xml"))

    assert capfd.readouterr() == ("", "")


def test_a_fault_in_a_script_is_loud(
    play: Play, client: httpx.Client, capfd: pytest.CaptureFixture[str]
) -> None:
    @dataclass(frozen=True)
    class Broken:
        path: str = "/broken"

        def answer(self, request: Request) -> Answer:
            raise LookupError("the script is lost")

    site = play(Broken())
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(site.url("/broken"))

    site.stop()
    assert "the script is lost" in capfd.readouterr().err
    assert site.log.in_flight() == 0


def test_stopping_leaves_no_thread_and_no_listener(clock: FakeClock) -> None:
    site = ReplaySite([NEWS], now=clock.now)
    with site, httpx.Client(trust_env=False) as client:
        url = site.url("/harbour/feed.xml")
        client.get(url)
        assert sorted(replay_threads()) == ["replay-client", "replay-site"]
        site.stop()

        assert replay_threads() == []
        with pytest.raises(httpx.ConnectError):
            httpx.get(url, trust_env=False)


def test_it_may_be_stopped_twice_and_started_again(clock: FakeClock) -> None:
    site = ReplaySite([NEWS], now=clock.now)
    site.stop()
    for hits in (1, 2):
        site.start()
        httpx.get(site.url(NEWS.path), trust_env=False)
        site.stop()
        site.stop()
        assert site.log.hits(NEWS.path) == hits


def test_a_running_site_cannot_be_started(play: Play) -> None:
    with pytest.raises(RuntimeError, match="running already"):
        play(NEWS).start()


def test_a_site_that_is_not_running_has_no_address(clock: FakeClock) -> None:
    with pytest.raises(RuntimeError, match="not running"):
        ReplaySite([NEWS], now=clock.now).url("/")


def test_a_wanted_port_is_taken(clock: FakeClock) -> None:
    with ReplaySite([NEWS], now=clock.now) as first:
        port = int(first.url("/").rsplit(":", 1)[1].rstrip("/"))
        with pytest.raises(OSError, match="in use"):
            ReplaySite([NEWS], now=clock.now, port=port).start()

    with ReplaySite([NEWS], now=clock.now, port=port) as second:
        assert second.url("/x") == f"http://127.0.0.1:{port}/x"


def test_what_cannot_be_played_is_refused(clock: FakeClock) -> None:
    with pytest.raises(ValueError, match="two feeds"):
        ReplaySite([NEWS, moved(NEWS.path, "/")], now=clock.now)
    with pytest.raises(ValueError, match="slash"):
        ReplaySite([moved("feed.xml", "/")], now=clock.now)
    with pytest.raises(ValueError, match="loopback"):
        ReplaySite([NEWS], now=clock.now, host="0.0.0.0")  # noqa: S104 - the refusal is the test
