"""Run the stages of `make lint`, `make test` and the like, each with the time it took.

The checks say nothing but their time unless they fail; all of them run, so that one run shows all
there is to mend. The tests come last and what pytest prints is not touched: its summary ends the
output, unless only checks failed, which is then said below it.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent

CHECKS = {
    "lint": ("ruff", "check", "--quiet", "."),
    "formatting": ("ruff", "format", "--check", "--quiet", "."),
    "types": ("mypy", "--no-error-summary"),
    "import contracts": ("lint-imports", "--no-logo"),
}
PYTEST = ("python", "-m", "pytest")
TESTS = {
    "tests": (*PYTEST, "--durations=10", "--durations-min=5"),
    "coverage": (*PYTEST, "--cov", "--cov-report=term-missing:skip-covered"),
    "long": (*PYTEST, "-m", "long or hypothesis", "--hypothesis-profile=long"),
}


class Stages:
    """Runs programs of the environment one after the other and remembers which failed."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self._interrupted = False
        # Ctrl-C reaches the running program, too. It is given the time to clean up.
        signal.signal(signal.SIGINT, self._interrupt)

    def check(self, name: str, program: str, *args: str) -> None:
        """Run a check and show what it has to say if it fails."""
        print(f"{name} … ", end="", flush=True)
        begun = time.monotonic()
        done = self._run(program, *args, quiet=True)
        print(
            f"{'FAILED' if done.returncode else 'ok'}, {time.monotonic() - begun:.1f} s", flush=True
        )
        if done.returncode:
            self.failed.append(name)
            print(done.stdout.strip(), end="\n\n", flush=True)

    def test(self, name: str, program: str, *args: str) -> None:
        """Run tests; what they print is shown as it comes."""
        if self._run(program, *args, quiet=False).returncode:
            self.failed.append(name)

    def _run(self, program: str, *args: str, quiet: bool) -> subprocess.CompletedProcess[str]:
        command = (str(BIN / program), *args)
        if self._interrupted:
            return subprocess.CompletedProcess(command, 130, "interrupted")
        output = subprocess.PIPE if quiet else None
        errors = subprocess.STDOUT if quiet else None
        with subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=errors, text=True) as ran:
            said, _ = ran.communicate()
        return subprocess.CompletedProcess(command, ran.returncode, said)

    def _interrupt(self, *_: object) -> None:
        self._interrupted = True


def main(wanted: list[str]) -> int:
    """Run what is asked for: ``lint`` for all checks, or kinds of tests; 1 if any of it failed."""
    stages = Stages()
    if "lint" in wanted:
        for name, command in CHECKS.items():
            stages.check(name, *command)
    checks_failed = tuple(stages.failed)
    for kind in wanted:
        if kind in TESTS:
            stages.test(kind, *TESTS[kind])
    if checks_failed and checks_failed == tuple(stages.failed):
        print(f"failed: {', '.join(checks_failed)}")
    return 1 if stages.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
