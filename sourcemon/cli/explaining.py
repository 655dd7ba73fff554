"""The command ``why``: every objection to polling a source, and the one that decides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sourcemon.cli import arguments, wired
from sourcemon.cli.arguments import AsJson, OneId
from sourcemon.cli.documents import explanation_document
from sourcemon.cli.instants import exact, not_before
from sourcemon.cli.lists import print_runs_of_one
from sourcemon.cli.screen import Screen
from sourcemon.cli.standing import reason_of, sentence_of, standing_of
from sourcemon.cli.tables import Column, Row
from sourcemon.cli.texts import Styled
from sourcemon.core.durations import describe
from sourcemon.core.overviews import Explanation, SourceOverview
from sourcemon.core.schedule import Objection, ObjectionName


def why(source: OneId, as_json: AsJson = False) -> None:
    """Say when a source is polled next and why not earlier: every objection, and which decides."""
    from sourcemon.operations import listing

    wanted, screen = arguments.source_id(source), Screen()
    explanation = listing.explain(wired.deps(screen), wanted)
    if as_json:
        screen.document(explanation_document(explanation))
        return
    overview, now = explanation.overview, explanation.now
    screen.say((sentence_of(overview, now), standing_of(overview, now).style or "bold"))
    screen.say(_forced(explanation))
    screen.say(_described(overview))
    screen.say()
    columns = [Column(title="Objection"), Column(title="Until"), Column(title="")]
    screen.table(columns, list(_objections(explanation)), detail="Because")
    if explanation.last_runs:
        screen.say()
        print_runs_of_one(screen, explanation.last_runs, screen.times(now))


def _forced(explanation: Explanation) -> str:
    """What ``--force`` would change."""
    binding, now = explanation.binding_forced, explanation.now
    if standing_of(explanation.overview, now).waits_for_operator:
        return "With --force: no poll either"
    if binding is None or binding.until <= now:
        return "With --force: now, too" if explanation.is_due else "With --force: now"
    if binding == explanation.binding:
        return "With --force: the same"
    return f"With --force: not before {not_before(binding.until)} — {reason_of(binding)}"


def _described(overview: SourceOverview) -> str:
    source, state = overview.source, overview.state
    words = [
        f"Source {source.id}, {source.name}: {source.url}",
        f"every {describe(source.interval)}",
        f"{overview.items} item{'s' * (overview.items != 1)}",
    ]
    if overview.grade is not None:
        words.append(overview.grade.value)
    if state.last_polled_at is not None:
        words.append(f"last polled {exact(state.last_polled_at)}")
    if state.consecutive_failures:
        words.append(f"{state.consecutive_failures} failed in a row")
    return ", ".join(words)


def _objections(explanation: Explanation) -> Iterator[Row]:
    """All nine, in table order."""
    for name in ObjectionName:
        objection = explanation.schedule.get(name)
        if objection is None:
            yield Row(cells=[(name.value, "dim"), ("–", "dim"), ""])
        else:
            stand = _stand(objection, explanation.binding, explanation.now)
            until = not_before(objection.until)
            yield Row(cells=[name.value, until, stand], detail=objection.because)


def _stand(objection: Objection, binding: Objection | None, now: datetime) -> Styled:
    if objection.until <= now:
        return ("passed", "dim")
    return ("binding", "bold yellow") if objection == binding else "waiting"
