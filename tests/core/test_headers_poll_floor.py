"""The floor: the latest of X-Poll-Interval, max-age minus Age, and Expires minus Date."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sourcemon.core.headers import poll_floor
from sourcemon.core.replies import Headers
from sourcemon.core.schedule import ObjectionName
from tests.core.handmade import DAY, HOUR, MINUTE, NOW, SECOND, headers, http


def wait_of(fields) -> timedelta | None:
    asked = poll_floor(Headers(tuple(fields)), received_at=NOW)
    return asked.until - NOW if asked else None


POLL_INTERVAL = {
    "seconds": (["60"], MINUTE),
    "a fraction is rounded up": (["59.1"], MINUTE),
    "zero asks for nothing": (["0"], None),
    "a negative number asks for nothing": (["-60"], None),
    "nothing asks for nothing": ([""], None),
    "words ask for nothing": (["a minute"], None),
    "digits of another script ask for nothing": (["٦٠"], None),
    "of several the longest counts": (["60", "90", "30"], 90 * SECOND),
    "a usable one among garbage counts": (["soon", "60"], MINUTE),
    "more than a day is honoured": (["172800"], 2 * DAY),
    "thousands of digits are implausible": (["9" * 5000], DAY),
}


@pytest.mark.parametrize("values, wait", POLL_INTERVAL.values(), ids=POLL_INTERVAL)
def test_x_poll_interval(values, wait):
    assert wait_of(("X-Poll-Interval", value) for value in values) == wait


CACHE_CONTROL = {
    "max-age": (["max-age=300"], 300 * SECOND),
    "max-age among others": (["public, max-age=300, immutable"], 300 * SECOND),
    "in capitals": (["MAX-AGE=300"], 300 * SECOND),
    "quoted": (['max-age="300"'], 300 * SECOND),
    "blanks around the sign": (["max-age = 300"], 300 * SECOND),
    "zero": (["max-age=0"], None),
    "negative": (["max-age=-300"], None),
    "no number": (["max-age=soon"], None),
    "no value": (["max-age"], None),
    "nothing": ([""], None),
    "s-maxage is for shared caches": (["s-maxage=300"], None),
    "twice in one field, the longest counts": (["max-age=60, max-age=300"], 300 * SECOND),
    "twice in one field, the longest first": (["max-age=300, max-age=60"], 300 * SECOND),
    "in two fields, the longest counts": (["max-age=300", "max-age=60"], 300 * SECOND),
    "garbage first": (["max-age=soon, max-age=300"], 300 * SECOND),
    "garbage last": (["max-age=300, max-age=soon"], 300 * SECOND),
    "no-cache voids it": (["max-age=300, no-cache"], None),
    "no-store voids it": (["no-store, max-age=300"], None),
    "no-cache in another field voids it": (["max-age=300", "No-Cache"], None),
    "must-revalidate does not": (["max-age=300, must-revalidate"], 300 * SECOND),
    "proxy-revalidate does not": (["max-age=300, proxy-revalidate"], 300 * SECOND),
    "a directive inside quotes is none": (['private="max-age=300"'], None),
    "no-cache inside quotes is none": (['ext="a, no-cache", max-age=300'], 300 * SECOND),
    "a day": (["max-age=86400"], DAY),
    "a day at most": (["max-age=86401"], DAY),
    "thousands of digits": (["max-age=" + "9" * 5000], DAY),
    "a long field is not cut inside a number": (
        [f'ext="{"x" * 980}", max-age=36000'],
        10 * HOUR,
    ),
}


@pytest.mark.parametrize("values, wait", CACHE_CONTROL.values(), ids=CACHE_CONTROL)
def test_cache_control(values, wait):
    assert wait_of(("Cache-Control", value) for value in values) == wait


AGE = {
    "is taken off": ("100", 200 * SECOND),
    "zero": ("0", 300 * SECOND),
    "the whole lifetime": ("300", None),
    "more than the lifetime": ("301", None),
    "garbage counts as none": ("old", 300 * SECOND),
    "negative counts as none": ("-100", 300 * SECOND),
    "thousands of digits": ("9" * 5000, None),
}


@pytest.mark.parametrize("age, wait", AGE.values(), ids=AGE)
def test_age(age, wait):
    assert wait_of([("Cache-Control", "max-age=300"), ("Age", age)]) == wait


def test_age_is_taken_off_before_the_day_is_the_limit():
    assert wait_of([("Cache-Control", "max-age=172800"), ("Age", "100")]) == DAY


EXPIRES = {
    "minus Date": ([("Expires", http(NOW + HOUR)), ("Date", http(NOW))], HOUR),
    "server 10 min ahead": (
        [("Expires", http(NOW + 70 * MINUTE)), ("Date", http(NOW + 10 * MINUTE))],
        HOUR,
    ),
    "server 10 min behind": (
        [("Expires", http(NOW + 50 * MINUTE)), ("Date", http(NOW - 10 * MINUTE))],
        HOUR,
    ),
    "without Date: minus receipt": ([("Expires", http(NOW + HOUR))], HOUR),
    "with an unreadable Date: minus receipt": (
        [("Expires", http(NOW + HOUR)), ("Date", "today")],
        HOUR,
    ),
    "equal to Date": ([("Expires", http(NOW)), ("Date", http(NOW))], None),
    "past": ([("Expires", http(NOW - HOUR)), ("Date", http(NOW))], None),
    "0 means expired": ([("Expires", "0")], None),
    "-1 means expired": ([("Expires", "-1")], None),
    "nothing": ([("Expires", "")], None),
    "a day at most": ([("Expires", http(NOW + 365 * DAY)), ("Date", http(NOW))], DAY),
    "the last day of all": ([("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")], DAY),
    "no-cache voids it": ([("Expires", http(NOW + HOUR)), ("Cache-Control", "no-cache")], None),
    "no-store voids it": ([("Expires", http(NOW + HOUR)), ("Cache-Control", "no-store")], None),
}


@pytest.mark.parametrize("fields, wait", EXPIRES.values(), ids=EXPIRES)
def test_expires(fields, wait):
    assert wait_of(fields) == wait


def three(interval: int, max_age: int, expires: int) -> list[tuple[str, str]]:
    return [
        ("X-Poll-Interval", str(interval)),
        ("Cache-Control", f"max-age={max_age}"),
        ("Expires", http(NOW + timedelta(seconds=expires))),
        ("Date", http(NOW)),
    ]


LATEST = {
    "X-Poll-Interval is the latest": (three(90, 60, 30), 90 * SECOND, "X-Poll-Interval: 90"),
    "max-age is the latest": (three(60, 90, 30), 90 * SECOND, "Cache-Control: max-age=90"),
    "Expires is the latest": (
        three(30, 60, 90),
        90 * SECOND,
        f"Expires: {http(NOW + 90 * SECOND)}",
    ),
    "of equal ones the first is named": (three(60, 60, 60), MINUTE, "X-Poll-Interval: 60"),
    "X-Poll-Interval holds beside no-cache": (
        [("X-Poll-Interval", "60"), ("Cache-Control", "no-cache, max-age=300")],
        MINUTE,
        "X-Poll-Interval: 60",
    ),
    "max-age holds beside an expired Expires": (
        [("Cache-Control", "max-age=60"), ("Expires", "0")],
        MINUTE,
        "Cache-Control: max-age=60",
    ),
}


@pytest.mark.parametrize("fields, wait, because", LATEST.values(), ids=LATEST)
def test_the_latest_wins_and_is_named(fields, wait, because):
    asked = poll_floor(Headers(tuple(fields)), received_at=NOW)
    assert asked is not None
    assert asked.name is ObjectionName.FLOOR
    assert (asked.until - NOW, asked.because) == (wait, because)


CLAMPED = {"a day": (86_400, False), "a second more": (86_401, True), "a year": (31_536_000, True)}


@pytest.mark.parametrize("seconds, clamped", CLAMPED.values(), ids=CLAMPED)
def test_a_clamped_freshness_says_so(seconds, clamped):
    asked = poll_floor(headers(("Cache-Control", f"max-age={seconds}")), received_at=NOW)
    assert asked is not None
    assert f"max-age={seconds}" in asked.because
    assert ("clamped" in asked.because) is clamped


def test_headers_without_a_wish_make_no_floor():
    fields = headers(("ETag", '"1"'), ("Last-Modified", http(NOW - DAY)), ("Date", http(NOW)))
    assert poll_floor(fields, received_at=NOW) is None
