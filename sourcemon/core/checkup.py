"""What a look at the whole installation found: each subject with its state, and the fix."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sourcemon.core.durations import describe

TOLERATED_SKEW = timedelta(seconds=5)
"""How far this machine's clock and the database's may differ."""
TOLERATED_LAG = timedelta(minutes=5)
"""How long a source may be due before somebody should look at the dispatcher."""


class State(StrEnum):
    """How a subject stands."""

    OK = "ok"
    WARNING = "warning"
    """It works, but an operator will want to know."""
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One subject that was looked at."""

    subject: str
    state: State
    message: str
    fix: str | None = None
    """What to do about it; ``None`` where all is well."""


def contact(who: str | None, public_sources: int) -> Finding:
    """Whether servers can tell who asks, which matters once one beyond this machine is asked."""
    if who is not None:
        return Finding(subject="contact", state=State.OK, message=who)
    state = State.PROBLEM if public_sources else State.WARNING
    needed = _sources_are(public_sources) if public_sources else "it is needed before one is"
    message = f"none is set, and {needed} beyond this machine"
    fix = "set SOURCEMON_CONTACT to an address or a page, e.g. mailto:ops@example.org"
    return Finding(subject="contact", state=state, message=message, fix=fix)


def clock(here: datetime, database: datetime) -> Finding:
    """Whether this machine and the database agree on the time: claims expire on the database's."""
    skew = abs(here - database)
    if skew <= TOLERATED_SKEW:
        return Finding(subject="clock", state=State.OK, message="agrees with the database's")
    message = f"{describe(skew)} apart from the database's"
    fix = "let both machines follow the same time server"
    return Finding(subject="clock", state=State.PROBLEM, message=message, fix=fix)


def schedule(overdue: int, longest: timedelta) -> Finding:
    """Whether due sources get polled; ``overdue`` counts those due and not under way."""
    if longest <= TOLERATED_LAG:
        message = f"{overdue} due now" if overdue else "nothing is overdue"
        return Finding(subject="schedule", state=State.OK, message=message)
    message = f"{_sources_are(overdue)} due, the first for {describe(longest)}"
    fix = "is poll-due running? start `make up` or a worker, or poll by hand: sourcemon poll --due"
    return Finding(subject="schedule", state=State.PROBLEM, message=message, fix=fix)


def _sources_are(count: int) -> str:
    return f"{count} source is" if count == 1 else f"{count} sources are"
