"""What people type, read: ids, durations, and the options that many commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated

import typer

from sourcemon.core.sources import SourceId, interval_problem
from sourcemon.errors import Refused, UnknownSource

_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_DURATION = re.compile("(?=.)" + "".join(f"(?:([0-9]{{1,7}}){unit})?" for unit in _UNITS))
_SECONDS = re.compile("[0-9]{1,7}")
_LARGEST_ID = 2**63 - 1

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
OneId = Annotated[str, typer.Argument(metavar="ID", help="The source's id.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID", help="Ids of sources.")]
AnyId = Annotated[str | None, typer.Argument(metavar="ID", help="Only of the source with this id.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="How many to list at most.")]


def source_id(text: str) -> SourceId:
    """The id in a text.

    Raises:
        Refused: it is no number.
        UnknownSource: no source can have that number.
    """
    if not (text.isascii() and text.isdigit()):
        raise Refused(f"{text!r} is no source id; `sourcemon sources` lists the ids")
    number = int(text[:30])
    if not 1 <= number <= _LARGEST_ID:
        raise UnknownSource(number)
    return SourceId(number)


def source_ids(texts: Sequence[str]) -> tuple[SourceId, ...]:
    """The ids in the texts, in their order, each once; refuses as :func:`source_id`."""
    return tuple(dict.fromkeys(source_id(text) for text in texts))


def interval(text: str) -> timedelta:
    """A polling interval: seconds, or days, hours, minutes and seconds in this order.

    ``900``, ``15m``, ``1h30m`` and ``2d`` are intervals.

    Raises:
        Refused: it is none, or not between 10 seconds and 30 days.
    """
    found = _duration(text.strip().lower())
    if found is None:
        raise Refused(f"{text!r} is no interval; write e.g. 15m, 1h30m, 2d or seconds as 900")
    problem = interval_problem(found)
    if problem is not None:
        raise Refused(problem)
    return found


def _duration(text: str) -> timedelta | None:
    if _SECONDS.fullmatch(text):
        return timedelta(seconds=int(text))
    matched = _DURATION.fullmatch(text)
    if matched is None:
        return None
    counts = map(int, matched.groups(default="0"))
    return timedelta(**dict(zip(_UNITS.values(), counts, strict=True)))
