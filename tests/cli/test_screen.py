"""What reaches a terminal: nothing that commands it, nothing that is wider than it."""

from __future__ import annotations

import io
import json
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from sourcemon.cli.instants import brief, brief_not_before, exact, not_before
from sourcemon.cli.patience import Patience
from sourcemon.cli.tables import Column, Row, Table, laid_out
from sourcemon.cli.texts import harmless, text_of
from sourcemon.core.schedule import NEVER
from sourcemon.core.sources import SourceId
from tests.cli.conftest import NOON, Run
from tests.cli.fake_site import FakeSite, Feed

Watch = Callable[..., SourceId]

CONTROLS = [chr(code) for code in range(0x2100) if unicodedata.category(chr(code)) == "Cc"]
TURNING = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]
OTHERS = [chr(code) for code in (0x2028, 0x2029, 0xD800, 0xDFFF)]


@pytest.mark.parametrize("char", [*CONTROLS, *TURNING, *OTHERS], ids=ascii)
def test_no_character_that_commands_a_terminal_is_left(char) -> None:
    assert char not in harmless(f"a{char}b")
    assert harmless(f"a{char}b").isprintable()


HARMLESS = {
    "an escape shows as its picture": ("\x1b[31mred", "␛[31mred"),
    "lines become one": ("one\r\ntwo\tthree", "one  two three"),
    "words of all scripts stay": ("Größe 漢字 שלום 👩\u200d🚀", "Größe 漢字 שלום 👩\u200d🚀"),
    "markup stays text": ("[red]x[/red] :smile:", "[red]x[/red] :smile:"),
}


@pytest.mark.parametrize("text, shown", HARMLESS.values(), ids=HARMLESS)
def test_text_from_outside_is_shown_and_not_obeyed(text, shown) -> None:
    assert text_of(text).plain == shown


def test_publishers_and_operators_texts_reach_no_terminal_raw(
    run: Run, watch: Watch, site: FakeSite
) -> None:
    url = "https://site.test/feed"
    watch(url, "A [bold]name[/bold] \x1b]0;title\x07")
    site.feeds[url] = Feed(titles=("[link=x]One[/link] &#x9b;2J \u202eeno",))

    for arguments in (["poll", 1], ["sources"], ["items"], ["runs"], ["why", 1], ["disable", 1]):
        ran = run(*arguments)
        assert ran.out.replace("\n", "").isprintable()
    assert "[link=x]One[/link]" in run("items").out
    assert "A [bold]name[/bold]" in run("sources").out


def test_documents_are_ascii_whatever_they_hold(run: Run, watch: Watch) -> None:
    name = "漢字 \u202e \x9b \x7f"
    watch("https://site.test/feed", name)

    out = run("sources", "--json").out

    assert out.isascii()
    assert out.replace("\n", "").isprintable()
    assert json.loads(out)[0]["name"].startswith("漢字")


def terminal(width: int) -> Console:
    """A terminal of that width."""
    return Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)


TABLE = Table(
    columns=(
        Column(title="ID", right=True),
        Column(title="Name", flexible=True),
        Column(title="Title", flexible=True),
    ),
    rows=(
        Row(
            cells=("1", "Short", "漢字" * 30),
            detail="for a reason that is longer than it should be",
        ),
        Row(cells=("222", "Also short", "and"), detail=""),
    ),
    detail="Because",
)


def test_a_table_that_fits_has_its_details_in_a_column() -> None:
    header, first, second = [line.plain for line in laid_out(TABLE, terminal(1000))]

    assert header.split() == ["ID", "Name", "Title", "Because"]
    assert first.startswith("  1  Short       漢字")
    assert first.endswith("  for a reason that is longer than it should be")
    assert second == "222  Also short  and"


def test_a_table_that_does_not_fit_has_its_details_below_and_only_flexible_columns_cut() -> None:
    lines = [line.plain for line in laid_out(TABLE, terminal(40))]

    assert lines == [
        " ID  Name        Title",
        "  1  Short       漢字漢字漢字漢字漢字漢…",
        "    for a reason that is longer than it",
        "    should be",
        "222  Also short  and",
    ]


@pytest.mark.parametrize("width", range(24, 150, 7))
def test_no_line_of_a_table_is_wider_than_its_terminal(width) -> None:
    assert max(line.cell_len for line in laid_out(TABLE, terminal(width))) <= width


INSTANTS = {
    "local time with its zone": (exact, NOON, "2026-12-01 13:00:00 CET"),
    "summer time has another zone": (
        exact,
        datetime(2026, 7, 1, 12, tzinfo=UTC),
        "2026-07-01 14:00:00 CEST",
    ),
    "what was is not rounded up": (
        exact,
        NOON + timedelta(microseconds=999_999),
        "2026-12-01 13:00:00 CET",
    ),
    "what is waited for is rounded up": (
        not_before,
        NOON + timedelta(microseconds=1),
        "2026-12-01 13:00:01 CET",
    ),
    "a whole second stays": (not_before, NOON, "2026-12-01 13:00:00 CET"),
    "the last day of all is shown": (not_before, NEVER, "9999-12-31 01:00:00 CET"),
    "the first day of all is shown": (
        exact,
        datetime.min.replace(tzinfo=UTC),
        "0001-01-01 01:00:00 CET",
    ),
    "the last instant of all is not rounded up": (
        not_before,
        datetime.max.replace(tzinfo=UTC),
        "9999-12-31 23:59:59 UTC",
    ),
}


@pytest.mark.parametrize("shown, instant, text", INSTANTS.values(), ids=INSTANTS)
def test_instants_are_local_and_honest(shown, instant, text) -> None:
    assert shown(instant) == text


def test_a_brief_instant_leaves_out_what_is_understood() -> None:
    assert brief(NOON, NOON) == "13:00 CET"
    assert brief(NOON + timedelta(days=1), NOON) == "2 Dec 13:00 CET"
    assert brief(NOON - timedelta(days=400), NOON) == "2025-10-27"
    assert brief_not_before(NOON + timedelta(seconds=1), NOON) == "13:01 CET"


def test_progress_shows_late_hides_for_what_is_printed_and_leaves_no_trace() -> None:
    console = terminal(80)
    with Patience(console, shown_after_s=0) as patience:
        patience._timer.join()
        patience.tell("Polling [bold]\x1b[31m", of=2)
        patience.advance()
        with patience.hidden():
            console.print("between")
    shown = str(console.file.getvalue())  # type: ignore[attr-defined]

    assert "Polling [bold]␛[31m" in shown
    assert "1/2" in shown
    assert "between\n" in shown


@pytest.mark.parametrize("quick", [terminal(80), Console(file=io.StringIO())])
def test_progress_of_quick_work_or_off_a_terminal_shows_nothing(quick) -> None:
    with Patience(quick) as patience:
        patience.tell("Polling", of=1)
        with patience.hidden():
            pass

    assert quick.file.getvalue() == ""
