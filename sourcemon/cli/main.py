"""The program ``sourcemon``: its commands, and what becomes of errors and Ctrl-C."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer

from sourcemon import __version__
from sourcemon.cli import database, doctoring, explaining, lists, polling, registering
from sourcemon.cli.outcomes import ExitCode, exit_code_of_error
from sourcemon.cli.screen import Screen
from sourcemon.errors import SourcemonError

app = typer.Typer(
    name="sourcemon",
    help="Watch feeds: poll them, never early, and say why.",
    add_completion=False,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
)
db = typer.Typer(help="The database's schema.", invoke_without_command=True)
app.add_typer(db, name="db")

_COMMANDS: Mapping[str, tuple[Callable[..., None], str]] = {
    "add": (registering.add, "sourcemon add https://example.org/feed.xml --every 15m"),
    "sources": (lists.sources, "sourcemon sources --json"),
    "poll": (polling.poll, "sourcemon poll 3 7 --force    or    sourcemon poll --due"),
    "why": (explaining.why, "sourcemon why 3"),
    "items": (lists.items, "sourcemon items 3 --limit 50"),
    "runs": (lists.runs, "sourcemon runs 3 --limit 5"),
    "enable": (registering.enable, "sourcemon enable 3 7"),
    "doctor": (doctoring.doctor, "sourcemon doctor --settings"),
    "disable": (registering.disable, "sourcemon disable 3"),
}
for _name, (_function, _example) in _COMMANDS.items():
    app.command(_name, epilog=f"Example: {_example}")(_function)
db.command("upgrade", epilog="Example: sourcemon db upgrade")(database.upgrade)
db.command("check", epilog="Example: sourcemon db check --json")(database.check)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that the arguments name, those of the process by default.

    Raises:
        SystemExit: always, with the command's exit code.
    """
    _never_fail_to_encode()
    sys.exit(_exit_code(arguments))


def _exit_code(arguments: Sequence[str] | None) -> int:
    """The command's exit code, after telling what went wrong on one line."""
    command = typer.main.get_command(app)
    try:
        code = command(arguments, prog_name="sourcemon", standalone_mode=False) or ExitCode.DONE
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except typer.TyperException as error:
        Screen().error(f"{error.format_message()}{_where_help_is(error)}")
        return error.exit_code
    except SourcemonError as error:
        Screen().error(str(error))
        return exit_code_of_error(error)
    if code == ExitCode.INTERRUPTED:
        Screen().note("Interrupted")
    return int(code)


def _where_help_is(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f" (see `{context.command_path} --help`)" if context else ""


def _never_fail_to_encode() -> None:
    """Let a stream show as an escape what its encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _print_version(wanted: bool) -> None:
    if wanted:
        Screen().say(f"sourcemon {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Watch feeds: poll them, never early, and say why."""
    del version
    _help_without_command(context)


@db.callback()
def _db(context: typer.Context) -> None:
    """The database's schema."""
    _help_without_command(context)


def _help_without_command(context: typer.Context) -> None:
    """Whoever names no command is shown them all, and told that nothing was done."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(ExitCode.REFUSED)
