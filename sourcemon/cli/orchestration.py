"""The one way from the command line to Prefect, taken only by commands that need it."""

from __future__ import annotations

from sourcemon.core.checkup import Finding, State


def examine() -> tuple[Finding, ...]:
    """How Prefect's part of the installation stands; that there is none, without Prefect."""
    try:
        import asyncio
        import logging

        from deployments import checkup
    except ImportError as missing:
        message = f"Prefect cannot be used here: {missing}"
        fix = "install sourcemon with its dependencies; polls by hand need no Prefect"
        return (Finding(subject="prefect", state=State.WARNING, message=message, fix=fix),)
    logging.getLogger("tasks").setLevel(logging.ERROR)  # the findings say it all
    return asyncio.run(checkup.examine())
