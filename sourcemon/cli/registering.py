"""The commands that change what is watched: ``add``, ``enable``, ``disable``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from sourcemon.cli import arguments, wired
from sourcemon.cli.arguments import AsJson, Ids
from sourcemon.cli.documents import overview_document, source_document
from sourcemon.cli.screen import Screen
from sourcemon.cli.standing import sentence_of
from sourcemon.core.durations import describe
from sourcemon.core.overviews import Explanation
from sourcemon.core.sources import SourceId

if TYPE_CHECKING:
    from sourcemon.operations.deps import Deps


def add(
    url: Annotated[str, typer.Argument(metavar="URL", help="The address of a feed.")],
    name: Annotated[
        str | None, typer.Option(help="What to call it; its address if left out.")
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(metavar="INTERVAL", help="Time between polls: 15m, 1h30m, 2d, 900 (seconds)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Watch a feed. Its server is not asked before the first poll."""
    from sourcemon.operations import register

    screen = Screen()
    interval = None if every is None else arguments.interval(every)
    source = register.add(wired.deps(screen), url, name=name, interval=interval)
    if as_json:
        screen.document(source_document(source))
        return
    screen.say(("Added", "green"), f" source {source.id}, ", (source.name, "bold"))
    screen.say(f"{source.url}, every {describe(source.interval)}")
    screen.say(f"The first poll is due now: `sourcemon poll {source.id}`")


def enable(ids: Ids, as_json: AsJson = False) -> None:
    """Switch sources on; those that had failed or were gone may be polled again."""
    _switch(ids, enabled=True, as_json=as_json)


def disable(ids: Ids, as_json: AsJson = False) -> None:
    """Switch sources off: they are not polled, not even with --force. What they hold stays."""
    _switch(ids, enabled=False, as_json=as_json)


def _switch(ids: Sequence[str], *, enabled: bool, as_json: bool) -> None:
    wanted, screen = arguments.source_ids(ids), Screen()
    switched = _switched(wired.deps(screen), wanted, enabled=enabled)
    if as_json:
        screen.document([overview_document(one.overview, one.now) for one in switched])
        return
    for one in switched:
        source = one.overview.source
        word = ("on", "green") if enabled else ("off", "yellow")
        screen.say(f"{source.id} ", (source.name, "bold"), ": switched ", word)
        screen.say(sentence_of(one.overview, one.now))


def _switched(deps: Deps, ids: Sequence[SourceId], *, enabled: bool) -> list[Explanation]:
    """How the sources stand after the switch; nothing is switched if one of them is unknown."""
    from sourcemon.operations import listing, register

    for source_id in ids:
        listing.name_of(deps, source_id)
    for source_id in ids:
        (register.enable if enabled else register.disable)(deps, source_id)
    return [listing.explain(deps, source_id) for source_id in ids]
