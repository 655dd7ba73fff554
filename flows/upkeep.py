"""What dead workers, and hands in the Prefect UI, left behind is put right every five minutes."""

from __future__ import annotations

from typing import Any

from prefect import State, flow

from tasks.reporting import upkeep_state
from tasks.upkeep import cancel_pointless_runs, mend_limits, reconcile


@flow(name="upkeep", flow_run_name="upkeep", persist_result=False, retries=0)
async def upkeep() -> State[Any]:
    """Free expired claims, close interrupted runs, mend limits, cancel runs without a reason.

    The run ends `Completed` as `AllWell` or, with a count of each, as `Mended`.
    """
    done = await reconcile()
    mended = await mend_limits()
    cancelled = await cancel_pointless_runs()
    return upkeep_state(done, mended=mended, cancelled=cancelled)
