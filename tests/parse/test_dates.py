"""Dates as publishers write them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.parse.dates import instant

TEN = datetime(2026, 3, 9, 10, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 9, tzinfo=UTC)

INSTANTS = {
    "RFC 5322 with an offset": ("Mon, 09 Mar 2026 12:30:00 +0230", TEN),
    "RFC 5322 with a zone by name": ("Mon, 09 Mar 2026 10:00:00 GMT", TEN),
    "an American zone": ("Mon, 09 Mar 2026 06:00:00 EDT", TEN),
    "an American zone without its season": ("Mon, 09 Mar 2026 05:00:00 ET", TEN),
    "a European summer zone": ("Mon, 09 Mar 2026 12:00:00 MEST", TEN),
    "a zone of half hours": ("Mon, 09 Mar 2026 15:30:00 IST", TEN),
    "the letter Z": ("Mon, 09 Mar 2026 10:00:00 Z", TEN),
    "a missing zone is UTC": ("Mon, 09 Mar 2026 10:00:00", TEN),
    "an unknown zone is UTC": ("Mon, 09 Mar 2026 10:00:00 QQQ", TEN),
    "a zone by its place is UTC": ("Mon, 09 Mar 2026 10:00:00 Etc/UTC", TEN),
    "GMT with hours": ("Mon, 09 Mar 2026 12:00:00 GMT+2", TEN),
    "UTC with hours and minutes": ("Mon, 09 Mar 2026 04:30:00 UTC-05:30", TEN),
    "an offset in brackets too": ("Mon, 09 Mar 2026 11:00:00 +0100 (CET)", TEN),
    "no blank before the zone": ("Mon, 09 Mar 2026 10:00:00GMT", TEN),
    "no blank before the offset": ("Mon, 09 Mar 2026 11:00:00+0100", TEN),
    "no blank after the comma": ("MON,09 MAR 2026 10:00:00", TEN),
    "no weekday": ("9 Mar 2026 10:00 UT", TEN),
    "no seconds": ("Mon, 9 Mar 2026 10:00 GMT", TEN),
    "no time": ("Mon, 09 Mar 2026", MIDNIGHT),
    "no colon in the time": ("9 Mar 26 1000 GMT", TEN),
    "a month written out": ("Mon, 9 March 2026 10:00:00 +0000", TEN),
    "a month of four letters": ("Wed, 9 Sept 2026 10:00:00 +0000", TEN.replace(month=9)),
    "a month in Italian": ("lun, 09 giu 2025 10:00:00 GMT", datetime(2025, 6, 9, 10, tzinfo=UTC)),
    "a month in Portuguese": ("Qua, 09 Set 2026 07:00:00 -0300", TEN.replace(month=9)),
    "a month in French": ("jeu., 9 juil. 2026 10:00", TEN.replace(month=7)),
    "a weekday that looks like a month": ("mar, 09 nov 2026 10:00:00 GMT", TEN.replace(month=11)),
    "a wrong weekday": ("Fri, 09 Mar 2026 10:00:00 GMT", TEN),
    "two digits below 50 are 20xx": ("Mon, 09 Mar 26 10:00:00 GMT", TEN),
    "two digits from 50 are 19xx": ("09-Mar-50 10:00:00", TEN.replace(year=1950)),
    "the month first": ("March 9, 2026 10:00 AM", TEN),
    "noon and midnight": ("Mar 9, 2026, 12:00:00 a.m. UTC", MIDNIGHT),
    "an afternoon": ("Mar 9th, 2026 10:00 p.m.", TEN + timedelta(hours=12)),
    "asctime": ("Mon Mar  9 10:00:00 2026", TEN),
    "asctime with a zone": ("Mon Mar 9 03:00:00 PDT 2026", TEN),
    "JavaScript": ("Mon Mar 09 2026 11:00:00 GMT+0100 (CET)", TEN),
    "with points": ("09.03.2026 10:00", TEN),
    "ISO 8601": ("2026-03-09T12:00:00+02:00", TEN),
    "ISO 8601 with fractions": ("2026-03-09T10:00:00.999Z", TEN),
    "ISO 8601 with a comma": ("2026-03-09T10:00:00,5Z", TEN),
    "ISO 8601 without seconds": ("2026-03-09T10:00Z", TEN),
    "ISO 8601 with an hour's offset": ("2026-03-09T12:00:00+02", TEN),
    "ISO 8601 with a torn offset": ("2026-03-09T12:00:00+02:0", TEN),
    "ISO 8601 with a blank": ("2026-03-09 12:00:00 +0200", TEN),
    "ISO 8601 in small letters": ("2026-03-09t10:00:00z", TEN),
    "ISO 8601 without signs": ("20260309T100000Z", TEN),
    "digits only": ("20260309100000", TEN),
    "an ISO week": ("2026-W11-1T10:00Z", TEN),
    "a day of the year": ("2026-068T10:00Z", TEN),
    "one digit each": ("2026-3-9 10:00", TEN),
    "slashes": ("2026/03/09 10:00:00", TEN),
    "a day": ("2026-03-09", MIDNIGHT),
    "a month": ("2026-03", MIDNIGHT.replace(day=1)),
    "a year": ("2026", MIDNIGHT.replace(month=1, day=1)),
    "24:00 is the next midnight": ("2026-03-08T24:00:00Z", MIDNIGHT),
    "a leap second is the one before": (
        "Sat, 31 Dec 2016 23:59:60 GMT",
        datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC),
    ),
    "seconds since 1970": ("1773050400", TEN),
    "milliseconds since 1970": ("1773050400123", TEN),
    "the future": ("Mon, 09 Mar 2099 10:00:00 GMT", TEN.replace(year=2099)),
    "blanks around and within": ("\n Mon,\t09  Mar 2026\n10:00:00 GMT ", TEN),
}

NOTHING = {
    "nothing": None,
    "no text": ["2026"],
    "a blank": " \n",
    "words": "yesterday",
    "a time alone, which would need today's date": "10:00:00",
    "a weekday and a time": "Mon 10:00",
    "a month without a year": "9 Mar",
    "a day that its month lacks": "Tue, 31 Feb 2026 10:00:00 GMT",
    "a day that its year lacks": "2026-366",
    "day zero": "2026-03-00",
    "a month that is none": "Mon, 09 Foo 2026 10:00:00 GMT",
    "month 13": "2026-13-01",
    "the 54th week": "2026-W54-1",
    "the 25th hour": "Mon, 09 Mar 2026 25:00:00 GMT",
    "the 61st minute": "2026-03-09T10:61Z",
    "an offset of days": "Mon, 09 Mar 2026 10:00:00 +9900",
    "an offset of 99 minutes": "Mon, 09 Mar 2026 10:00:00 +0099",
    "an offset of six digits": "Mon, 09 Mar 2026 10:00:00 +012345",
    "the year 0": "0000-01-01T00:00:00Z",
    "the year 1, which stands for no date": "Mon, 01 Jan 0001 00:00:00 GMT",
    "before the year 1": "0001-01-01T00:00:00+14:00",
    "after the year 9999": "9999-12-31T23:59:59-01:00",
    "five digits of a year": "12026-03-09",
    "a date that could be two": "03/09/2026",
    "more than 100 characters": "Mon, 09 Mar 2026 10:00:00 GMT" + " (comment)" * 10,
}


@pytest.mark.parametrize(("text", "expected"), INSTANTS.values(), ids=INSTANTS)
def test_a_text_names_an_instant(text, expected):
    assert instant(text) == expected


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_a_text_names_no_instant(text):
    assert instant(text) is None


DATE_LIKE = st.from_regex(
    r"\A((Mon|31|Feb|mar|2026|26|0|10:00|\+0100|-99|GMT|T|Z|W53|AM|p\.m\.|1773050400)[-,:/.( ]?)*\Z"
)


@given(st.one_of(st.text(), DATE_LIKE, st.integers().map(str)))
def test_every_text_names_a_whole_second_in_utc_or_nothing(text):
    found = instant(text)

    assert found is None or (found.tzinfo is UTC and found.microsecond == 0)


@given(st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001
def test_what_python_writes_is_read_back(naive):
    expected = naive.replace(tzinfo=UTC, microsecond=0)

    assert instant(expected.isoformat()) == expected
    assert (
        instant(expected.strftime("%a, %d %b ") + expected.strftime("%Y %T").zfill(13)) == expected
    )
