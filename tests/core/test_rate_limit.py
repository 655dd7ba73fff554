"""Which replies are limits, and how long a source is held back for one."""

from __future__ import annotations

import pytest

from sourcemon.core.rate_limit import UNHINTED_WAIT, is_limit, objections_of
from sourcemon.core.replies import ErrorCategory
from sourcemon.core.schedule import ObjectionName
from tests.core.handmade import HOUR, MINUTE, NOW, SECOND, hop, http, no_response, response

FLOOR, RETRY = ObjectionName.FLOOR, ObjectionName.RETRY

HINT = [("Retry-After", "120")]
USELESS = [("Retry-After", "soon")]
LIMITS = {
    "429 without a hint": (response(429), True),
    "429 with a hint": (response(429, HINT), True),
    "429 with a useless hint": (response(429, USELESS), True),
    "503 with a hint": (response(503, HINT), True),
    "503 with a useless hint": (response(503, USELESS), True),
    "503 with an empty hint": (response(503, [("Retry-After", "")]), True),
    "503 with a hint of zero": (response(503, [("Retry-After", "0")]), True),
    "503 without a hint is a failure": (response(503), False),
    "403 with a hint": (response(403, HINT), True),
    "403 with a useless hint": (response(403, USELESS), True),
    "403 without a hint is a failure": (response(403), False),
    "a redirect that says later": (response(302, [*HINT, ("Location", "/b")]), True),
    "a redirect that says later, and not where": (response(301, HINT), True),
    "a redirect with a useless hint": (response(302, USELESS), False),
    "a redirect without a hint": (response(302), False),
    "200 with a hint": (response(200, HINT), False),
    "299 with a hint": (response(299, HINT), False),
    "300 with a hint": (response(300, HINT), True),
    "399 with a hint": (response(399, HINT), True),
    "400 with a hint": (response(400, HINT), False),
    "404 with a hint": (response(404, HINT), False),
    "500 with a hint": (response(500, HINT), False),
    "502 with a hint": (response(502, HINT), False),
}


@pytest.mark.parametrize("reply, expected", LIMITS.values(), ids=LIMITS)
def test_is_limit(reply, expected):
    assert is_limit(reply) is expected


HELD = {
    "429 with seconds": (response(429, HINT), 2 * MINUTE),
    "429 with a date": (response(429, [("Retry-After", http(NOW + HOUR))]), HOUR),
    "429 without a hint gets 15 minutes": (response(429), UNHINTED_WAIT),
    "429 with zero gets 15 minutes": (response(429, [("Retry-After", "0")]), UNHINTED_WAIT),
    "429 with a negative number gets 15 minutes": (
        response(429, [("Retry-After", "-1")]),
        UNHINTED_WAIT,
    ),
    "429 with a past date gets 15 minutes": (
        response(429, [("Retry-After", http(NOW - HOUR))]),
        UNHINTED_WAIT,
    ),
    "429 with garbage gets 15 minutes": (response(429, USELESS), UNHINTED_WAIT),
    "a hint of less than 15 minutes is enough": (
        response(429, [("Retry-After", "1")]),
        SECOND,
    ),
    "503 with a useless hint gets 15 minutes": (response(503, USELESS), UNHINTED_WAIT),
    "403 with a useless hint gets 15 minutes": (response(403, USELESS), UNHINTED_WAIT),
    "503 without a hint gets nothing": (response(503), None),
    "500 with a hint is held all the same": (response(500, HINT), 2 * MINUTE),
    "404 with a hint is held all the same": (response(404, HINT), 2 * MINUTE),
    "304 with a hint is held all the same": (response(304, HINT), 2 * MINUTE),
    "200 with a hint is not": (response(200, HINT), None),
    "429 behind a redirect with a shorter hint gets 15 minutes": (
        response(429, hops=(hop(302, [("Retry-After", "5")]),)),
        UNHINTED_WAIT,
    ),
    "429 behind a redirect with a longer hint is held that long": (
        response(429, hops=(hop(302, [("Retry-After", "3600")]),)),
        HOUR,
    ),
    "a timeout behind a redirect with a hint is held all the same": (
        no_response(hops=(hop(302, HINT),)),
        2 * MINUTE,
    ),
    "a timeout asks for nothing": (no_response(), None),
}


@pytest.mark.parametrize("reply, wait", HELD.values(), ids=HELD)
def test_how_long_a_source_is_held_back(reply, wait):
    until = [o.until - NOW for o in objections_of(reply) if o.name is RETRY]
    assert until == ([] if wait is None else [wait])


def test_our_stand_in_is_15_minutes_and_says_that_it_is_ours():
    (held,) = objections_of(response(429))
    assert held.until == NOW + 15 * MINUTE
    assert "429" in held.because
    assert "our policy" in held.because


def test_a_limit_keeps_its_floor_beside_the_stand_in():
    asked = objections_of(response(429, [("X-Poll-Interval", "60")]))
    assert {o.name: o.until for o in asked} == {
        FLOOR: NOW + MINUTE,
        RETRY: NOW + 15 * MINUTE,
    }


@pytest.mark.parametrize("category", ErrorCategory)
def test_no_response_and_no_redirect_ask_for_nothing(category):
    assert objections_of(no_response(category)) == ()


def test_the_floor_of_a_redirect_outlives_a_target_that_does_not_answer():
    reply = no_response(ErrorCategory.NETWORK, hops=(hop(301, [("X-Poll-Interval", "60")]),))
    assert {o.name: o.until for o in objections_of(reply)} == {FLOOR: NOW + MINUTE}
