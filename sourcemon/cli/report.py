"""The account of polls as they end: a line for each at once, or one document at the end."""

from __future__ import annotations

from collections import Counter
from types import TracebackType
from typing import Self

from sourcemon.cli.documents import outcome_document
from sourcemon.cli.outcomes import ExitCode, Fault, Outcome, exit_code_of, line_of
from sourcemon.cli.patience import Patience
from sourcemon.cli.screen import Screen
from sourcemon.core.results import Deferral, OutcomeName, PollResult, outcome_name

_WORDS = {
    OutcomeName.NEW_ITEMS: "with news",
    OutcomeName.NOTHING_NEW: "without news",
    OutcomeName.DEFERRED: "deferred",
    OutcomeName.SOURCE_FAILED: "failed",
    OutcomeName.SOURCE_BLOCKED: "blocked",
}
_NOT_POLLED = "not polled"


class Report:
    """What became of each source so far; for one thread. However its block ends, it ends, too."""

    def __init__(self, screen: Screen, *, as_json: bool) -> None:
        self._screen = screen
        self._as_json = as_json
        self._outcomes: list[Outcome] = []
        self._patience = Patience(screen.err)

    def __enter__(self) -> Self:
        self._patience.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._patience.__exit__(kind, error, trace)
        if self._as_json:
            self._screen.document([outcome_document(outcome) for outcome in self._outcomes])
        elif not (self._outcomes or error):
            self._screen.say("Nothing is due")
        elif len(self._outcomes) > 1:
            self._screen.say(self._summary())

    @property
    def exit_code(self) -> ExitCode:
        """The worst of all; done when there were none."""
        return max(map(exit_code_of, self._outcomes), default=ExitCode.DONE)

    def begins(self, doing: str, *, of: int) -> None:
        """Work begins on something, one of ``of``."""
        self._patience.tell(doing, of=of)

    def take(self, outcome: Outcome) -> None:
        """One source is done with."""
        self._outcomes.append(outcome)
        self._patience.advance()
        with self._patience.hidden():
            if isinstance(outcome, Fault):
                self._screen.error(f"{outcome.source_id} {outcome.source_name}: {outcome.error}")
            elif not self._as_json:
                self._screen.say(*line_of(outcome))

    def note(self, text: str) -> None:
        """One line beside the account."""
        with self._patience.hidden():
            self._screen.note(text)

    def _summary(self) -> str:
        counts = Counter(map(_counted_as, self._outcomes))
        words = [
            f"{counts[word]} {word}" for word in (*_WORDS.values(), _NOT_POLLED) if counts[word]
        ]
        return f"{len(self._outcomes)} sources: {', '.join(words)}"


def _counted_as(outcome: Outcome) -> str:
    match outcome:
        case PollResult():
            return _WORDS[outcome_name(outcome)]
        case Deferral() if not outcome.kind.waits_for_operator:
            return _WORDS[OutcomeName.DEFERRED]
        case _:
            return _NOT_POLLED
