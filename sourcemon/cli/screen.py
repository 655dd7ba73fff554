"""Where commands print: answers to stdout, everything else to stderr.

On a terminal lines are coloured and tables fitted; anywhere else both are plain and uncut.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.text import Text

from sourcemon.cli.documents import Json
from sourcemon.cli.instants import Times
from sourcemon.cli.tables import Column, Row, Table, laid_out
from sourcemon.cli.texts import Styled, text_of

_UNCUT = 100_000
"""Columns of what is no terminal."""


class Screen:
    """The two streams of one command."""

    def __init__(self) -> None:
        self.out = _console(stderr=False)
        self.err = _console(stderr=True)

    def say(self, *parts: Styled) -> None:
        """One line of the answer, wrapped between words where it is too long for a terminal."""
        self.out.print(text_of(*parts))

    def document(self, document: Json) -> None:
        """The answer as one JSON document, in ASCII, so that no control character is in it."""
        text = json.dumps(document, indent=2).replace("\x7f", "\\u007f")
        self.out.file.write(f"{text}\n")

    def table(self, columns: Sequence[Column], rows: Sequence[Row], *, detail: str = "") -> None:
        """A table of the answer."""
        lines = laid_out(Table(columns=columns, rows=rows, detail=detail), self.out)
        self.out.print(Text("\n").join(lines), soft_wrap=True)

    def times(self, now: datetime) -> Times:
        """How this screen's tables write instants."""
        return Times(now, are_brief=self.out.is_terminal)

    def note(self, *parts: Styled) -> None:
        """One line beside the answer."""
        self.err.print(text_of(*parts))

    def error(self, message: str) -> None:
        """One line that says what is wrong."""
        self.note(("error: ", "bold red"), message)

    def database(self, shown: str) -> None:
        """Which database the answer comes from."""
        self.note((f"database: {shown}", "dim"))


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = _UNCUT
    return console
