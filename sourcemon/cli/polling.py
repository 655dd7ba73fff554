"""The command ``poll``: one source, several, or all that are due, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sourcemon.cli import arguments, wired
from sourcemon.cli.arguments import AsJson
from sourcemon.cli.report import Report
from sourcemon.cli.screen import Screen
from sourcemon.core.sources import SourceId
from sourcemon.errors import Refused

if TYPE_CHECKING:
    from sourcemon.operations.deps import Deps


def poll(
    ids: Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids of sources.")] = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Ignore our interval and read everything anew.",
        ),
    ] = False,
    due: Annotated[bool, typer.Option("--due", help="Poll all sources that are due now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Poll sources now, if their schedules allow it.

    Exit code: 0 done or deferred, 1 an attempt failed, 2 refused; of several sources the worst.
    """
    from sourcemon.cli.attempts import poll_due, poll_each

    wanted = arguments.source_ids(ids or ())
    _require_one_way(wanted, force=force, due=due)
    screen = Screen()
    deps = wired.deps(screen)
    names = _names(deps, wanted)
    with Report(screen, as_json=as_json) as report:
        if due:
            poll_due(deps, report)
        else:
            poll_each(deps, names, report, force=force)
    raise typer.Exit(report.exit_code)


def _require_one_way(wanted: Sequence[SourceId], *, force: bool, due: bool) -> None:
    """Refuse what does not say, or says twice, which sources are meant."""
    if due and wanted:
        raise Refused("give ids or --due, not both")
    if due and force:
        raise Refused("--force is for sources that are not due; give their ids instead of --due")
    if not due and not wanted:
        raise Refused("which sources? give ids, as in `sourcemon poll 3`, or --due")


def _names(deps: Deps, wanted: Sequence[SourceId]) -> dict[SourceId, str]:
    """The name of each source; an unknown one is refused before any is polled."""
    from sourcemon.operations import listing

    return {source_id: listing.name_of(deps, source_id) for source_id in wanted}
