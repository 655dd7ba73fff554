"""Workers as processes: several at once, and some that are killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sourcemon.core.replies import ErrorCategory
from sourcemon.core.results import DeferralKind
from sourcemon.core.schedule import ObjectionName
from sourcemon.operations.deps import CrashPoint
from sourcemon.store.tables import ItemRow, PollRunRow, PollStateRow
from tests.operations.watched import Watched, watch
from tests.store.stored import LEASE, NOON, add_sources, minutes, rows

_ROOT = Path(__file__).parents[2]


def at_once(*arguments: Sequence[str]) -> list[tuple[int, str]]:
    """Start a worker for each list of arguments and let all begin together.

    The answer is how each ended, and with what words.
    """
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.operations.poll_worker", *each],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for each in arguments
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    said = [worker.communicate(timeout=60)[0] for worker in workers]
    return [(worker.returncode, text) for worker, text in zip(workers, said, strict=True)]


def test_two_processes_poll_every_due_source_exactly_once(deps, database_url):
    """Neither "locked" nor a source twice nor one that is left."""
    add_sources(deps.database, 200)
    ended = at_once([database_url], [database_url])
    assert [code for code, _ in ended] == [0, 0], ended
    first, second = (json.loads(text) for _, text in ended)
    assert Counter([*first, *second]) == Counter(range(1, 201))
    runs = rows(deps.database, PollRunRow)
    assert Counter(run["source_id"] for run in runs) == Counter(range(1, 201))
    assert {run["status"] for run in runs} == {"completed"}
    assert len(rows(deps.database, ItemRow)) == 200
    states = rows(deps.database, PollStateRow)
    assert {state["claim_token"] for state in states} == {None}
    assert {state["next_poll_at"] for state in states} == {NOON + minutes(30)}


def killed_at(kiosk: Watched, point: CrashPoint) -> None:
    """What a killed worker leaves, and that the next one puts it right without asking early."""
    early = point in {CrashPoint.CLAIMED, CrashPoint.ANNOUNCED}
    announced = point is not CrashPoint.CLAIMED
    persisted = point in {CrashPoint.PERSISTED, CrashPoint.BEFORE_VERDICT}
    assert [run.status for run in kiosk.runs] == ["running"] * announced
    floor = {} if early else {ObjectionName.FLOOR: NOON + minutes(10)}
    assert kiosk.objections == floor
    assert kiosk.titles == ["one"] * persisted
    assert kiosk.state.last_polled_at is None
    assert kiosk.is_claimed


def test_a_killed_worker_costs_a_claim_s_time_and_never_an_early_request(
    deps, site, clock, database_url
):
    watched = {point: watch(deps, f"https://kiosk.test/{point}") for point in CrashPoint}
    victims = {kiosk.source.id: point for point, kiosk in watched.items()}
    ((code, signals),) = at_once([database_url, json.dumps(victims)])
    assert (code, json.loads(signals)) == (0, [signal.SIGKILL] * len(victims))
    for point, kiosk in watched.items():
        killed_at(kiosk, point)
        site.feed(kiosk.source.url).publish("one")
        assert kiosk.deferral().kind is DeferralKind.BUSY
    clock.advance(LEASE)
    for kiosk in watched.values():
        if kiosk.objections:
            assert kiosk.deferral().until == NOON + minutes(10)
    assert site.asked == []
    clock.jump_to(NOON + minutes(10))
    for point, kiosk in watched.items():
        counters = kiosk.result().counters
        stored = point in {CrashPoint.PERSISTED, CrashPoint.BEFORE_VERDICT}
        assert (counters.created, counters.unchanged) == (not stored, stored)
        assert kiosk.titles == ["one"]
        newest, *interrupted = kiosk.runs
        assert newest.status == "completed"
        assert [(run.status, run.stop_reason, run.error_category) for run in interrupted] == (
            [("failed", "interrupted", ErrorCategory.INTERNAL)] * (point is not CrashPoint.CLAIMED)
        )
        assert not kiosk.is_claimed
