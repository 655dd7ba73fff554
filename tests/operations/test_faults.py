"""Faults of ours: recorded as ours, never counted against the source, and raised as they were."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from sourcemon.core.changes import Counters
from sourcemon.core.entries import Entry, Page
from sourcemon.core.health import Grade
from sourcemon.core.replies import Validators
from sourcemon.core.results import DeferralKind
from sourcemon.core.schedule import ObjectionName
from sourcemon.core.verdict import RunStatus
from sourcemon.errors import DatabaseUnavailable
from sourcemon.operations import kinds
from sourcemon.operations.deps import CrashPoint
from sourcemon.operations.evaluate_health import evaluate_health
from sourcemon.operations.fetch_page import fetch_page
from sourcemon.store.tables import (
    HealthStateRow,
    ItemContentRow,
    ItemRow,
    PollStateRow,
)
from tests.operations.site import fault, meanwhile, status, whole
from tests.operations.watched import Watched, everything
from tests.store.stored import LEASE, NOON, minutes, out_of_order, rows

SECRET = "what a publisher wrote"
Broken = Callable[[Watched], contextlib.AbstractContextManager[type[BaseException]]]


@contextlib.contextmanager
def the_client(kiosk: Watched) -> Iterator[type[BaseException]]:
    kiosk.deps.http.feed(kiosk.source.url).then(fault(RuntimeError(SECRET)))  # type: ignore[attr-defined]
    yield RuntimeError


@contextlib.contextmanager
def the_decoder(kiosk: Watched) -> Iterator[type[BaseException]]:
    def broken(body: bytes, **rest: object) -> Page:
        raise LookupError(SECRET)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "read_feed", broken)
        yield LookupError


def the_database(statement_begins: str) -> Broken:
    @contextlib.contextmanager
    def out(kiosk: Watched) -> Iterator[type[BaseException]]:
        with out_of_order(kiosk.deps.database, statement_begins):
            yield DatabaseUnavailable

    return out


AFTER_THE_REQUEST = {
    "in the client": the_client,
    "in storing what the server asks for": the_database("UPDATE poll_states SET poll_floor_until"),
    "in the decoder": the_decoder,
    "in looking up items": the_database("SELECT items"),
    "in storing items": the_database("INSERT INTO items"),
    "in storing contents": the_database("INSERT INTO item_contents"),
}


@pytest.fixture
def fresh(kiosk, feed) -> None:
    """A feed with an item that asks us to wait a minute."""
    feed.publish("one")
    feed.headers["Cache-Control"] = "max-age=60"


@pytest.mark.parametrize("broken", AFTER_THE_REQUEST.values(), ids=AFTER_THE_REQUEST)
def test_recorded_as_ours_and_raised_is_a_fault(kiosk, fresh, site, deps, broken):
    with broken(kiosk) as raised, pytest.raises(raised):
        kiosk.result()
    run = kiosk.run
    assert (run.status, run.error_category) == ("failed", "internal")
    assert (run.counters, run.stop_reason) == (Counters(), None)
    assert run.error is not None
    assert SECRET not in run.error
    assert raised.__name__ in run.error
    state = kiosk.state
    assert kiosk.objections[ObjectionName.BACKOFF] == NOON + minutes(10)
    assert ObjectionName.CIRCUIT not in kiosk.objections
    assert (state.consecutive_failures, state.retry.attempt, state.last_error) == (0, 0, None)
    assert (state.validators, state.body_hash) == (Validators(), None)
    assert (state.last_polled_at, state.last_success_at) == (NOON, None)
    assert not kiosk.is_claimed
    assert len(site.asked) == 1
    assert everything(deps, ItemRow, ItemContentRow) == [[], []]
    assert rows(deps.database, HealthStateRow)[0]["rolling_success_rate"] is None


@pytest.mark.parametrize("broken", AFTER_THE_REQUEST.values(), ids=AFTER_THE_REQUEST)
def test_made_good_by_the_next_poll_is_a_fault(kiosk, fresh, site, broken):
    """No validator was kept that would hide what was never stored."""
    with broken(kiosk) as raised, pytest.raises(raised):
        kiosk.result()
    kiosk.wait_until_due()
    assert kiosk.result().counters == Counters(created=1)
    assert site.asked[-1].validators == Validators()
    assert kiosk.titles == ["one"]
    assert kiosk.grade is Grade.WORKING


@pytest.mark.parametrize("broken", AFTER_THE_REQUEST.values(), ids=AFTER_THE_REQUEST)
def test_not_counted_against_a_source_with_a_past_is_a_fault(kiosk, feed, deps, broken):
    """Grade, rate, failures in a row and the ladder stand where they stood."""
    feed.publish("one")
    kiosk.result()
    kiosk.wait_until_due()
    feed.then(status(500))
    kiosk.result()
    kiosk.wait_until_due()
    before, health = kiosk.state, everything(deps, HealthStateRow)
    feed.headers["Cache-Control"] = "max-age=60"
    feed.publish("two")
    with broken(kiosk) as raised, pytest.raises(raised):
        kiosk.result()
    after = kiosk.state
    assert everything(deps, HealthStateRow) == health
    assert (after.consecutive_failures, after.retry) == (1, before.retry)
    assert (after.last_error, after.last_success_at) == (before.last_error, NOON)
    assert (after.validators, after.body_hash) == (before.validators, before.body_hash)
    assert kiosk.titles == ["one"]


def test_the_very_error_is_raised(kiosk, feed):
    error = RuntimeError(SECRET)
    feed.then(fault(error))
    with pytest.raises(RuntimeError) as raised:
        kiosk.result()
    assert raised.value is error


def test_faults_never_open_a_circuit(kiosk, feed, clock):
    for number in range(6):
        feed.then(fault(RuntimeError()))
        with pytest.raises(RuntimeError):
            kiosk.result()
        assert kiosk.objections[ObjectionName.BACKOFF] == clock.now() + minutes(10), number
        kiosk.wait_until_due()
    assert ObjectionName.CIRCUIT not in kiosk.objections


STOPS = {
    "before the request": (KeyboardInterrupt, CrashPoint.ANNOUNCED, False, False),
    "after the answer": (SystemExit, CrashPoint.HINTED, True, False),
    "after the page": (asyncio.CancelledError, CrashPoint.PERSISTED, True, True),
}


@pytest.mark.parametrize(("stop", "point", "asked", "stored"), STOPS.values(), ids=STOPS)
def test_a_poll_that_is_stopped_from_outside_lets_go(
    kiosk, feed, site, deps, stop, point, asked, stored
):
    """A run says so if a request was sent; what was persisted stays; nothing is held against it."""

    def reached(where: CrashPoint) -> None:
        if where is point:
            raise stop

    feed.publish("one")
    with pytest.raises(stop):
        kiosk.result(by=replace(deps, reached=reached))
    interrupted = [("failed", "interrupted", "internal")] * asked
    assert len(site.asked) == asked
    assert [(r.status, r.stop_reason, r.error_category) for r in kiosk.runs] == interrupted
    assert kiosk.titles == ["one"] * stored
    assert kiosk.state.consecutive_failures == 0
    assert kiosk.state.validators == Validators()
    assert not kiosk.is_claimed


def test_a_poll_that_is_stopped_while_it_waits_for_an_answer_lets_go(kiosk, feed):
    feed.then(fault(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        kiosk.result()
    assert (kiosk.run.status, kiosk.run.stop_reason) == ("failed", "interrupted")
    assert not kiosk.is_claimed


def test_a_poll_that_is_given_up_between_two_steps_is_recorded_as_interrupted(kiosk, feed, deps):
    """A flow is cancelled after the task that fetched, before the one that would persist."""
    feed.publish("one")
    given_up = kiosk.begun()
    fetch_page(deps, given_up)
    assert evaluate_health(deps, given_up) is None
    assert kiosk.run.status == RunStatus.FAILED
    assert (kiosk.run.stop_reason, kiosk.run.error_category) == ("interrupted", "internal")
    assert kiosk.state.consecutive_failures == 0
    assert kiosk.state.validators == Validators()
    assert not kiosk.is_claimed


def test_a_poll_that_is_given_up_before_its_request_leaves_all_as_it_was(kiosk, site, deps):
    before = kiosk.row
    assert evaluate_health(deps, kiosk.begun()) is None
    assert kiosk.row == before
    assert kiosk.runs == ()
    assert site.asked == []


# ── Before any request ─────────────────────────────────────────────────────────────────────────

BEFORE_THE_REQUEST = {
    "in reading the source": "SELECT sources",
    "in claiming it": "UPDATE poll_states SET claim_token",
    "in renewing the claim": "UPDATE poll_states SET claim_expires_at",
    "in opening the run": "INSERT INTO poll_runs",
}


@pytest.mark.parametrize("statement", BEFORE_THE_REQUEST.values(), ids=BEFORE_THE_REQUEST)
def test_without_a_request_there_is_no_run_and_all_is_as_it_was_after_a_fault(
    kiosk, site, deps, statement
):
    before = kiosk.row
    with out_of_order(deps.database, statement), pytest.raises(DatabaseUnavailable):
        kiosk.result()
    assert kiosk.runs == ()
    assert kiosk.row == before
    assert site.asked == []


def test_after_a_fault_before_the_request_the_source_is_still_due(kiosk, feed, deps):
    feed.publish("one")
    with (
        out_of_order(deps.database, "INSERT INTO poll_runs"),
        pytest.raises(DatabaseUnavailable),
    ):
        kiosk.result()
    assert kiosk.result().counters == Counters(created=1)


# ── The verdict itself ─────────────────────────────────────────────────────────────────────────

VERDICT = {
    "the state": "UPDATE poll_states SET status=",
    "the run": "duration_ms=",
    "the grade": "UPDATE health_states",
    "the cache": "UPDATE poll_states SET next_poll_at=",
    "the release": "UPDATE poll_states SET claim_token=",
}


@pytest.mark.parametrize("words", VERDICT.values(), ids=VERDICT)
def test_a_verdict_is_stored_whole_or_not_at_all(kiosk, feed, deps, words):
    """What was persisted before stays; the claim is left to expire."""
    feed.publish("one")
    before = kiosk.row
    with contextlib.ExitStack() as trouble:
        begins = out_of_order(deps.database, words)
        feed.then(meanwhile(lambda: trouble.enter_context(begins)))
        with pytest.raises(DatabaseUnavailable):
            kiosk.result()
    after = kiosk.row
    assert after.pop("claim_token") is not None
    assert after.pop("claim_expires_at") == NOON + LEASE
    assert after == {name: before[name] for name in after}
    assert kiosk.run.status == "running"
    assert kiosk.grade is None
    assert kiosk.titles == ["one"]


def test_a_poll_whose_verdict_was_lost_is_taken_up_when_its_claim_expires(kiosk, feed, deps, clock):
    feed.publish("one")
    with out_of_order(deps.database, VERDICT["the run"]), pytest.raises(DatabaseUnavailable):
        kiosk.result()
    assert kiosk.deferral().kind is DeferralKind.BUSY
    clock.advance(LEASE)
    assert kiosk.result().counters == Counters(unchanged=1)
    newer, older = kiosk.runs
    assert (newer.status, older.status, older.stop_reason) == (
        "completed",
        "failed",
        "interrupted",
    )


def test_a_fault_that_cannot_be_recorded_is_still_in_the_trace(kiosk, feed, deps):
    feed.then(fault(RuntimeError("client")))
    with (
        out_of_order(deps.database, VERDICT["the run"]),
        pytest.raises(DatabaseUnavailable) as raised,
    ):
        kiosk.result()
    contexts = []
    error: BaseException | None = raised.value
    while error is not None:
        contexts.append(type(error))
        error = error.__context__
    assert RuntimeError in contexts


# ── Pages that could not be stored whole ───────────────────────────────────────────────────────


def test_a_bad_entry_costs_itself_alone_and_is_seen_again(kiosk, feed, site, monkeypatch):
    """Neither the validators nor the hash of its page are kept, so that it gets another chance."""
    entries = [Entry(guid="good", title="good"), Entry(guid="bad", title="bad \ud800")]
    monkeypatch.setattr(kinds, "read_feed", lambda body, **rest: Page(entries=tuple(entries)))
    result = kiosk.result()
    assert result.status is RunStatus.COMPLETED
    assert result.counters == kiosk.run.counters == Counters(created=1, failed=1)
    assert (kiosk.state.validators, kiosk.state.body_hash) == (Validators(), None)
    assert kiosk.state.consecutive_failures == 0
    kiosk.wait_until_due()
    entries[1] = Entry(guid="bad", title="mended")
    assert kiosk.result().counters == Counters(created=1, unchanged=1)
    assert site.asked[-1].validators == Validators()
    assert kiosk.state.validators == Validators(feed.etag, None)


def test_a_bad_entry_does_not_replace_the_validators_of_a_whole_page(
    kiosk, feed, site, monkeypatch
):
    feed.publish("one")
    kiosk.result()
    held, body_hash = kiosk.state.validators, kiosk.state.body_hash
    kiosk.wait_until_due()
    feed.publish("two")
    bad = Page(entries=(Entry(guid="bad", title="bad \ud800"),))
    with monkeypatch.context() as patch:
        patch.setattr(kinds, "read_feed", lambda body, **rest: bad)
        assert kiosk.result().counters == Counters(failed=1)
    assert (kiosk.state.validators, kiosk.state.body_hash) == (held, body_hash)


def test_every_run_has_a_request_and_every_request_a_run(kiosk, feed, site, deps):
    """Through much of what can happen to a source, with attempts in between that come too early."""
    feed.publish("one")
    feed.then(status(500), fault(RuntimeError()), status(429), whole, status(410))
    for _ in range(5):
        with contextlib.suppress(RuntimeError):
            kiosk.result()
        kiosk.deferral()
        kiosk.wait_until_due()
    assert kiosk.deferral(force=True).kind is DeferralKind.GONE
    assert len(kiosk.runs) == len(site.asked) == 5
    assert rows(deps.database, PollStateRow)[0]["status"] == "gone"
