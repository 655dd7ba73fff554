"""Small programs to be kept running. Usage: ``python -m tests.deployments.programs NAME``."""

from __future__ import annotations

import subprocess
import sys
import time

from deployments import lifeline


def dies() -> None:
    """Say a last word and end with code 3."""
    print("to the person")
    print("to the log", file=sys.stderr)
    sys.exit(3)


def lives() -> None:
    """Start a process that would live on, tell its number, and live until the lifeline ends."""
    lifeline.hold()
    started = subprocess.Popen((sys.executable, "-c", "import time; time.sleep(600)"))
    print(started.pid, flush=True)
    time.sleep(600)


if __name__ == "__main__":
    {"dies": dies, "lives": lives}[sys.argv[1]]()
