"""Where the real documents lie. They are no part of this project; tests read them in place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.isolation import OUTSIDE

_BESIDE = Path(__file__).parents[2] / "shared" / "corpus"


def corpus_folder() -> Path:
    """The folder of real documents: ``SOURCEMON_CORPUS``, else ``../shared/corpus``.

    Skips the test that asks, with the reason, where there is none; fails it where
    ``SOURCEMON_CORPUS`` names a folder that does not exist.
    """
    named = OUTSIDE.get("SOURCEMON_CORPUS")
    folder = Path(named) if named else _BESIDE
    if folder.is_dir():
        return folder
    if named:
        pytest.fail(f"SOURCEMON_CORPUS names {folder}, which is no folder", pytrace=False)
    pytest.skip(f"no real documents: {folder} is absent; SOURCEMON_CORPUS names another folder")
