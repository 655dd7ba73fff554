"""What a whole response asks, redirects included; and that no header ever raises."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core.headers import http_date, server_objections
from sourcemon.core.rate_limit import is_limit, objections_of
from sourcemon.core.replies import Headers
from sourcemon.core.schedule import ObjectionName
from tests.core.handmade import DAY, HOUR, MINUTE, NOW, SECOND, hop, http, response

FLOOR, RETRY = ObjectionName.FLOOR, ObjectionName.RETRY


def asked_by(answer) -> dict[ObjectionName, timedelta]:
    return {o.name: o.until - NOW for o in server_objections(answer)}


@pytest.mark.parametrize("status", [200, 304, 302, 404, 410, 429, 500, 503])
def test_a_floor_counts_on_any_status(status):
    asked = asked_by(response(status, [("Cache-Control", "max-age=60")]))
    assert asked == {FLOOR: MINUTE}


@pytest.mark.parametrize("status", [300, 301, 304, 400, 403, 404, 410, 429, 500, 503, 599])
def test_retry_after_counts_from_300_on(status):
    assert asked_by(response(status, [("Retry-After", "60")])) == {RETRY: MINUTE}


@pytest.mark.parametrize("status", [200, 204, 226, 299])
def test_retry_after_means_nothing_on_a_success(status):
    assert asked_by(response(status, [("Retry-After", "60")])) == {}


HOPS = {
    "Retry-After on a redirect counts": (
        response(200, hops=(hop(301, [("Retry-After", "60")]),)),
        {RETRY: MINUTE},
    ),
    "max-age on a redirect speaks of the redirect": (
        response(200, hops=(hop(301, [("Cache-Control", "max-age=60")]),)),
        {},
    ),
    "Expires on a redirect speaks of the redirect": (
        response(200, hops=(hop(301, [("Expires", http(NOW + HOUR))]),)),
        {},
    ),
    "X-Poll-Interval on a redirect counts": (
        response(200, hops=(hop(301, [("X-Poll-Interval", "60")]),)),
        {FLOOR: MINUTE},
    ),
    "the redirect's floor stands beside the answer's, the latest wins": (
        response(
            200,
            [("Cache-Control", "max-age=30")],
            hops=(hop(301, [("X-Poll-Interval", "60")]),),
        ),
        {FLOOR: MINUTE},
    ),
    "the answer's floor wins when it is the latest": (
        response(
            200,
            [("Cache-Control", "max-age=90")],
            hops=(hop(301, [("X-Poll-Interval", "60")]),),
        ),
        {FLOOR: 90 * SECOND},
    ),
    "of several redirects the latest counts": (
        response(
            200,
            hops=(
                hop(301, [("Retry-After", "60")]),
                hop(302, [("Retry-After", "90")]),
                hop(307, [("Retry-After", "30")]),
            ),
        ),
        {RETRY: 90 * SECOND},
    ),
    "a redirect's wait counts from its own receipt": (
        response(200, hops=(hop(301, [("Retry-After", "60")], received_at=NOW - 10 * SECOND),)),
        {RETRY: 50 * SECOND},
    ),
    "one of each is made of many": (
        response(
            503,
            [("Retry-After", "120"), ("X-Poll-Interval", "60")],
            hops=(hop(301, [("Retry-After", "60"), ("X-Poll-Interval", "120")]),),
        ),
        {RETRY: 2 * MINUTE, FLOOR: 2 * MINUTE},
    ),
}


@pytest.mark.parametrize("answer, expected", HOPS.values(), ids=HOPS)
def test_hops(answer, expected):
    assert asked_by(answer) == expected


numbers = st.one_of(
    st.integers(-(10**40), 10**40).map(str),
    st.floats().map(str),
    st.text("0123456789.+- ", max_size=30),
)
dates = st.builds(
    "{}, {} {} {} {}:{}:{} {}".format,
    st.sampled_from(["Sat", "Saturday", "", "So"]),
    st.integers(-1, 40),
    st.sampled_from(["Jan", "Feb", "jan", "13", "Mai", ""]),
    st.integers(-1, 100_000),
    st.integers(0, 99),
    st.integers(0, 99),
    st.integers(0, 99),
    st.sampled_from(["GMT", "UTC", "EST", "+0100", "-9999", "+99999999", "", "Z"]),
)
directives = st.lists(
    st.builds(
        "{}{}{}".format,
        st.sampled_from(["max-age", "no-cache", "MAX-AGE", "s-maxage", "x", ""]),
        st.sampled_from(["=", " = ", "==", "", '="']),
        numbers,
    ),
    max_size=4,
).map(", ".join)
values = st.one_of(st.text(max_size=60), numbers, dates, directives)
names = st.sampled_from(
    ["Retry-After", "X-Poll-Interval", "Cache-Control", "Age", "Expires", "Date", "retry-after"]
)
fields = st.lists(st.tuples(names, values), max_size=6)


@given(st.one_of(st.text(), dates, numbers))
def test_no_text_makes_http_date_raise(text):
    found = http_date(text)
    assert found is None or found.utcoffset() is not None


@given(status=st.integers(100, 599), answered=fields, redirected=fields)
def test_no_header_raises_and_each_wish_is_one_objection_ahead(status, answered, redirected):
    reply = response(status, answered, hops=(hop(302, redirected),))
    asked = objections_of(reply)
    assert is_limit(reply) in {True, False}
    assert len({o.name for o in asked}) == len(asked)
    for objection in asked:
        assert objection.name in {FLOOR, RETRY}
        assert NOW < objection.until <= NOW + 30 * DAY
        assert objection.because.isprintable()
        assert len(objection.because) < 150


@given(fields)
def test_more_fields_never_make_a_retry_instant_earlier(sent):
    one = asked_by(response(429, sent))
    dates_sent = [field for field in sent if field[0] == "Date"]
    more = asked_by(response(429, [*dates_sent, *sent, ("Retry-After", "60")]))
    assert more[RETRY] >= one.get(RETRY, MINUTE)


def test_headers_are_looked_up_without_case_and_never_merged():
    sent = Headers((("ETag", "a"), ("etag", "b"), ("Via", "c")))
    assert sent.get("ETAG") == "a"
    assert list(sent.all("etag")) == ["a", "b"]
    assert sent.get("Age") is None
