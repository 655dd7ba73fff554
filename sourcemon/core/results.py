"""What an attempt to poll came to, for the caller and for people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sourcemon.core.changes import Counters
from sourcemon.core.health import Grade
from sourcemon.core.replies import ErrorCategory
from sourcemon.core.schedule import NEVER, Objection
from sourcemon.core.sources import SourceId
from sourcemon.core.verdict import RunStatus


class DeferralKind(StrEnum):
    """Why no request was made."""

    NOT_DUE = "not_due"
    BUSY = "busy"
    """Another worker is polling the source at this moment."""
    DISABLED = "disabled"
    FAILED = "failed"
    GONE = "gone"

    @property
    def waits_for_operator(self) -> bool:
        """Whether time alone will not change it."""
        return self in {DeferralKind.DISABLED, DeferralKind.FAILED, DeferralKind.GONE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferral:
    """No request was made: not now, but at ``until``, because of ``reason``."""

    source_id: SourceId
    source_name: str
    kind: DeferralKind
    reason: str
    until: datetime | None = None
    """``None`` when time alone will not help, or when another worker is at it."""
    objection: Objection | None = None
    """The binding objection of a source that is not due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollResult:
    """One poll that was attempted and recorded."""

    source_id: SourceId
    source_name: str
    run_id: int
    status: RunStatus
    counters: Counters
    http_status: int | None
    stop_reason: str | None
    error_category: ErrorCategory | None
    error: str | None
    grade: Grade | None
    retries: bool
    """Whether the retry ladder granted another try, rather than a success or an open circuit."""
    next_poll_at: datetime
    binding: Objection | None
    """The objection that decides the next poll; ``None`` when nothing does."""

    @property
    def succeeded(self) -> bool:
        """Whether the source answered as it should."""
        return self.status in {RunStatus.COMPLETED, RunStatus.NOT_MODIFIED}


Attempt = PollResult | Deferral


class OutcomeName(StrEnum):
    """How an attempt is named where people filter by it."""

    NEW_ITEMS = "NewItems"
    NOTHING_NEW = "NothingNew"
    DEFERRED = "Deferred"
    SOURCE_FAILED = "SourceFailed"
    SOURCE_BLOCKED = "SourceBlocked"


def outcome_name(attempt: Attempt) -> OutcomeName:
    """The one name of what an attempt came to; edited items count as new ones."""
    if isinstance(attempt, Deferral) or attempt.status is RunStatus.DEFERRED:
        return OutcomeName.DEFERRED
    if attempt.error_category is ErrorCategory.BLOCKED:
        return OutcomeName.SOURCE_BLOCKED
    if not attempt.succeeded:
        return OutcomeName.SOURCE_FAILED
    counts = attempt.counters
    return OutcomeName.NEW_ITEMS if counts.created + counts.updated else OutcomeName.NOTHING_NEW


def headline(attempt: Attempt) -> str:
    """One line for a person: what happened, and what comes next with its reason."""
    if isinstance(attempt, Deferral):
        return _deferred(attempt.until, attempt.reason)
    if attempt.status is RunStatus.DEFERRED and attempt.binding is not None:
        return _deferred(attempt.binding.until, _reason(attempt.binding))
    if attempt.next_poll_at >= NEVER:
        return f"{happened(attempt)}; not polled again until `sourcemon enable {attempt.source_id}`"
    follows = f", next {_instant(attempt.next_poll_at)}"
    if attempt.binding is not None:
        follows += f" ({_reason(attempt.binding)})"
    return happened(attempt) + follows


def happened(result: PollResult) -> str:
    """What came of an attempted poll, in a few words: ``3 new, 1 updated``."""
    if not result.succeeded:
        return f"failed: {result.error or result.error_category}"
    if result.status is RunStatus.NOT_MODIFIED:
        return "not modified"
    counts = result.counters
    words = [f"{counts.created} new"]
    if counts.updated:
        words.append(f"{counts.updated} updated")
    if counts.failed:
        words.append(f"{counts.failed} could not be stored")
    return ", ".join(words)


def _deferred(until: datetime | None, reason: str) -> str:
    when = f" until {_instant(until)}" if until else ""
    return f"deferred{when}: {reason}"


def _reason(objection: Objection) -> str:
    return f"{objection.name}: {objection.because}"


def _instant(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%d %H:%M:%S UTC")
