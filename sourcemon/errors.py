"""Faults of ours and refusals to the operator; the world's behaviour is never an exception.

::

    SourcemonError
    ├── Refused                  the operator asked for something that cannot be (exit 2)
    │   ├── BadSetting           a setting is missing or out of range
    │   ├── BadUrl               the text is no URL that can be polled
    │   ├── UnknownSource        no source has that id
    │   ├── DuplicateSource      the same URL is watched already
    │   └── DatabaseBehind       the schema is older or newer than this program
    ├── DatabaseUnavailable      the database cannot be reached or answers with an error
    ├── Stopped                  the process was told to end; what was under way is recorded so
    ├── NoSlotFree               the fleet's cap on polls under way is used up; later it will not be
    └── ClaimLost                another worker owns the poll now; ours must write nothing

A dead feed, a timeout or a 500 is a :class:`sourcemon.core.replies.Reply`, not an error.
Programming mistakes stay ``ValueError``, ``TypeError`` and ``AssertionError``.
"""

from __future__ import annotations

import re

_SHOWN = 100


def without_credentials(url: str) -> str:
    """A URL, or what was meant as one, short enough for a sentence and without credentials.

    Whatever stands before the last ``@`` is blotted out: a password may hold any character.
    """
    safe = re.sub(r"(?s)^(\w+:(?://)?)?.*@", r"\1…@", url)
    return safe if len(safe) <= _SHOWN else f"{safe[:_SHOWN]}…"


class SourcemonError(Exception):
    """Any fault this package raises on purpose; ``transient`` tells whether waiting may cure it."""

    transient: bool = False


class Refused(SourcemonError):
    """The request cannot be carried out as asked; the message names what is wrong and the fix."""


class BadSetting(Refused):
    """A setting is missing or out of range; the message names the variable and the range."""


class BadUrl(Refused):
    """The text is not a URL that can be polled."""

    def __init__(self, url: str, problem: str) -> None:
        super().__init__(f"cannot poll {without_credentials(url)!r}: {problem}")


class UnknownSource(Refused):
    """No source has this id."""

    def __init__(self, source_id: int) -> None:
        super().__init__(f"there is no source {source_id}; `sourcemon sources` lists them")
        self.source_id = source_id


class DuplicateSource(Refused):
    """The URL (compared without scheme, default port and trailing dot) is watched already."""

    def __init__(self, url: str, *, source_id: int, name: str) -> None:
        super().__init__(f"{url} is already watched as source {source_id} ({name})")
        self.source_id = source_id


class DatabaseBehind(Refused):
    """The database's schema is not the one this program was written for."""


class DatabaseUnavailable(SourcemonError):
    """The database cannot be reached or answered with an error; nothing is half-written."""

    transient = True


class Stopped(SourcemonError):
    """The process was told to end in the middle of something; later it will be done anew."""

    transient = True


class NoSlotFree(SourcemonError):
    """No slot of a limit became free in time; nothing was begun."""

    transient = True

    def __init__(self, limit: str, size: int) -> None:
        super().__init__(f"all {size} slots of {limit} are in use")


class ClaimLost(SourcemonError):
    """The claim expired and another worker took the source: this poll writes nothing more."""

    transient = True

    def __init__(self, source_id: int) -> None:
        super().__init__(
            f"the claim on source {source_id} was lost to another worker; its result stands"
        )
        self.source_id = source_id
