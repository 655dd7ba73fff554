"""One poll in progress: what was fixed at its start, and the walk as far as it has come."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from sourcemon.core.paging import StopReason, Walk, after_fault
from sourcemon.core.replies import Validators
from sourcemon.core.sources import Source
from sourcemon.errors import SourcemonError, Stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class PollContext:
    """What the schedule check fixed for all steps of a poll."""

    source: Source
    token: str
    """The claim under which every write of this poll is made."""
    forced: bool
    started_at: datetime
    held: Validators
    """The validators that the first request carries; none when forced."""
    known_body_hash: str | None
    """The body that need not be read again; none when forced."""


@dataclass(slots=True, kw_only=True)
class Poll:
    """A poll under way; each step replaces ``walk``, so a fault leaves the last whole value."""

    context: PollContext
    walk: Walk
    run_id: int | None = None
    """The run row, from just before the first request on."""
    alone: threading.Lock = field(default_factory=threading.Lock)
    """Held by a step: one whose caller was stopped goes on in its thread for a moment."""

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Run a step alone, so that a fault of ours ends the walk before it is raised further."""
        with self.alone:
            try:
                yield
            except Stopped:
                self.interrupt()
                raise
            except Exception as fault:
                self.walk = after_fault(self.walk, _told(fault))
                raise
            except BaseException:
                self.interrupt()
                raise

    def interrupt(self) -> None:
        """End the walk where it stands, because we were told to."""
        message = "the poll was stopped before it ended"
        self.walk = after_fault(self.walk, message, stop_reason=StopReason.INTERRUPTED)


def _told(fault: Exception) -> str:
    """A fault for the run row; foreign errors may quote payloads, so only their type."""
    if isinstance(fault, SourcemonError):
        return f"{type(fault).__name__}: {fault}"
    return f"unexpected {type(fault).__name__}; the log of the worker has the trace"
