"""How big things may be, what they may be called, where they may lie, what they may name."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.project import PRODUCT, ROOT, modules, project_files

MODULE_LINES = 250
FUNCTION_LINES = 50
NAMES_THAT_SAY_NOTHING = {
    *("common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"),
}
TOP_LEVEL = {
    *("flows", "tasks", "sourcemon", "deployments", "tests", "docs", "benchmarks"),
    *("prefect.yaml", "pyproject.toml", "requirements.lock", "Makefile"),
    *("README.md", "CHANGELOG.md", "LICENSE"),
}
# In brackets, so that this file does not contain what it looks for.
ADDRESSES = re.compile(
    r"[p]ypi\.org|[p]ythonhosted|index[-]url|find[-]links|/[w]ork/|/[r]oot/|/[o]pt/pypi"
)


def test_no_module_is_longer_than_250_lines() -> None:
    lines = {str(file): len(_text(file).splitlines()) for file in modules(*PRODUCT)}

    assert {file: count for file, count in lines.items() if count > MODULE_LINES} == {}


def test_every_function_is_shorter_than_50_lines() -> None:
    long = {
        f"{file}:{function.lineno} {function.name}": lines
        for file in modules(*PRODUCT)
        for function, lines in _functions(file)
        if lines >= FUNCTION_LINES
    }

    assert long == {}


def test_modules_and_folders_are_named_after_what_they_hold() -> None:
    named = {file: {part.strip("_") for part in file.with_suffix("").parts} for file in modules()}

    assert [str(file) for file, parts in named.items() if parts & NAMES_THAT_SAY_NOTHING] == []


def test_no_flow_or_task_module_has_the_name_of_another_top_level_module() -> None:
    """A worker that loads a flow by its path puts the flow's folder first on ``sys.path``."""
    taken = sys.stdlib_module_names | set(PRODUCT)
    names = {str(file): file.stem for file in modules("flows", "tasks")}

    assert {file for file, name in names.items() if name in taken} == set()


def test_the_top_level_holds_what_it_may() -> None:
    found = {file.parts[0] for file in project_files()}

    assert {name for name in found if not name.startswith(".")} <= TOP_LEVEL


def test_no_file_names_a_package_index_or_a_folder_of_one_machine() -> None:
    texts = (
        (file, (ROOT / file).read_bytes().decode(errors="replace")) for file in project_files()
    )
    named = {str(file): ADDRESSES.findall(text) for file, text in texts}

    assert {file: found for file, found in named.items() if found} == {}


def _functions(file: Path) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """The functions of a module with their lines, from ``def`` to the last one."""
    for node in ast.walk(ast.parse(_text(file))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1


def _text(file: Path) -> str:
    return (ROOT / file).read_text()
