"""The command ``doctor``: how everything stands that polls depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sourcemon.cli.arguments import AsJson
from sourcemon.cli.documents import Json
from sourcemon.cli.outcomes import ExitCode
from sourcemon.cli.screen import Screen
from sourcemon.cli.tables import Column, Row
from sourcemon.core.checkup import Finding, State
from sourcemon.errors import DatabaseUnavailable, Refused

if TYPE_CHECKING:
    from sourcemon.settings import Effective

WithSettings = Annotated[
    bool, typer.Option("--settings", help="List every setting in force and where it comes from.")
]

_MARKS = {State.OK: ("ok", "green"), State.WARNING: ("!", "yellow"), State.PROBLEM: ("✗", "red")}
_FINDINGS = (Column(title=""), Column(title="Subject"), Column(title="Found", flexible=True))
_SETTINGS = (
    Column(title="Setting"),
    Column(title="Value", flexible=True),
    Column(title="From", flexible=True),
)


def doctor(settings: WithSettings = False, as_json: AsJson = False) -> None:
    """Examine settings, database, contact, clock, schedule and Prefect; exit 1 on a problem."""
    from sourcemon.settings import effective, load

    screen = Screen()
    chosen = effective(load())
    findings = _examined(screen)
    if as_json:
        screen.document(_document(findings, chosen))
    else:
        rows = [_finding_row(finding) for finding in findings]
        screen.table(_FINDINGS, rows, detail="What to do")
        if settings:
            screen.table(_SETTINGS, [_setting_row(setting) for setting in chosen])
    if any(finding.state is State.PROBLEM for finding in findings):
        raise typer.Exit(ExitCode.FAILED)


def _examined(screen: Screen) -> list[Finding]:
    """What was found, as far as it could be looked at."""
    from sourcemon.cli import orchestration, wired
    from sourcemon.operations import checkup

    found: list[Finding] = []
    try:
        found += checkup.examine(wired.deps(screen))
    except (Refused, DatabaseUnavailable) as problem:
        fix = "every other command waits for this"
        found.append(
            Finding(subject="database", state=State.PROBLEM, message=str(problem), fix=fix)
        )
        return found
    try:
        found += orchestration.examine()
    except Refused as problem:
        found.append(Finding(subject="prefect server", state=State.PROBLEM, message=str(problem)))
    return found


def _finding_row(finding: Finding) -> Row:
    return Row(
        cells=[_MARKS[finding.state], finding.subject, finding.message],
        detail=(finding.fix or "", "dim"),
    )


def _setting_row(setting: Effective) -> Row:
    return Row(cells=[setting.variable, _shown(setting), (setting.origin, "dim")])


def _shown(setting: Effective) -> str:
    """A value for people; the database's without its password."""
    from sourcemon.store import migrations

    if setting.variable == "SOURCEMON_DATABASE_URL" and isinstance(setting.value, str):
        return migrations.shown(setting.value)
    value = setting.value
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "–"
    return "–" if value is None else str(value)


def _plain(setting: Effective) -> object:
    """A value as JSON has it; nothing is null."""
    value = setting.value
    if isinstance(value, tuple):
        return [str(part) for part in value]
    if value is None or isinstance(value, bool | int | float | dict):
        return value
    return _shown(setting)


def _document(findings: list[Finding], chosen: tuple[Effective, ...]) -> Json:
    return {
        "findings": [
            {"subject": f.subject, "state": f.state.value, "message": f.message, "fix": f.fix}
            for f in findings
        ],
        "settings": [
            {"variable": s.variable, "value": _plain(s), "origin": s.origin} for s in chosen
        ],
    }
