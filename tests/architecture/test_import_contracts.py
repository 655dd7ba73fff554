"""The rooms hold: what may import what, and that the tool which says so can see a breach."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.project import BIN, PRODUCT, ROOT, modules

STANDARD_LIBRARY_ONLY = ("sourcemon/core", "sourcemon/errors.py", "sourcemon/replay")

BREACHES = {
    "orchestration sits on top": ("sourcemon/errors.py", "import tasks.polling"),
    "the rooms of sourcemon": ("sourcemon/core/paging.py", "import sourcemon.store.items"),
    "sourcemon runs without Prefect": ("sourcemon/operations/poll.py", "import prefect"),
    "core and parse reach nothing: no network, disk, log, clock or chance": (
        "sourcemon/core/retry.py",
        "import random",
    ),
    "the replay site knows nothing of what it tests": (
        "sourcemon/replay/server.py",
        "import sourcemon.net.guard",
    ),
    "commands go through operations": ("sourcemon/cli/__init__.py", "import sourcemon.store.items"),
    "only store speaks SQL": ("flows/poll_due.py", "import sqlalchemy"),
    "only net speaks HTTP": ("tasks/polling.py", "import httpx"),
    "a flow never imports a flow": ("flows/poll_source.py", "import flows.poll_due"),
    "only the outer ring asks for what is wired": (
        "sourcemon/operations/poll.py",
        "import sourcemon.wiring",
    ),
}


def test_the_contracts_hold() -> None:
    done = _lint_imports(ROOT)

    assert done.returncode == 0, done.stdout


def test_each_contract_notices_a_breach(tmp_path: Path) -> None:
    for name in PRODUCT:
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copyfile(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    for file, statement in BREACHES.values():
        with (tmp_path / file).open("a") as module:
            module.write(f"\n{statement}\n")

    report = _lint_imports(tmp_path).stdout

    assert set(re.findall(r"^(.+) BROKEN", report, re.MULTILINE)) == set(BREACHES), report


def test_each_contract_has_its_breach() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]

    assert {contract["name"] for contract in contracts["contracts"]} == set(BREACHES)


@pytest.mark.parametrize("room", STANDARD_LIBRARY_ONLY)
def test_a_room_imports_the_standard_library_and_this_package_only(room: str) -> None:
    allowed = sys.stdlib_module_names | {"sourcemon"}
    files = [file for file in modules("sourcemon") if file.is_relative_to(room)]
    foreign = {str(file): _imported(file) - allowed for file in files}

    assert files
    assert {file: names for file, names in foreign.items() if names} == {}


def test_the_commands_start_without_prefect() -> None:
    script = "import sys, sourcemon.cli.main; sys.exit('prefect' in sys.modules)"

    assert subprocess.run((sys.executable, "-c", script), cwd=ROOT, check=False).returncode == 0


def _imported(file: Path) -> set[str]:
    """The top-level names of what a module imports."""
    names = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def _lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (BIN / "lint-imports", "--no-logo", "--no-cache"),
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
