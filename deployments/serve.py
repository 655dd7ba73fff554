"""``make up``: a Prefect server if none answers, and every deployment served, until Ctrl-C.

Exit 0 when it was asked to stop, 1 when it had to give up, 2 when it cannot be done as it is set.
"""

# ruff: noqa: PLC0415 - Prefect reads the environment when it is imported

from __future__ import annotations

import os
import sys

from deployments.server_settings import QUIET
from sourcemon.errors import SourcemonError


def main() -> int:
    """Check what can be checked, start what is missing, watch over it; the exit code."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    print("Starting sourcemon; Ctrl-C stops all of it …", flush=True)
    from deployments.preflight import checked
    from deployments.stack import watched
    from deployments.stop_requests import StopRequests

    with StopRequests() as stop:
        try:
            return watched(checked(), stop)
        except SourcemonError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main())
