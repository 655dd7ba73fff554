"""Durations in words."""

from __future__ import annotations

from datetime import timedelta


def describe(span: timedelta) -> str:
    """A duration for a person: the two largest units that are not zero, ``"0 s"`` for none."""
    rest = round(span.total_seconds())
    words = []
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        count, rest = divmod(rest, size)
        if count:
            words.append(f"{count} {unit}")
    return " ".join(words[:2]) or "0 s"
