"""A feed whose content is a pure function of the clock: what has been published by now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sourcemon.replay.answers import Answer, Request
from sourcemon.replay.conditional import EtagKind, Representation, answer_conditionally
from sourcemon.replay.desks import Desk, Edit, Notice
from sourcemon.replay.dialects import Dialect


class Rhythm(Protocol):
    """When entries appear. Entries are numbered from 1 in the order of their instants."""

    def count(self, now: datetime) -> int:
        """How many entries have appeared by ``now``; the very instant counts."""
        ...

    def instant(self, number: int) -> datetime:
        """When entry ``number`` appears."""
        ...


@dataclass(frozen=True, slots=True)
class Every:
    """One entry at ``first_at`` and one per ``interval`` after it, without end."""

    interval: timedelta
    first_at: datetime

    def __post_init__(self) -> None:
        if self.interval <= timedelta(0):
            raise ValueError(f"interval must be positive, got {self.interval}")

    def count(self, now: datetime) -> int:
        """0 before ``first_at``, else 1 + the whole intervals since."""
        return max(0, (now - self.first_at) // self.interval + 1)

    def instant(self, number: int) -> datetime:
        """``first_at`` + (number - 1) * ``interval``."""
        return self.first_at + (number - 1) * self.interval


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry at each of these instants, and then no more; they stand in ascending order."""

    instants: tuple[datetime, ...]

    def __post_init__(self) -> None:
        if list(self.instants) != sorted(self.instants):
            raise ValueError("instants must be in ascending order")

    def count(self, now: datetime) -> int:
        """How many of the instants are not after ``now``."""
        return sum(instant <= now for instant in self.instants)

    def instant(self, number: int) -> datetime:
        """The instant in place ``number``, from 1."""
        return self.instants[number - 1]


@dataclass(frozen=True, slots=True)
class Newsroom:
    """A scripted feed: the newest ``window`` entries of a desk, newest first, edits applied."""

    path: str
    _: KW_ONLY
    desk: Desk
    published: Rhythm
    dialect: Dialect = Dialect.RSS
    window: int = 20
    edits: tuple[Edit, ...] = ()
    etag: EtagKind = EtagKind.STRONG
    sends_last_modified: bool = True
    gzips: bool = False
    encoding: str = "utf-8"

    def answer(self, request: Request) -> Answer:
        """200 with the feed as it stands at ``request.at``, or 304."""
        changed_at = self.changed_at(request.at)
        body = self.dialect.document(
            self.desk, self.notices(request.at), changed_at=changed_at, encoding=self.encoding
        )
        held = Representation(
            body=body,
            content_type=self.dialect.content_type(self.encoding),
            changed_at=changed_at if self.sends_last_modified else None,
            etag=self.etag,
            gzips=self.gzips,
        )
        return answer_conditionally(request, held)

    def notices(self, now: datetime) -> tuple[Notice, ...]:
        """The entries shown at ``now``, newest first; empty before the first is published."""
        edits = [edit for edit in self.edits if edit.at <= now]
        return tuple(
            self.desk.notice(number, published_at=self.published.instant(number), edits=edits)
            for number in self._shown(now)
        )

    def changed_at(self, now: datetime) -> datetime | None:
        """When the entries shown last changed, ``None`` before the first is published."""
        return max((notice.updated_at for notice in self.notices(now)), default=None)

    def _shown(self, now: datetime) -> Iterator[int]:
        newest = self.published.count(now)
        return iter(range(newest, max(0, newest - self.window), -1))
