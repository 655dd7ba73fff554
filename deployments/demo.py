"""``make demo``: real feeds over real HTTP, polled by the real flows, on a clock that jumps.

Nothing outside a temporary folder is touched and nothing beyond this machine is asked.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from deployments.server_settings import throwaway


def main() -> None:
    """Play the demonstration; exit 0 when every known total was met, 1 otherwise."""
    with tempfile.TemporaryDirectory(prefix="sourcemon-demo-") as folder:
        _forget_the_users_settings()
        os.environ.update(throwaway(Path(folder)))
        # Prefect reads its settings when it is first imported, so the story is imported only now.
        from deployments.demo_story import play  # noqa: PLC0415

        met = asyncio.run(play(Path(folder)))
    sys.exit(0 if met else 1)


def _forget_the_users_settings() -> None:
    """Take this user's sourcemon and Prefect out of the environment."""
    for name in [name for name in os.environ if name.startswith(("SOURCEMON_", "PREFECT_"))]:
        del os.environ[name]


if __name__ == "__main__":
    main()
