"""What dead workers left behind is tidied, and what was scheduled in vain is found."""

from __future__ import annotations

import pytest

from sourcemon.core.schedule import NEVER
from sourcemon.core.upkeep import ScheduledPoll, Upkeep
from sourcemon.errors import ClaimLost
from sourcemon.operations import dispatch, register
from sourcemon.operations.evaluate_health import evaluate_health
from sourcemon.operations.fetch_page import fetch_page
from sourcemon.operations.hints import leave_to_run
from sourcemon.operations.upkeep import pointless, reconcile
from sourcemon.store.tables import PollRunRow, PollStateRow
from tests.operations.site import meanwhile, status
from tests.operations.watched import everything, watch
from tests.store.stored import LEASE, NOON, TICK, minutes


def die_after_the_request(kiosk) -> None:
    fetch_page(kiosk.deps, kiosk.begun())


def test_a_dead_worker_s_claim_is_freed_and_its_run_is_closed(kiosk, feed, deps, clock):
    """Even of a source that will not be due for long."""
    feed.then(status(503, {"Retry-After": "86400"}))
    die_after_the_request(kiosk)
    clock.advance(LEASE)
    assert reconcile(deps) == Upkeep(claims_freed=1, runs_closed=1)
    assert not kiosk.is_claimed
    assert (kiosk.run.status, kiosk.run.stop_reason) == ("failed", "interrupted")
    assert kiosk.run.finished_at == clock.now()
    assert kiosk.state.consecutive_failures == 0
    assert reconcile(deps) == Upkeep(claims_freed=0, runs_closed=0)


def test_a_living_worker_is_left_alone(kiosk, feed, deps, clock, other_worker):
    found = []

    def upkeep() -> None:
        clock.advance(LEASE - TICK)
        before = everything(deps, PollStateRow, PollRunRow)
        found.append(reconcile(other_worker))
        assert everything(deps, PollStateRow, PollRunRow) == before

    feed.publish("one")
    feed.then(meanwhile(upkeep))
    assert kiosk.result().counters.created == 1
    assert found == [Upkeep(claims_freed=0, runs_closed=0)]


def test_a_worker_that_was_taken_for_dead_writes_nothing_more(kiosk, feed, deps, clock):
    feed.publish("one")
    late = kiosk.begun()
    fetch_page(deps, late)
    clock.advance(LEASE)
    reconcile(deps)
    before = everything(deps, PollStateRow, PollRunRow)
    with pytest.raises(ClaimLost):
        evaluate_health(deps, late)
    assert everything(deps, PollStateRow, PollRunRow) == before


def test_a_source_is_left_to_its_scheduled_run_for_two_minutes(kiosk, feed, deps, clock):
    feed.publish("one")
    due = kiosk.result().next_poll_at
    assert leave_to_run(deps, kiosk.source.id, due)
    clock.jump_to(due + minutes(2) - TICK)
    assert dispatch.claim_due(deps, limit=1) == ()
    clock.advance(TICK)
    assert len(dispatch.claim_due(deps, limit=1)) == 1


def test_a_hint_is_no_objection(kiosk, feed, deps, clock):
    """The scheduled run itself, and a person, poll the source all the same."""
    feed.publish("one")
    due = kiosk.result().next_poll_at
    leave_to_run(deps, kiosk.source.id, due)
    clock.jump_to(due)
    kiosk.result()
    assert kiosk.row["hint_until"] is None


def test_a_source_that_was_polled_in_between_is_not_left_to_the_run(kiosk, feed, deps, clock):
    feed.publish("one")
    due = kiosk.result().next_poll_at
    clock.advance(minutes(1))
    kiosk.result(force=True)
    assert not leave_to_run(deps, kiosk.source.id, due)
    assert kiosk.row["hint_until"] is None


def scheduled(kiosk, at, *, force: bool = False) -> ScheduledPoll:
    return ScheduledPoll(source_id=kiosk.source.id, at=at, force=force)


def test_pointless_are_the_runs_that_would_find_nothing_to_do(deps, site):
    polled, off, new = (watch(deps, f"https://kiosk.test/{number}") for number in range(3))
    site.feed(polled.source.url).publish("one")
    due = polled.result().next_poll_at
    register.disable(deps, off.source.id)
    assert off.row["next_poll_at"] == NEVER
    gone = ScheduledPoll(source_id=99, at=due, force=False)  # type: ignore[arg-type]
    useful = [scheduled(polled, due), scheduled(polled, NOON, force=True), scheduled(new, NOON)]
    vain = [scheduled(polled, due - TICK), scheduled(off, due), scheduled(off, due, force=True)]
    assert pointless(deps, [*useful, *vain, gone]) == (*vain, gone)
    assert pointless(deps, []) == ()
