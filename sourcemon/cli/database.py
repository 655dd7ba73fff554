"""The commands ``db upgrade`` and ``db check``: they work where all others refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sourcemon.cli.arguments import AsJson
from sourcemon.cli.outcomes import ExitCode
from sourcemon.cli.screen import Screen
from sourcemon.errors import without_credentials

if TYPE_CHECKING:
    from sourcemon.store.migrations import SchemaState

_TOLD = {
    "current": "is what this program needs",
    "behind": "is older than what this program needs ({head}): run `sourcemon db upgrade`",
    "empty": "holds nothing yet: run `sourcemon db upgrade`",
    "newer": "was made by a newer sourcemon, this one needs {head}: upgrade the program",
}


def upgrade(as_json: AsJson = False) -> None:
    """Bring the database's schema to what this program needs."""
    from sourcemon.store import migrations

    screen = Screen()
    url = _database_url(screen)
    before = migrations.state(url)
    after = migrations.upgrade(url)
    if as_json:
        screen.document(_document(after) | {"upgraded_from": before.current})
    elif before.is_current:
        screen.say(f"The schema was current already: revision {after.current}")
    else:
        screen.say(("Upgraded", "green"), f" from {before.current or 'nothing'} to {after.current}")


def check(as_json: AsJson = False) -> None:
    """Tell whether the database's schema is what this program needs; exit 2 if it is not."""
    from sourcemon.store import migrations

    screen = Screen()
    found = migrations.state(_database_url(screen))
    if as_json:
        screen.document(_document(found))
    else:
        told = _TOLD[_state_name(found)].format(head=found.head)
        revision = f", revision {found.current}," if found.current else ""
        screen.say(f"The schema{revision} {told}")
    if not found.is_current:
        raise typer.Exit(ExitCode.REFUSED)


def _database_url(screen: Screen) -> str:
    from sourcemon import settings

    url = settings.load().effective_database_url
    screen.database(without_credentials(url).partition("?")[0])
    return url


def _document(found: SchemaState) -> dict[str, str | None]:
    return {"state": _state_name(found), "revision": found.current, "needed": found.head}


def _state_name(found: SchemaState) -> str:
    if found.is_current:
        return "current"
    if found.current is None:
        return "empty"
    return "behind" if found.known else "newer"
