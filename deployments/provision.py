"""``python -m deployments.provision``: what a Prefect server must hold is created or mended.

Limits, the automation that ends dead runs and, if asked for, the work pool of ``prefect.yaml``.
"""

# ruff: noqa: PLC0415 - Prefect reads the environment when it is imported

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys

from deployments.server_settings import QUIET
from sourcemon.errors import Refused, SourcemonError


def main(arguments: list[str] | None = None) -> int:
    """Provision the server at ``PREFECT_API_URL`` and print what changed; 2 if that cannot be."""
    parser = argparse.ArgumentParser(
        prog="python -m deployments.provision",
        description="Create or mend what a Prefect server must hold for sourcemon.",
    )
    parser.add_argument(
        "--work-pool", action="store_true", help="the work pool for `prefect worker start`, too"
    )
    chosen = parser.parse_args(arguments)
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    logging.getLogger("tasks.limits").setLevel(logging.ERROR)  # we tell ourselves what it mends
    try:
        for line in _provisioned(work_pool=chosen.work_pool) or ("all is as it should be",):
            print(line)
    except SourcemonError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _provisioned(*, work_pool: bool) -> tuple[str, ...]:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    from deployments.prefect_api import require_answer, wanted_place
    from deployments.server_objects import provision

    place = wanted_place()
    if not require_answer(place):
        raise Refused(f"no Prefect server answers at {place.url}: `make up` starts one")
    with temporary_settings({PREFECT_API_URL: place.url}):
        return asyncio.run(provision(work_pool=work_pool))


if __name__ == "__main__":
    sys.exit(main())
