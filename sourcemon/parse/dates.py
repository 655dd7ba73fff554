"""Publishers' dates to instants. The clock and the local time zone are never read."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_LONGEST = 100
_ZONES = {
    0.0: "z ut utc gmt wet",
    1.0: "bst west cet met mez",
    2.0: "cest mest mesz eet sast",
    3.0: "eest msk",
    5.0: "pkt",
    5.5: "ist",
    7.0: "ict wib",
    8.0: "hkt sgt awst",
    9.0: "jst kst",
    9.5: "acst",
    10.0: "aest",
    10.5: "acdt",
    11.0: "aedt",
    12.0: "nzst",
    13.0: "nzdt",
    -2.5: "ndt",
    -3.0: "adt brt",
    -3.5: "nst",
    -4.0: "ast edt",
    -5.0: "cdt est et",
    -6.0: "cst ct mdt",
    -7.0: "mst mt pdt",
    -8.0: "akdt pst pt",
    -9.0: "akst",
    -10.0: "hst",
}
"""Hours east of Greenwich → names of zones: RFC 5322 section 4.3 and those that publishers use.

``IST`` is India's, ``CST`` and ``BST`` are America's and Britain's: those are the ones in feeds.
"""
_HOURS = {name: hours for hours, names in _ZONES.items() for name in names.split()}

_MONTH_NAMES = (
    "jan ene gen янв",
    "feb fev fév фев",
    "mar mär maa mrt мар",
    "apr abr avr апр",
    "may mai mei mag maj мая",
    "jun giu juin июн",
    "jul lug juil июл",
    "aug ago aoû aou авг",
    "sep set сен",
    "oct okt ott out окт",
    "nov ноя",
    "dec dez dic déc дек",
)
"""The first letters of the months in the languages that use them in feeds, in lower case."""
_MONTHS = {name: month for month, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}

_DATES = (
    # 2026-01-05, 20260105, 20260105100000, 2026-W02-1, 2026-005, 2026-1-5, 2026/1/5, 2026-01, 2026
    re.compile(
        r"(?P<iso>\d{4}(?:-?w\d\d(?:-?\d)?|-?\d{3}|\d{4}|[-/]\d\d?(?:[-/]\d\d?)?|$))"
        r"(?:(?!\d)|(?=\d{6}$))"
    ),
    # Mon Jan 5 10:00:00 2026, Mon Jan 5 10:00:00 PST 2026
    re.compile(
        r"[^\d]*?(?P<month>[^\W\d_]+) (?P<day>\d\d?) (?P<time>\d\d?:\d\d:\d\d(?: [a-z+-]\S*)?)"
        r" (?P<year>\d{4})$"
    ),
    # Mon, 05 January 2026, 5-jan-26, Mon,5th Jan.2026
    re.compile(
        r"[^\d]*(?P<day>\d\d?)(?:st|nd|rd|th)?[\s.,/-]*(?P<month>[^\W\d_]+)[\s.,/-]*"
        r"(?P<year>\d{4}|\d\d)(?!\d)"
    ),
    # Mon, January 5, 2026
    re.compile(
        r"[^\d]*?(?P<month>[^\W\d_]+)\.? (?P<day>\d\d?)(?:st|nd|rd|th)?,? (?P<year>\d{4})(?!\d)"
    ),
    # 05.01.2026
    re.compile(r"[^\d]*(?P<day>\d\d?)\.(?P<number>\d\d?)\.(?P<year>\d{4})(?!\d)"),
)
_TIME = re.compile(
    r"(?:[\s,t-]|at\b)*(?P<hour>\d\d?):?(?P<minute>\d\d)?"
    r"(?::?(?P<second>\d\d)(?:[.,]\d+)?)?\s*(?P<half>[ap])?(?(half)\.?m\.?)"
    r"\s*\(?(?P<zone>[a-z]*)/?\s*(?:(?P<sign>[+-])\s*(?P<h>\d\d?):?(?P<m>\d{0,2})(?P<too_much>\d*))?"
)
_EPOCH = re.compile(r"(\d{9,10})(?:\d{3})?")
_EPOCH_BEGAN = datetime(1970, 1, 1, tzinfo=UTC)
_NO_DATE = datetime(1, 1, 2, tzinfo=UTC)
"""Year one is what .NET and Go write for "no date"."""


def instant(text: object) -> datetime | None:
    """The instant that a publisher's text names, in UTC and whole seconds, or ``None``.

    RFC 5322 and ISO 8601 with the liberties that feeds take: month names by their first letters,
    any case, missing blanks and weekdays, 24:00, two-digit years (RFC 5322 section 4.3: below 50
    is 20xx), seconds since 1970. A missing or unknown zone is UTC, a missing time midnight. Text
    that names no instant (the 31st of February, an offset of a day, a time alone) is ``None``.
    """
    cleaned = " ".join(text.lower().split()) if isinstance(text, str) else ""
    if not cleaned or len(cleaned) > _LONGEST:
        return None
    try:
        found = _from_epoch(cleaned) or _from_calendar(cleaned)
    except (ValueError, OverflowError):
        return None
    return found if found is None or found >= _NO_DATE else None


def _from_epoch(text: str) -> datetime | None:
    """The instant of a bare number of seconds or milliseconds since 1970."""
    found = _EPOCH.fullmatch(text)
    return _EPOCH_BEGAN + timedelta(seconds=int(found[1])) if found else None


def _from_calendar(text: str) -> datetime | None:
    """The instant of a date, with or without time and zone.

    Raises:
        ValueError, OverflowError: the text names a date, time or zone that does not exist.
    """
    for form in _DATES:
        found = form.match(text)
        day = _day(found.groupdict()) if found else None
        if found and day:
            rest = found.groupdict().get("time") or text[found.end() :]
            return datetime(day.year, day.month, day.day, tzinfo=UTC) + _since_midnight_utc(rest)
    return None


def _day(parts: dict[str, str | None]) -> date | None:
    """The date in the parts of a match; ``None`` when its word is no month.

    Raises:
        ValueError: there is no such date.
    """
    if parts.get("iso"):
        return _iso_day(str(parts["iso"]))
    name = parts.get("month") or ""
    month = int(parts.get("number") or 0) or _MONTHS.get(name[:3]) or _MONTHS.get(name[:4])
    if month is None:
        return None
    year = str(parts["year"])
    century = 0 if len(year) > 2 else 2000 if int(year) < 50 else 1900
    return date(century + int(year), month, int(str(parts["day"])))


def _iso_day(text: str) -> date:
    """The date of an ISO 8601 calendar, week or ordinal date; a missing part is the first.

    Raises:
        ValueError: there is no such date.
    """
    if ordinal := re.fullmatch(r"(\d{4})-?(\d{3})", text):
        day = date(int(ordinal[1]), 1, 1) + timedelta(days=int(ordinal[2]) - 1)
        if day.year != int(ordinal[1]):
            raise ValueError(text)
        return day
    if numbers := re.fullmatch(r"(\d{4})(?:[-/](\d\d?)(?:[-/](\d\d?))?)?", text):
        return date(int(numbers[1]), int(numbers[2] or 1), int(numbers[3] or 1))
    return date.fromisoformat(text.upper())


def _since_midnight_utc(text: str) -> timedelta:
    """How long after midnight UTC of its date a time of day with its zone is; no time is midnight.

    Raises:
        ValueError: there is no such time of day or no such offset.
    """
    found = _TIME.match(text)
    if not found:
        return timedelta()
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    if found["half"]:
        hour = hour % 12 + (12 if found["half"] == "p" else 0)
    whole_day = (hour, minute, second) == (24, 0, 0)
    if not whole_day and (hour > 23 or minute > 59 or second > 60):
        raise ValueError(text)
    return timedelta(hours=hour, minutes=minute, seconds=min(second, 59)) - _offset(found)


def _offset(found: re.Match[str]) -> timedelta:
    """How far east of Greenwich the zone of a matched time is.

    Raises:
        ValueError: a day or more, or 60 minutes and more.
    """
    named = timedelta(hours=_HOURS.get(found["zone"], 0.0))
    if not found["sign"]:
        return named
    hours, minutes = int(found["h"]), int(found["m"] or 0)
    if hours > 23 or minutes > 59 or found["too_much"]:
        raise ValueError(found[0])
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if found["sign"] == "-" else offset
