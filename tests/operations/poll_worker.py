"""A worker in a process of its own, with a made-up world; tests start several and kill some.

::

    poll_worker.py URL                     poll all that is due; print the ids
    poll_worker.py URL {"SOURCE": POINT}   poll each source and be killed at its crash point, every
                                           time in a process of its own; print by which signal

It says "ready", waits for a line, and begins. What it prints is JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys

from sourcemon.clock import FakeClock
from sourcemon.core.replies import Reply, RequestPlan
from sourcemon.core.sources import SourceId
from sourcemon.operations.deps import CrashPoint, Deps, Policies
from sourcemon.operations.dispatch import claim_due
from sourcemon.operations.poll import poll
from sourcemon.store.session import Database
from tests.operations.site import FakeSite
from tests.operations.watched import CONTACT
from tests.store.stored import NOON


class OneItemEach(FakeSite):
    """A world in which every URL is a feed with one item that is fresh for ten minutes."""

    def fetch(self, plan: RequestPlan, *, heard: object = None) -> Reply:
        feed = self.feed(plan.url)
        if not feed.items:
            feed.publish("one")
            feed.headers["Cache-Control"] = "max-age=600"
        return super().fetch(plan)


def worker(url: str, die_at: CrashPoint | None = None) -> Deps:
    def reached(point: CrashPoint) -> None:
        if point is die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    clock = FakeClock(NOON)
    return Deps(
        database=Database(url),
        http=OneItemEach(clock),
        clock=clock,
        policies=Policies(contact=CONTACT),
        reached=reached,
    )


def poll_all(deps: Deps) -> list[int]:
    """Poll what is due, a few at a time, until nothing is; the ids in the order of the polls."""
    polled = []
    while claimed := claim_due(deps, limit=8):
        for each in claimed:
            poll(deps, each.source_id, token=each.token)
            polled.append(int(each.source_id))
    return polled


def killed(url: str, source_id: SourceId, point: CrashPoint) -> int:
    """Poll a source in a child that is killed at ``point``; the signal that ended the child."""
    child = os.fork()
    if child == 0:
        try:
            poll(worker(url, point), source_id)
        finally:
            os._exit(0)
    return os.WTERMSIG(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    database_url, *victims = sys.argv[1:]
    if victims:
        points = json.loads(victims[0]).items()
        found = [killed(database_url, SourceId(int(s)), CrashPoint(point)) for s, point in points]
    else:
        found = poll_all(worker(database_url))
    print(json.dumps(found))
