"""A worker that is too slow: another one took over, and its truth stands."""

from __future__ import annotations

import pytest

from sourcemon.core.changes import Counters
from sourcemon.core.replies import ErrorCategory, Validators
from sourcemon.core.results import DeferralKind
from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.errors import ClaimLost
from sourcemon.operations.check_schedule import check_schedule
from sourcemon.operations.evaluate_health import evaluate_health
from sourcemon.operations.fetch_page import fetch_page
from sourcemon.operations.persist_page import persist_page
from sourcemon.store import claims, polls
from sourcemon.store.tables import (
    HealthStateRow,
    ItemContentRow,
    ItemRow,
    PollRunRow,
    PollStateRow,
)
from tests.operations.site import body, fault, meanwhile, no_answer, status, whole
from tests.operations.watched import everything
from tests.store.stored import LEASE, NOON, TICK, minutes

ALL = (PollStateRow, PollRunRow, ItemRow, ItemContentRow, HealthStateRow)
OLD = b"""<rss version="2.0"><channel><title>Kiosk</title>
<item><guid isPermaLink="false">guid one</guid><title>one, outdated</title></item>
<item><guid isPermaLink="false">guid zero</guid><title>zero</title></item>
</channel></rss>"""

LATE = {
    "an outdated document": body(OLD),
    "a document that is no feed": body(b"<html></html>"),
    "a failure": status(500),
    "the end": status(410),
    "no answer": no_answer(ErrorCategory.TIMEOUT, "no answer for 60 s"),
    "the same bytes": whole,
}


@pytest.mark.parametrize("late", LATE.values(), ids=LATE)
def test_nothing_of_a_late_answer_is_written_once_another_one_has_polled(
    kiosk, feed, clock, other_worker, late
):
    stands = []

    def take_over() -> None:
        clock.advance(LEASE)
        feed.publish("one", "two")
        assert kiosk.result(by=other_worker).counters == Counters(created=2)
        stands.extend(everything(other_worker, *ALL))

    feed.then(meanwhile(take_over, late))
    with pytest.raises(ClaimLost) as lost:
        kiosk.result()
    assert lost.value.source_id == kiosk.source.id
    assert everything(other_worker, *ALL) == stands
    assert kiosk.titles == ["two", "one"]
    assert kiosk.state.validators == Validators(feed.etag, None)


def test_the_run_of_the_late_one_is_closed_as_interrupted(kiosk, feed, clock, other_worker):
    def take_over() -> None:
        clock.advance(LEASE)
        kiosk.result(by=other_worker)

    feed.then(meanwhile(take_over, status(500)))
    with pytest.raises(ClaimLost):
        kiosk.result()
    newer, older = kiosk.runs
    assert (newer.status, newer.error_category) == ("completed", None)
    assert (older.status, older.stop_reason, older.error_category) == (
        "failed",
        "interrupted",
        "internal",
    )
    assert older.finished_at == NOON + LEASE


def test_what_the_server_asked_the_late_one_for_counts_all_the_same(
    kiosk, feed, clock, other_worker
):
    def take_over() -> None:
        clock.advance(LEASE)
        kiosk.result(by=other_worker)

    asks = {"Retry-After": "7200", "X-Poll-Interval": "9000"}
    feed.then(meanwhile(take_over, status(503, asks)))
    with pytest.raises(ClaimLost):
        kiosk.result()
    now = NOON + LEASE
    assert kiosk.objections == {
        ObjectionName.CADENCE: now + minutes(30),
        ObjectionName.RETRY: now + minutes(120),
        ObjectionName.FLOOR: now + minutes(150),
    }
    clock.jump_to(now + minutes(30))
    assert kiosk.deferral().until == now + minutes(150)


def test_what_the_server_asks_the_late_one_for_survives_the_verdict_of_the_new_one(
    kiosk, feed, clock, other_worker
):
    """Its answer comes while the new owner's request is under way."""

    def late_answer() -> None:
        with kiosk.deps.database.write() as session:
            polls.raise_objections(session, kiosk.source.id, [asked])

    asked = Objection(ObjectionName.RETRY, NOON + minutes(120), "Retry-After: 7200")
    feed.publish("one")
    feed.then(meanwhile(late_answer))
    assert kiosk.result(by=other_worker).counters == Counters(created=1)
    assert kiosk.objections[ObjectionName.RETRY] == asked.until
    assert kiosk.row["next_poll_at"] == asked.until


