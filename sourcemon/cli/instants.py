"""Instants for people: this machine's local time, always with its zone. Reads no clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

_NEAR = timedelta(days=180)
"""Within this span of now a day without its year is understood."""


def exact(instant: datetime) -> str:
    """To the second, e.g. ``2026-12-01 14:05:00 CET``; a part of a second is dropped."""
    local = _local(instant)
    return f"{local.replace(tzinfo=None, microsecond=0).isoformat(sep=' ')} {_zone(local)}"


def not_before(instant: datetime) -> str:
    """As :func:`exact`, rounded up: whoever comes back at the second shown is not too early."""
    return exact(_rounded_up(instant, seconds=1))


def brief(instant: datetime, now: datetime) -> str:
    """To the minute: ``14:05 CET`` today, ``2 Dec 14:05 CET`` on a near day, else the day alone."""
    local = _local(instant)
    if local.date() == _local(now).date():
        return f"{local:%H:%M} {_zone(local)}"
    if abs(instant - now) < _NEAR:
        return f"{local.day} {local:%b %H:%M} {_zone(local)}"
    return local.date().isoformat()


def brief_not_before(instant: datetime, now: datetime) -> str:
    """As :func:`brief`, rounded up to a whole minute."""
    return brief(_rounded_up(instant, seconds=60), now)


@dataclass(frozen=True, slots=True)
class Times:
    """How instants are written in a table: brief where room is scarce, exact elsewhere."""

    now: datetime
    are_brief: bool

    def past(self, instant: datetime | None) -> str:
        """An instant that has been, ``""`` for none."""
        if instant is None:
            return ""
        return brief(instant, self.now) if self.are_brief else exact(instant)

    def not_before(self, instant: datetime) -> str:
        """An instant to wait for, rounded up."""
        if self.are_brief:
            return brief_not_before(instant, self.now)
        return not_before(instant)


def _rounded_up(instant: datetime, *, seconds: int) -> datetime:
    midnight = instant.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        return instant + (midnight - instant) % timedelta(seconds=seconds)
    except OverflowError:
        return instant


def _local(instant: datetime) -> datetime:
    """The instant on this machine's clock; at the edges of the calendar as it is."""
    try:
        return instant.astimezone()
    except (OverflowError, OSError, ValueError):
        return instant


def _zone(local: datetime) -> str:
    return local.tzname() or "UTC"
