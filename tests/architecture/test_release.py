"""What one release says about itself in several places agrees."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import entry_points

from sourcemon import __version__
from tests.architecture.project import ROOT


def test_the_newest_version_in_the_changelog_is_the_packages() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## \[?v?(\d[^\]\s]*)", changelog, re.MULTILINE)

    assert headings[0] == __version__


def test_the_lock_file_pins_all_that_the_package_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["test"],
    ]
    locked = re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    names = {re.split(r"[^A-Za-z0-9-]", requirement)[0].lower() for requirement in wanted}

    assert names - set(locked) == set()


def test_the_lock_file_has_a_hash_for_every_version() -> None:
    blocks = re.split(r"^(?=\S+==)", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)

    assert len(blocks) > 1
    assert [block.splitlines()[0] for block in blocks[1:] if "--hash=sha256:" not in block] == []


def test_the_command_is_installed() -> None:
    (command,) = entry_points(group="console_scripts", name="sourcemon")

    assert callable(command.load())
