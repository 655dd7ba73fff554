"""Our own wish: the interval, stretched by chance and by the ceiling, never shortened."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core.cadence import CadencePolicy, is_public_host, next_cadence
from sourcemon.core.durations import describe
from sourcemon.core.schedule import ObjectionName
from sourcemon.core.sources import MAX_INTERVAL, MIN_INTERVAL, interval_problem
from tests.core.handmade import DAY, HOUR, MICROSECOND, MINUTE, NOW, SECOND, source

POLICY = CadencePolicy()
LOCAL = "http://127.0.0.1:8000/feed"


def cadence(*, url="https://gazette.test/", interval, unvalidated=False, hinted=False, roll=0.0):
    return next_cadence(
        source(url=url, interval=interval),
        POLICY,
        unvalidated=unvalidated,
        hinted=hinted,
        now=NOW,
        roll=roll,
    )


CEILING = {
    "no hint, no validators: an hour at least": ({"interval": MINUTE, "unvalidated": True}, HOUR),
    "no validators, just below an hour": ({"interval": HOUR - SECOND, "unvalidated": True}, HOUR),
    "no validators, an hour": ({"interval": HOUR, "unvalidated": True}, HOUR),
    "no validators, two hours": ({"interval": 2 * HOUR, "unvalidated": True}, 2 * HOUR),
    "validators: 5 minutes at least": ({"interval": MINUTE}, 5 * MINUTE),
    "validators, just below 5 minutes": ({"interval": 5 * MINUTE - SECOND}, 5 * MINUTE),
    "validators, 5 minutes": ({"interval": 5 * MINUTE}, 5 * MINUTE),
    "validators, 6 minutes": ({"interval": 6 * MINUTE}, 6 * MINUTE),
    "a hint of the server's: as we like": ({"interval": MINUTE, "hinted": True}, MINUTE),
    "a hint and no validators: as we like": (
        {"interval": MINUTE, "hinted": True, "unvalidated": True},
        MINUTE,
    ),
    "literal loopback: as we like": (
        {"interval": MINUTE, "url": LOCAL, "unvalidated": True},
        MINUTE,
    ),
    "localhost: as we like": ({"interval": MINUTE, "url": "http://localhost/feed"}, MINUTE),
}


@pytest.mark.parametrize("given_in, interval", CEILING.values(), ids=CEILING)
def test_ceiling(given_in, interval):
    assert cadence(**given_in).until == NOW + interval


RAISED = {
    "raised": ({"interval": MINUTE}, True),
    "raised, without validators": ({"interval": MINUTE, "unvalidated": True}, True),
    "not raised": ({"interval": HOUR}, False),
    "just as long as the ceiling": ({"interval": 5 * MINUTE}, False),
    "not ours to raise": ({"interval": MINUTE, "hinted": True}, False),
}


@pytest.mark.parametrize("given_in, raised", RAISED.values(), ids=RAISED)
def test_a_raised_cadence_says_so(given_in, raised):
    found = cadence(**given_in)
    assert found.name is ObjectionName.CADENCE
    assert found.because.startswith(f"every {describe(given_in['interval'])}")
    assert ("raised by ceiling" in found.because) is raised


REASONS = {
    "no validators": (
        True,
        "every 1 min, raised by ceiling to 1 h: the server sends no validators",
    ),
    "no hint": (False, "every 1 min, raised by ceiling to 5 min: the server gives no hint"),
}


@pytest.mark.parametrize("unvalidated, because", REASONS.values(), ids=REASONS)
def test_a_raised_cadence_says_why(unvalidated, because):
    assert cadence(interval=MINUTE, unvalidated=unvalidated).because == because


JITTER = {
    "no chance": (0.0, HOUR),
    "half of it": (0.5, HOUR + 3 * MINUTE),
    "nearly all of it": (0.999, HOUR + 359.64 * SECOND),
}


@pytest.mark.parametrize("roll, interval", JITTER.values(), ids=JITTER)
def test_jitter_only_adds(roll, interval):
    assert cadence(interval=HOUR, roll=roll).until == NOW + interval


@given(
    interval=st.timedeltas(MIN_INTERVAL, MAX_INTERVAL),
    roll=st.floats(0, 1, exclude_max=True),
    unvalidated=st.booleans(),
    hinted=st.booleans(),
)
def test_a_cadence_is_never_early_and_at_most_a_tenth_late(interval, roll, unvalidated, hinted):
    given_in = {"interval": interval, "unvalidated": unvalidated, "hinted": hinted}
    unrolled = cadence(**given_in).until
    rolled = cadence(**given_in, roll=roll).until
    assert NOW + interval <= unrolled <= rolled <= NOW + (unrolled - NOW) * 1.1


@given(st.timedeltas(MIN_INTERVAL, MAX_INTERVAL), st.timedeltas(MIN_INTERVAL, MAX_INTERVAL))
def test_a_longer_interval_never_polls_earlier(one, other):
    shorter, longer = sorted([one, other])
    assert cadence(interval=shorter).until <= cadence(interval=longer).until


HOSTS = {
    "a name": ("https://gazette.test/feed", True),
    "a name without a dot": ("http://nas/feed", True),
    "a public address": ("http://8.8.8.8/feed", True),
    "a public IPv6 address": ("http://[2606:4700::1111]/feed", True),
    "a name that begins like an address": ("http://127.0.0.1.example/feed", True),
    "a name that ends like localhost": ("http://notlocalhost/feed", True),
    "localhost": ("http://localhost:8000/feed", False),
    "localhost in capitals": ("http://LOCALHOST/feed", False),
    "a name below localhost": ("http://feeds.localhost/feed", False),
    "loopback": ("http://127.0.0.1/feed", False),
    "another loopback": ("http://127.9.9.9/feed", False),
    "IPv6 loopback": ("http://[::1]:8000/feed", False),
    "a private address": ("http://192.168.1.10/feed", False),
    "link-local": ("http://169.254.1.1/feed", False),
    "a private IPv6 address": ("http://[fd00::1]/feed", False),
}


@pytest.mark.parametrize("url, expected", HOSTS.values(), ids=HOSTS)
def test_is_public_host(url, expected):
    assert is_public_host(url) is expected


SPANS = {
    "none": (timedelta(0), "0 s"),
    "less than half a second": (400_000 * MICROSECOND, "0 s"),
    "seconds": (59 * SECOND, "59 s"),
    "a minute": (MINUTE, "1 min"),
    "minutes and seconds": (90 * SECOND, "1 min 30 s"),
    "an hour": (HOUR, "1 h"),
    "an hour and seconds": (HOUR + 5 * SECOND, "1 h 5 s"),
    "hours, minutes; seconds are left out": (2 * HOUR + 3 * MINUTE + 4 * SECOND, "2 h 3 min"),
    "a day": (DAY, "1 d"),
    "days and hours": (36 * HOUR, "1 d 12 h"),
    "30 days": (30 * DAY, "30 d"),
}


@pytest.mark.parametrize("span, expected", SPANS.values(), ids=SPANS)
def test_describe(span, expected):
    assert describe(span) == expected


INTERVALS = {
    "the shortest": (MIN_INTERVAL, True),
    "shorter": (MIN_INTERVAL - MICROSECOND, False),
    "none": (timedelta(0), False),
    "negative": (-HOUR, False),
    "the longest": (MAX_INTERVAL, True),
    "longer": (MAX_INTERVAL + MICROSECOND, False),
}


@pytest.mark.parametrize("interval, fine", INTERVALS.values(), ids=INTERVALS)
def test_interval_problem(interval, fine):
    problem = interval_problem(interval)
    assert (problem is None) is fine
    assert problem is None or f"{interval.total_seconds():.13g} s" in problem
