"""Retry-After: honoured to the second, whatever its form; unreadable is no hint."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sourcemon.core.headers import http_date, retry_after
from sourcemon.core.replies import Headers
from sourcemon.core.schedule import ObjectionName
from tests.core.handmade import DAY, HOUR, MINUTE, NOW, SECOND, headers, http

IN_TEN = NOW + 10 * MINUTE
FORMS = {
    "the preferred form": ("Sat, 10 Jan 2026 12:10:00 GMT", IN_TEN),
    "the form of RFC 850": ("Saturday, 10-Jan-26 12:10:00 GMT", IN_TEN),
    "the form of asctime": ("Sat Jan 10 12:10:00 2026", IN_TEN),
    "asctime with a day of one digit": ("Thu Jan  1 12:10:00 2026", IN_TEN - 9 * DAY),
    "a zone by number": ("Sat, 10 Jan 2026 13:10:00 +0100", IN_TEN),
    "blanks around": ("  Sat, 10 Jan 2026 12:10:00 GMT ", IN_TEN),
    "none at all": (None, None),
    "nothing": ("", None),
    "zero": ("0", None),
    "a negative number": ("-1", None),
    "words": ("next Saturday", None),
    "a day that does not exist": ("Mon, 30 Feb 2026 12:10:00 GMT", None),
    "an hour that does not exist": ("Sat, 10 Jan 2026 25:10:00 GMT", None),
    "a zone that does not exist": ("Sat, 10 Jan 2026 12:10:00 +9999", None),
    "an instant after all instants": ("Fri, 31 Dec 9999 23:59:59 -0100", None),
    "a year of a thousand digits": (f"Sat, 10 Jan {'9' * 1000} 12:10:00 GMT", None),
}


@pytest.mark.parametrize("text, expected", FORMS.values(), ids=FORMS)
def test_http_date(text, expected):
    assert http_date(text) == expected


def test_an_http_date_is_aware_utc():
    found = http_date("Sat, 10 Jan 2026 13:10:00 +0100")
    assert found is not None
    assert found.utcoffset() == timedelta(0)


def dated(until, *, date=None):
    fields = [("Retry-After", http(until))]
    return [*fields, ("Date", http(date))] if date else fields


SECONDS = {
    "seconds": ("120", 120 * SECOND),
    "one second": ("1", SECOND),
    "leading zeros": ("0120", 120 * SECOND),
    "blanks around": (" 120\t", 120 * SECOND),
    "a fraction is rounded up": ("1.2", 2 * SECOND),
    "less than a second is one": ("0.001", SECOND),
    "a fraction of nothing": ("120.0", 120 * SECOND),
    "zero is no hint": ("0", None),
    "zero with a fraction of nothing is no hint": ("0.0", None),
    "a negative number is no hint": ("-120", None),
    "nothing is no hint": ("", None),
    "words are no hint": ("soon", None),
    "a unit is no hint": ("120s", None),
    "two numbers in one are no hint": ("1 20", None),
    "hexadecimal is no hint": ("0x78", None),
    "an exponent is no hint": ("1e3", None),
    "infinity is no hint": ("inf", None),
    "digits of another script are no hint": ("١٢٠", None),
    "superscript digits are no hint": ("¹²⁰", None),
    "30 days are honoured to the second": ("2592000", 30 * DAY),
    "a second more is implausible": ("2592001", DAY),
    "thousands of digits are implausible": ("9" * 5000, DAY),
    "thousands of zeros are no hint": ("0" * 5000, None),
    "a number after thousands of zeros": ("0" * 5000 + "120", 120 * SECOND),
    "a fraction of thousands of digits": ("1." + "9" * 5000, 2 * SECOND),
}


@pytest.mark.parametrize("value, wait", SECONDS.values(), ids=SECONDS)
def test_seconds_count_from_receipt(value, wait):
    asked = retry_after(headers(("Retry-After", value)), received_at=NOW)
    assert (asked.until - NOW if asked else None) == wait


DATES = {
    "right clock": (dated(NOW + MINUTE, date=NOW), MINUTE),
    "no Date: our clock at receipt": (dated(NOW + MINUTE), MINUTE),
    "unreadable Date: our clock at receipt": (
        [*dated(NOW + MINUTE), ("Date", "yesterday")],
        MINUTE,
    ),
    "server 10 min ahead": (dated(NOW + 11 * MINUTE, date=NOW + 10 * MINUTE), MINUTE),
    "server 10 min behind, instant past by our clock": (
        dated(NOW - 9 * MINUTE, date=NOW - 10 * MINUTE),
        MINUTE,
    ),
    "server 10 min ahead, instant past by its clock": (
        dated(NOW + 9 * MINUTE, date=NOW + 10 * MINUTE),
        None,
    ),
    "the instant of Date itself is no hint": (dated(NOW, date=NOW), None),
    "a past instant is no hint": (dated(NOW - SECOND, date=NOW), None),
    "a past instant without Date is no hint": (dated(NOW - SECOND), None),
    "30 days are honoured to the second": (dated(NOW + 30 * DAY, date=NOW), 30 * DAY),
    "a second more is implausible": (dated(NOW + 30 * DAY + SECOND, date=NOW), DAY),
    "the last day of all is implausible": (
        [("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"), ("Date", http(NOW))],
        DAY,
    ),
    "the form of RFC 850": (
        [("Retry-After", "Saturday, 10-Jan-26 12:10:00 GMT"), ("Date", http(NOW))],
        10 * MINUTE,
    ),
    "the form of asctime": (
        [("Retry-After", "Sat Jan 10 12:10:00 2026"), ("Date", http(NOW))],
        10 * MINUTE,
    ),
    "Date in another form": (
        [("Retry-After", http(IN_TEN)), ("Date", "Sat Jan 10 12:05:00 2026")],
        5 * MINUTE,
    ),
}


@pytest.mark.parametrize("fields, wait", DATES.values(), ids=DATES)
def test_a_date_is_read_against_the_servers_own_clock(fields, wait):
    asked = retry_after(Headers(tuple(fields)), received_at=NOW)
    assert (asked.until - NOW if asked else None) == wait


FIELDS = {
    "of several fields the latest counts": (["60", "120", "90"], 120 * SECOND),
    "a usable one among garbage counts": (["soon", "60", "-1"], MINUTE),
    "a date beside seconds": (["60", http(NOW + HOUR)], HOUR),
    "an implausible one beside a longer plausible one": (["9" * 99, "172800"], 2 * DAY),
    "garbage alone is no hint": (["soon", "0"], None),
}


@pytest.mark.parametrize("values, wait", FIELDS.values(), ids=FIELDS)
def test_several_fields(values, wait):
    fields = [("Retry-After", value) for value in values]
    asked = retry_after(Headers(tuple(fields)), received_at=NOW)
    assert (asked.until - NOW if asked else None) == wait


def test_no_field_is_no_hint():
    assert retry_after(headers(("Retry-Before", "120")), received_at=NOW) is None


def test_the_name_of_the_field_has_no_case():
    asked = retry_after(headers(("rETRY-aFTER", "120")), received_at=NOW)
    assert asked is not None


def test_it_is_the_retry_objection_and_quotes_the_header():
    asked = retry_after(headers(("Retry-After", "120")), received_at=NOW)
    assert asked is not None
    assert asked.name is ObjectionName.RETRY
    assert asked.because == "Retry-After: 120"


def test_a_clamped_wait_says_so():
    asked = retry_after(headers(("Retry-After", "2592001")), received_at=NOW)
    assert asked is not None
    assert "2592001" in asked.because
    assert "clamped" in asked.because


def test_a_long_or_unprintable_value_is_shown_short_and_clean():
    value = "\t" + "9" * 5000 + "\t"
    asked = retry_after(headers(("Retry-After", value)), received_at=NOW)
    assert asked is not None
    assert len(asked.because) < 150
    assert asked.because.isprintable()


MERGED = {
    "several counts, as proxies merge them": ("3600, 7200", 7200),
    "several counts with one that is none": ("3600, soon", None),
}


@pytest.mark.parametrize("value, seconds", MERGED.values(), ids=MERGED)
def test_fields_that_a_proxy_merged(value, seconds):
    found = retry_after(Headers((("Retry-After", value),)), received_at=NOW)
    waited = (found.until - NOW).total_seconds() if found else None
    assert waited == seconds
