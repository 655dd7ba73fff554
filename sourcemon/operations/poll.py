"""One poll of one source, whole: the four steps in their order, and one exit.

::

    check_schedule ─▶ fetch_page ─▶ persist_page ─▶ evaluate_health
                          ▲              │
                          └── next page ─┘

Each step runs in short transactions of its own and none is held across a request. The flow
``poll-source`` calls the same four functions as four tasks.
"""

from __future__ import annotations

from sourcemon.core.results import Attempt, Deferral
from sourcemon.core.sources import SourceId
from sourcemon.errors import ClaimLost
from sourcemon.operations.check_schedule import check_schedule
from sourcemon.operations.deps import Deps
from sourcemon.operations.evaluate_health import evaluate_health
from sourcemon.operations.fetch_page import fetch_page
from sourcemon.operations.persist_page import persist_page


def poll(
    deps: Deps, source_id: SourceId, *, force: bool = False, token: str | None = None
) -> Attempt:
    """Poll a source if its schedule allows it; what came of it is recorded, whatever it is.

    What the world does (a timeout, a 500, a page of HTML) is in the result. Faults of ours are
    recorded and then raised.

    Raises:
        UnknownSource: no source has that id.
        BadSetting: the source is not on this machine and no contact is set.
        ClaimLost: the poll took longer than its claim and another worker took over.
        DatabaseUnavailable: the database failed; the claim, if any, expires by itself.
    """
    begun = check_schedule(deps, source_id, force=force, token=token)
    if isinstance(begun, Deferral):
        return begun
    try:
        while not (fetch_page(deps, begun).is_last or persist_page(deps, begun).is_last):
            pass
    finally:
        result = evaluate_health(deps, begun)
    if result is None:
        raise ClaimLost(source_id)
    return result
