"""A dispatcher in a process of its own: one tick of ``poll-due``, begun when it is told to.

Usage: ``python -m tests.flows.dispatcher_process DATABASE_URL PORT LIMIT``; a line on standard
input starts the tick, the tick's message is the last line of the output.
"""

from __future__ import annotations

import sys

from flows.poll_due import poll_due
from sourcemon import wiring
from sourcemon.clock import FakeClock
from sourcemon.core.dispatch import Detail
from sourcemon.settings import HttpSettings, Settings
from tests.flows.conftest import START
from tests.flows.prefect_history import ended


def main() -> None:
    """Wire the dependencies, say so, wait for the word, tick once."""
    database_url, port, limit = sys.argv[1:]
    hosts = {f"site{number:02}.example": f"127.0.0.1:{port}" for number in range(100)}
    chosen = Settings(
        database_url=database_url,
        contact="mailto:tests@example.org",
        http=HttpSettings(resolver=hosts),
    )
    with wiring.use(wiring.build(chosen, clock=FakeClock(START))):
        _say("ready")
        sys.stdin.readline()
        state = ended(poll_due(int(limit), Detail.TASKS, return_state=True))
    _say(str(state.message))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