def test_the_new_owner_is_not_disturbed_while_it_is_still_polling(kiosk, feed, clock, other_worker):
    def late_one_ends() -> None:
        before = everything(other_worker, *ALL)
        with pytest.raises(ClaimLost):
            persist_page(kiosk.deps, late)
        with pytest.raises(ClaimLost):
            evaluate_health(kiosk.deps, late)
        assert everything(other_worker, *ALL) == before
        assert kiosk.is_claimed

    feed.publish("one")
    late = kiosk.begun()
    fetch_page(kiosk.deps, late)
    clock.advance(LEASE)
    feed.then(meanwhile(late_one_ends))
    assert kiosk.result(by=other_worker).counters == Counters(created=1)
    assert not kiosk.is_claimed


def taken_over(kiosk) -> None:
    """Another worker takes the source the instant the claim expires, and is still at it."""
    kiosk.deps.clock.jump_to(kiosk.row["claim_expires_at"])
    with kiosk.deps.database.write() as session:
        assert claims.take(
            session,
            kiosk.source.id,
            token="another's",
            lease=LEASE,
            instant=kiosk.deps.clock.now(),
        )


STEPS = (fetch_page, persist_page, evaluate_health)


@pytest.mark.parametrize("done", range(3), ids=["checked", "fetched", "persisted"])
def test_the_next_step_fails_and_writes_nothing_when_the_claim_is_lost_after(
    kiosk, feed, site, done
):
    feed.publish("one")
    late = kiosk.begun()
    for step in STEPS[:done]:
        step(kiosk.deps, late)
    taken_over(kiosk)
    before = everything(kiosk.deps, *ALL)
    with pytest.raises(ClaimLost):
        STEPS[done](kiosk.deps, late)
    if done < 2:
        if late.run_id is None:
            assert evaluate_health(kiosk.deps, late) is None
        else:
            with pytest.raises(ClaimLost):
                evaluate_health(kiosk.deps, late)
    assert everything(kiosk.deps, *ALL) == before
    assert len(site.asked) == (done > 0)
    assert kiosk.row["claim_token"] == "another's"


def test_a_claim_is_renewed_before_the_request(kiosk, feed, clock):
    """So that only a request which takes longer than the claim can lose it."""
    poll = kiosk.begun()
    clock.advance(LEASE - TICK)
    expires = []
    feed.then(meanwhile(lambda: expires.append(kiosk.row["claim_expires_at"])))
    fetch_page(kiosk.deps, poll)
    assert expires == [clock.now() + LEASE]


def test_a_claim_that_expired_unnoticed_is_still_ours(kiosk, feed, clock):
    feed.publish("one")
    feed.then(meanwhile(lambda: clock.advance(LEASE + LEASE)))
    assert kiosk.result().counters == Counters(created=1)
    assert not kiosk.is_claimed


def test_a_poll_with_a_claim_that_is_gone_sends_nothing(kiosk, site, deps):
    kiosk.change({"claim_token": "another's", "claim_expires_at": NOON + LEASE})
    before = everything(deps, *ALL)
    with pytest.raises(ClaimLost):
        check_schedule(deps, kiosk.source.id, token="mine")
    assert everything(deps, *ALL) == before
    assert site.asked == []


def test_a_fault_of_ours_does_not_hide_that_the_claim_was_lost(kiosk, feed, clock, other_worker):
    """Both are in the trace; what counts is that nothing was written."""

    def take_over() -> None:
        clock.advance(LEASE)
        kiosk.result(by=other_worker)

    feed.then(meanwhile(take_over, fault(RuntimeError("client"))))
    with pytest.raises(ClaimLost) as lost:
        kiosk.result()
    assert isinstance(lost.value.__context__, RuntimeError)
    assert kiosk.state.last_success_at == NOON + LEASE
    assert kiosk.deferral().kind is DeferralKind.NOT_DUE
