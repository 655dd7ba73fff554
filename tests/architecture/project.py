"""The project as its tests of shape see it: its root, its files, its modules."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
PRODUCT = ("deployments", "flows", "tasks", "sourcemon")


@cache
def project_files() -> tuple[Path, ...]:
    """Every file that belongs to the project, relative to its root; ignored ones do not."""
    listed = subprocess.run(
        ("git", "-c", "safe.directory=*", "ls-files", "-z", "-c", "-o", "--exclude-standard"),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    names = (Path(name) for name in listed.stdout.split("\0") if name)
    return tuple(sorted(name for name in names if (ROOT / name).is_file()))


def modules(*folders: str) -> tuple[Path, ...]:
    """The Python files in some top-level folders, or in all, relative to the root."""
    return tuple(
        file
        for file in project_files()
        if file.suffix == ".py" and (not folders or file.parts[0] in folders)
    )
