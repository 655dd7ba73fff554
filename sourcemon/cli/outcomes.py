"""What became of a source that was to be polled: its line for a person and its exit code."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import assert_never

from sourcemon.cli.instants import not_before
from sourcemon.cli.standing import reason_of
from sourcemon.cli.texts import Styled
from sourcemon.core.results import (
    Attempt,
    Deferral,
    OutcomeName,
    PollResult,
    happened,
    outcome_name,
)
from sourcemon.core.schedule import NEVER
from sourcemon.core.sources import SourceId
from sourcemon.core.verdict import RunStatus
from sourcemon.errors import DatabaseUnavailable, Refused, SourcemonError


class ExitCode(IntEnum):
    """What a command's exit code says; of several sources the worst is told."""

    DONE = 0
    """Done, or deferred."""
    FAILED = 1
    """An attempt was made and failed."""
    REFUSED = 2
    """It cannot be done as asked, or not with these settings and this database."""
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A source that was not polled, or not to the end, for a reason that is not the source's."""

    source_id: SourceId
    source_name: str
    error: SourcemonError


Outcome = Attempt | Fault


def exit_code_of_error(error: SourcemonError) -> ExitCode:
    """Refusals and a database that cannot be used are the operator's to mend."""
    mendable = isinstance(error, Refused | DatabaseUnavailable)
    return ExitCode.REFUSED if mendable else ExitCode.FAILED


def exit_code_of(outcome: Outcome) -> ExitCode:
    """A poll that time will bring is no failure; one that waits for a person is refused."""
    match outcome:
        case Deferral():
            return ExitCode.REFUSED if outcome.kind.waits_for_operator else ExitCode.DONE
        case PollResult():
            deferred = outcome.status is RunStatus.DEFERRED
            return ExitCode.DONE if outcome.succeeded or deferred else ExitCode.FAILED
        case Fault():
            return exit_code_of_error(outcome.error)
        case _:
            assert_never(outcome)


def line_of(attempt: Attempt) -> tuple[Styled, ...]:
    """One line: which source, what happened, and what comes next with its reason."""
    return (f"{attempt.source_id} ", (f"{attempt.source_name}: ", "bold"), *_told(attempt))


def _told(attempt: Attempt) -> tuple[Styled, ...]:
    match attempt:
        case Deferral():
            return _deferred(attempt)
        case PollResult() if attempt.status is RunStatus.DEFERRED:
            return _limited(attempt)
        case PollResult():
            return (_happened(attempt), _next(attempt))
        case _:
            assert_never(attempt)


def _deferred(deferral: Deferral) -> tuple[Styled, ...]:
    if deferral.kind.waits_for_operator:
        return (("Not polled", "red"), f" — {deferral.reason}")
    when = f" until {not_before(deferral.until)}" if deferral.until else ""
    return ((f"Deferred{when}", "yellow"), f" — {deferral.reason}")


def _limited(result: PollResult) -> tuple[Styled, ...]:
    """The server answered that it is too early; what it had sent before is not told."""
    why = reason_of(result.binding) if result.binding else "the server asked us to wait"
    until = not_before(result.next_poll_at)
    return ((f"HTTP {result.http_status}, deferred until {until}", "yellow"), f" — {why}")


def _happened(result: PollResult) -> Styled:
    if not result.succeeded:
        return (f"Failed — {result.error or result.error_category}", "red")
    news = outcome_name(result) is OutcomeName.NEW_ITEMS
    return (happened(result), "green" if news else "")


def _next(result: PollResult) -> str:
    if result.next_poll_at == NEVER:
        return f"; not polled again until `sourcemon enable {result.source_id}`"
    why = f" ({reason_of(result.binding)})" if result.binding else ""
    return f"; next {not_before(result.next_poll_at)}{why}"
