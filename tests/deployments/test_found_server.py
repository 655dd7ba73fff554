"""Where a Prefect server answers already, it is used, and it outlives `make up`."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from deployments.prefect_api import Answer, Place, answer_at
from tests.deployments.up import plain_feed, up, when, world

HARBOUR = plain_feed("/harbour/notices.xml")


@pytest.mark.usefixtures("no_deployments")
def test_a_server_that_answers_is_used_and_left_alone(
    prefect_server: str, sqlite_template: Path, tmp_path: Path
) -> None:
    database = shutil.copyfile(sqlite_template, tmp_path / "sourcemon.sqlite")
    place = Place(prefect_server)
    with world((HARBOUR,), tmp_path, f"sqlite:///{database}") as found:
        source = found.watch(HARBOUR)
        with up(found, place) as running:
            assert "found running" in running.says("Ready.")
            assert len([each for each in running.family() if "own_server" in str(each)]) == 0
            when(lambda: found.runs(source))

            assert running.stop(signal.SIGTERM) < 15
            assert running.process.returncode == 0

    assert answer_at(place) is Answer.PREFECT
