"""The Prefect server's settings that we ship: history that keeps up, leases that outlive a restart.

Its defaults read one message at a time and drop what exceeds 10 000 queued ones; a tick over a
thousand sources would lose most of its history.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_SERVICES = "PREFECT_SERVER_SERVICES_"
_FILE_LEASES = "prefect.server.concurrency.lease_storage.filesystem"

QUIET: Mapping[str, str] = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}
"""Nothing is reported to anybody."""

SERVER_SETTINGS: Mapping[str, str] = {
    **QUIET,
    f"{_SERVICES}TASK_RUN_RECORDER_BATCH_SIZE": "100",
    f"{_SERVICES}TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
    f"{_SERVICES}TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    f"{_SERVICES}EVENT_PERSISTER_BATCH_SIZE": "200",
    f"{_SERVICES}EVENT_PERSISTER_READ_BATCH_SIZE": "200",
    f"{_SERVICES}TRIGGERS_READ_BATCH_SIZE": "200",
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": _FILE_LEASES,
    f"{_SERVICES}DB_VACUUM_ENABLED": "events,flow_runs",
    f"{_SERVICES}DB_VACUUM_RETENTION_PERIOD": "1209600",
    "PREFECT_SERVER_EVENTS_RETENTION_PERIOD": "P1D",
}
"""Environment of a server of ours. Runs are kept for 14 days, events for one."""

_IN_MEMORY = "sqlite+aiosqlite:///file::memory:?cache=shared&uri=true&check_same_thread=false"


def throwaway(folder: Path) -> dict[str, str]:
    """Environment for a server that lives as long as one process and leaves nothing behind.

    Its home is in ``folder``, so that no profile of the user's is read. ``PREFECT_API_URL`` must
    not be set beside it, not even to nothing.
    """
    return {
        **SERVER_SETTINGS,
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_ALLOW_EPHEMERAL_MODE": "true",
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "90",
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": _IN_MEMORY,
        "PREFECT_SERVER_UI_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "WARNING",
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
    }
