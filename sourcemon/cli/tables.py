"""Tables that fit their terminal: one line for each row, and below it what finds no room.

Only flexible columns are cut, with an ellipsis. Rows may carry a detail, a sentence that is never
cut: it stands in a last column where all of them fit, else on lines of its own under its row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

from sourcemon.cli.texts import Styled, text_of

_GAP = "  "
_INDENT = " " * 4
_NARROWEST = 6
"""Cells that a flexible column keeps, however narrow the terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's title, its alignment, and whether its cells may be cut."""

    title: str
    right: bool = False
    flexible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One cell for each column, and the detail, ``""`` for none."""

    cells: Sequence[Styled]
    detail: Styled = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Columns and rows; ``detail`` is the title of the details, should they get a column."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Grid:
    """A table's texts, header first, and the details that go below."""

    columns: Sequence[Column]
    lines: list[list[Text]] = field(default_factory=list)
    below: list[Text] = field(default_factory=list)

    def natural(self) -> list[int]:
        """The widest cell of each column."""
        return [max(cell.cell_len for cell in cells) for cells in zip(*self.lines, strict=True)]


def laid_out(table: Table, console: Console) -> Iterator[Text]:
    """The table's lines for this console, header first."""
    grid = _with_details_inline(table)
    if _total(grid.natural()) > console.width:
        grid = _with_details_below(table)
    widths = _fitted(grid, console.width)
    for line, detail in zip(grid.lines, grid.below, strict=True):
        yield _joined(grid.columns, line, widths)
        if detail:
            yield from _indented(detail, console)


def _with_details_inline(table: Table) -> _Grid:
    if not any(text_of(row.detail) for row in table.rows):
        return _with_details_below(table)
    columns = [*table.columns, Column(title=table.detail)]
    rows = [Row(cells=[*row.cells, row.detail]) for row in table.rows]
    return _with_details_below(Table(columns=columns, rows=rows))


def _with_details_below(table: Table) -> _Grid:
    header = [text_of((column.title, "bold")) for column in table.columns]
    lines = [[text_of(cell) for cell in row.cells] for row in table.rows]
    details = [text_of(row.detail) for row in table.rows]
    return _Grid(table.columns, [header, *lines], [Text(), *details])


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _fitted(grid: _Grid, width: int) -> list[int]:
    """The columns' widths: flexible ones share what the others leave, the shortest served first."""
    widths = grid.natural()
    flexible = [place for place, column in enumerate(grid.columns) if column.flexible]
    room = width - _total(widths) + sum(widths[place] for place in flexible)
    for served, place in enumerate(sorted(flexible, key=widths.__getitem__)):
        share = room // (len(flexible) - served)
        widths[place] = min(widths[place], max(share, _NARROWEST))
        room -= widths[place]
    return widths


def _indented(detail: Text, console: Console) -> Iterator[Text]:
    """The detail in as many lines as it takes."""
    for part in detail.wrap(console, max(console.width - len(_INDENT), 20)):
        part.rstrip()
        yield Text.assemble(_INDENT, part)


def _joined(columns: Sequence[Column], cells: Sequence[Text], widths: Sequence[int]) -> Text:
    """One line of cells, each in its column's width."""
    line = Text(_GAP).join(
        _padded(column, cell, width)
        for column, cell, width in zip(columns, cells, widths, strict=True)
    )
    line.rstrip()
    return line


def _padded(column: Column, cell: Text, width: int) -> Text:
    fitted = cell.copy()
    fitted.truncate(width, overflow="ellipsis")
    missing = width - fitted.cell_len
    if column.right:
        fitted.pad_left(missing)
    else:
        fitted.pad_right(missing)
    return fitted
