"""The environments of the processes that `make up` starts, and the folder where they keep things.

What the operator has set in the environment wins over what is chosen here.
"""

from __future__ import annotations

import os
from pathlib import Path

from deployments.prefect_api import Place
from deployments.server_objects import HEARTBEAT
from deployments.server_settings import QUIET, SERVER_SETTINGS
from sourcemon import settings

_OURS = {
    **QUIET,
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": f"{HEARTBEAT.total_seconds():.0f}",
    "PREFECT_LOGGING_COLORS": "false",
    "PYTHONUNBUFFERED": "1",
}
_RUNNER = {
    # A schedule that was taken out of prefect.yaml goes.
    "PREFECT_DEPLOYMENTS_CLEAR_SCHEDULES_ON_EMPTY": "true",
    # Without its server a run fails; it must not start another one and report to that.
    "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "false",
}


def data_folder() -> Path:
    """Where the embedded stack keeps its things: beside the embedded database."""
    return settings.default_database_file().parent


def of_server(place: Place) -> dict[str, str]:
    """The environment of a Prefect server of ours, whose home is in the data folder."""
    chosen = {**SERVER_SETTINGS, **_OURS, "PREFECT_HOME": str(data_folder() / "prefect")}
    return {**chosen, **os.environ, "PREFECT_API_URL": place.url}


def of_runner(place: Place, *, server_is_ours: bool) -> dict[str, str]:
    """The environment of the runner and of every run that it starts.

    With a server of ours it has that one's home, so that no profile made for another is read.
    """
    chosen = {**_OURS, **_RUNNER}
    if server_is_ours:
        chosen["PREFECT_HOME"] = str(data_folder() / "prefect")
    return {**chosen, **os.environ, "PREFECT_API_URL": place.url}
