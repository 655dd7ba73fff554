"""The dependencies of a command, wired when it runs: ``--help`` must not wait for a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourcemon.cli.screen import Screen

if TYPE_CHECKING:
    from sourcemon.operations.deps import Deps


def deps(screen: Screen) -> Deps:
    """The wired dependencies, after telling which database they reach.

    Raises:
        BadSetting: a setting is missing or out of range.
        DatabaseBehind: the database's schema is not this program's.
        DatabaseUnavailable: the database cannot be reached.
    """
    from sourcemon import wiring

    wired = wiring.deps()
    screen.database(wired.database.shown)
    return wired
