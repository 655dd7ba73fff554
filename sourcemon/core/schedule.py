"""When may a source be polled next? At the latest of separate objections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

NEVER = datetime(9999, 12, 31, tzinfo=UTC)
"""The cached next poll of a source that will not be polled until somebody acts."""


class ObjectionName(StrEnum):
    """The nine reasons to wait, in the order in which a tie is decided."""

    CADENCE = "cadence_due_at"
    """Our own interval since the last attempt."""
    FLOOR = "poll_floor_until"
    """The server's freshness or poll interval."""
    RETRY = "retry_not_before_at"
    """The server's Retry-After, or our stand-in for one it left out."""
    BACKOFF = "backoff_until"
    """Our own wait after a failure."""
    GLOBAL_BLOCK = "global_blocked_until"
    """The API's allowance for this client is used up."""
    CLASS_BLOCK = "poll_class_blocked_until"
    """Our share of the allowance for polls is used up."""
    HOST_BLOCK = "host_blocked_until"
    """The host asked every client of ours to stay away."""
    CIRCUIT = "circuit_until"
    """The retry policy gave up for a while."""
    PAUSE = "auto_paused_until"
    """The health monitor or an operator paused the source."""


FORCEABLE = frozenset({ObjectionName.CADENCE})
"""All that a forced poll may ignore."""

SERVERS = frozenset(
    {
        ObjectionName.FLOOR,
        ObjectionName.RETRY,
        ObjectionName.GLOBAL_BLOCK,
        ObjectionName.HOST_BLOCK,
    }
)
"""The objections a server made: only the passing of time may lower them."""

_ORDER = {name: position for position, name in enumerate(ObjectionName)}


@dataclass(frozen=True, slots=True)
class Objection:
    """An instant before which a poll may not happen, and why, in words for a person."""

    name: ObjectionName
    until: datetime
    because: str


@dataclass(frozen=True, slots=True)
class Schedule:
    """The objections that are set, at most one of each name, in table order.

    It holds no opinion of its own: due is whatever no objection speaks against. It does not know
    who wrote an objection and never drops one because it has passed.
    """

    objections: tuple[Objection, ...] = ()

    def __post_init__(self) -> None:
        names = [objection.name for objection in self.objections]
        if names != sorted(set(names), key=_ORDER.__getitem__):
            raise ValueError(f"objections must be unique and in table order: {names}")

    @classmethod
    def of(cls, objections: Iterable[Objection | None]) -> Schedule:
        """A schedule of the objections given, ``None`` left out, in whatever order they come."""
        present = [objection for objection in objections if objection is not None]
        return cls(tuple(sorted(present, key=lambda objection: _ORDER[objection.name])))

    def get(self, name: ObjectionName) -> Objection | None:
        """The objection of that name, or ``None`` when it is not set."""
        return next((o for o in self.objections if o.name is name), None)

    def until(self, name: ObjectionName) -> datetime | None:
        """The instant of the objection of that name, or ``None`` when it is not set."""
        objection = self.get(name)
        return objection.until if objection else None

    def binding(self, *, force: bool = False) -> Objection | None:
        """The objection that decides: the first in table order that equals the latest instant.

        ``None`` when nothing speaks against polling at any time. It may lie in the past.
        """
        heard = [o for o in self.objections if not (force and o.name in FORCEABLE)]
        latest = max((o.until for o in heard), default=None)
        return next((o for o in heard if o.until == latest), None)

    def due_at(self, *, force: bool = False) -> datetime | None:
        """The earliest instant at which a poll may happen; ``None`` means at any time."""
        binding = self.binding(force=force)
        return binding.until if binding else None

    def is_due(self, now: datetime, *, force: bool = False) -> bool:
        """Whether a poll may happen at ``now``; the very instant of an objection is due."""
        due_at = self.due_at(force=force)
        return due_at is None or due_at <= now

    def replacing(self, objection: Objection) -> Schedule:
        """This schedule with ``objection`` in the place of any of its name, earlier or later."""
        return Schedule.of([*self._others(objection.name), objection])

    def raising(self, objection: Objection) -> Schedule:
        """This schedule with ``objection`` if it is later than the one of its name."""
        existing = self.until(objection.name)
        if existing is not None and existing >= objection.until:
            return self
        return self.replacing(objection)

    def without(self, name: ObjectionName) -> Schedule:
        """This schedule with no objection of that name.

        Raises:
            ValueError: the objection is a server's; no rule of ours may lift it.
        """
        if name in SERVERS:
            raise ValueError(f"{name} is the server's objection; only time lifts it")
        return Schedule(tuple(self._others(name)))

    def _others(self, name: ObjectionName) -> list[Objection]:
        return [o for o in self.objections if o.name is not name]
