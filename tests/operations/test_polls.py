"""Whole polls of a feed, from the first one on, as a person would watch them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sourcemon.core.changes import Counters
from sourcemon.core.health import Grade
from sourcemon.core.poll_state import PollStatus, RetryProgress
from sourcemon.core.replies import ErrorCategory, Validators
from sourcemon.core.schedule import NEVER, ObjectionName
from sourcemon.core.verdict import RunStatus
from sourcemon.operations import kinds
from sourcemon.store.tables import (
    HealthStateRow,
    ItemRow,
    PollRunRow,
    PollStateRow,
    SourceRow,
)
from tests.operations.site import (
    body,
    by_way_of,
    no_answer,
    status,
    torn,
    unusable_body,
    whole,
)
from tests.operations.watched import everything
from tests.store.stored import NOON, add_sources, minutes, rows, seconds

HOURLY = {"Cache-Control": "max-age=3600"}


def test_a_first_poll_stores_what_the_feed_lists(kiosk, feed, site):
    feed.publish("one", "two")
    feed.answer_time = seconds(2)
    result = kiosk.result()
    assert (result.status, result.counters) == (RunStatus.COMPLETED, Counters(created=2))
    assert kiosk.titles == ["two", "one"]
    assert [plan.validators for plan in site.asked] == [Validators()]
    assert kiosk.state.validators == Validators(feed.etag, None)
    assert kiosk.state.last_success_at == kiosk.state.last_polled_at == NOON + seconds(2)


def test_the_next_poll_comes_an_interval_after_the_end_of_the_last_one(kiosk, feed):
    feed.publish("one")
    feed.answer_time = seconds(2)
    result = kiosk.result()
    due = NOON + seconds(2) + minutes(30)
    assert result.next_poll_at == kiosk.row["next_poll_at"] == due
    assert kiosk.objections == {ObjectionName.CADENCE: due}
    assert result.binding is not None
    assert result.binding.because == "every 30 min"


def test_a_poll_leaves_a_run_that_tells_it_all(kiosk, feed):
    feed.publish("one")
    feed.answer_time = seconds(2)
    result = kiosk.result()
    run = kiosk.run
    assert (run.id, run.status, run.forced) == (result.run_id, "completed", False)
    assert (run.started_at, run.finished_at) == (NOON, NOON + seconds(2))
    assert (run.duration_ms, run.http_status, run.pages_fetched) == (2_000, 200, 1)
    assert run.bytes_received == len(feed.document)
    assert (run.stop_reason, run.error_category, run.error) == ("no_next_link", None, None)
    assert run.decision == {
        "binding": "cadence_due_at",
        "objections": [
            {
                "name": "cadence_due_at",
                "until": "2025-06-02T12:30:02+00:00",
                "because": "every 30 min",
            }
        ],
        "before": dict.fromkeys(
            ("body_hash", "cadence_due_at", "etag", "last_polled_at", "last_success_at")
        ),
    }


def test_a_poll_leaves_no_claim_and_a_grade(kiosk, feed):
    feed.publish("one")
    assert kiosk.result().grade is Grade.WORKING
    assert not kiosk.is_claimed
    assert kiosk.grade is Grade.WORKING


def test_a_second_poll_is_told_that_nothing_changed(kiosk, feed, site):
    feed.last_modified = "Mon, 02 Jun 2025 11:00:00 GMT"
    feed.publish("one")
    kiosk.result()
    items = rows(kiosk.deps.database, ItemRow)
    held = Validators(feed.etag, feed.last_modified)
    now = kiosk.wait_until_due()
    result = kiosk.result()
    assert (result.status, result.http_status) == (RunStatus.NOT_MODIFIED, 304)
    assert result.counters == Counters()
    assert [plan.validators for plan in site.asked] == [Validators(), held]
    assert kiosk.state.validators == held
    assert kiosk.state.last_success_at == now
    assert rows(kiosk.deps.database, ItemRow) == items


def test_validators_of_a_304_replace_ours(kiosk, feed, site):
    feed.publish("one")
    kiosk.result()
    kiosk.wait_until_due()
    feed.then(status(304, {"ETag": '"renamed"'}))
    kiosk.result()
    assert kiosk.state.validators == Validators('"renamed"', None)


def test_validators_go_back_byte_for_byte(kiosk, feed, site):
    odd = {"ETag": "W/'no quotes ÿ", "Last-Modified": "the day before yesterday"}
    feed.then(status(200, odd, body=feed.document))
    kiosk.result()
    kiosk.wait_until_due()
    kiosk.result()
    assert site.asked[-1].validators == Validators(odd["ETag"], odd["Last-Modified"])


def test_the_very_same_bytes_are_not_read_again(kiosk, feed, monkeypatch):
    """Many servers have validators and do not honour them."""
    feed.publish("one")
    kiosk.result()
    kiosk.wait_until_due()
    feed.then(whole)
    monkeypatch.setattr(kinds, "read_feed", None)
    result = kiosk.result()
    assert (result.status, result.stop_reason) == (RunStatus.COMPLETED, "unchanged_body")
    assert result.counters == Counters()
    assert kiosk.runs[0].pages_fetched == 1


def test_other_bytes_with_the_same_items_are_no_change(kiosk, feed):
    """A new lastBuildDate in every answer is the commonest of all."""
    feed.has_etag = False
    feed.publish("one", "two")
    kiosk.result()
    kiosk.wait_until_due()
    feed.built += 1
    assert kiosk.result().counters == Counters(unchanged=2)


def test_new_and_edited_items_are_picked_up(kiosk, feed):
    feed.publish("one", "two")
    kiosk.result()
    kiosk.wait_until_due()
    feed.publish("three")
    feed.edit("one", "another text")
    assert kiosk.result().counters == Counters(created=1, updated=1, unchanged=1)
    assert kiosk.titles == ["three", "two", "one"]
    assert kiosk.state.validators == Validators(feed.etag, None)


def test_items_that_the_feed_lists_no_longer_are_kept(kiosk, feed):
    feed.publish("one")
    kiosk.result()
    kiosk.wait_until_due()
    feed.items.clear()
    feed.publish("two")
    kiosk.result()
    assert kiosk.titles == ["two", "one"]


def test_an_item_that_the_feed_lists_twice_is_one_item(kiosk, feed):
    feed.publish("one", "one", "two")
    assert kiosk.result().counters == Counters(created=2, duplicate=1)
    assert kiosk.run.counters.entries_seen == 3


def test_a_feed_without_items_is_a_feed(kiosk):
    assert kiosk.result().counters == Counters()
    assert kiosk.run.status == "completed"


NO_FEEDS = {
    "a page for people": (b"<!DOCTYPE html><html><body>Hello</body></html>", "not_a_feed"),
    "a page to log in": (
        b"<html><head><title>Log in</title></head><form action=/login></form></html>",
        "not_a_feed",
    ),
    "an error in JSON": (b'{"error": "internal"}', "not_a_feed"),
    "nothing": (b"", "empty_body"),
    "nothing but blanks": (b" \r\n\t ", "empty_body"),
    "bytes": (bytes(range(256)), "not_a_feed"),
    "the beginning of a feed": (b"<rss version='2.0'><channel><title>Kio", "malformed"),
}


@pytest.mark.parametrize(("content", "reason"), NO_FEEDS.values(), ids=NO_FEEDS)
def test_a_body_that_is_no_feed_is_a_failure_that_costs_nothing(kiosk, feed, content, reason):
    """Items, validators and the hash of the last whole body stay; nothing of the reply is kept."""
    feed.publish("one")
    kiosk.result()
    before = kiosk.state
    now = kiosk.wait_until_due()
    feed.then(body(content))
    result = kiosk.result()
    assert (result.status, result.error_category) == (RunStatus.FAILED, ErrorCategory.PARSE)
    assert result.error is not None
    assert result.error.startswith(f"{reason}: ")
    assert kiosk.titles == ["one"]
    after = kiosk.state
    assert (after.validators, after.body_hash) == (before.validators, before.body_hash)
    assert (after.consecutive_failures, after.last_success_at) == (1, NOON)
    assert kiosk.objections[ObjectionName.BACKOFF] == now + minutes(30)


def test_a_feed_that_comes_back_is_a_success_that_clears_the_failures(kiosk, feed):
    feed.publish("one")
    feed.then(body(b"<html></html>"))
    kiosk.result()
    kiosk.wait_until_due()
    assert kiosk.result().counters == Counters(created=1)
    state = kiosk.state
    assert (state.consecutive_failures, state.last_error) == (0, None)
    assert state.retry == RetryProgress()
    assert set(kiosk.objections) == {ObjectionName.CADENCE}


def test_of_a_torn_document_the_items_are_kept_and_the_validators_are_not(kiosk, feed, site):
    """The next poll must see the rest, and a 304 would hide it."""
    feed.publish("one", "two", "three")
    feed.then(torn)
    result = kiosk.result()
    assert (result.status, result.counters) == (RunStatus.COMPLETED, Counters(created=2))
    assert result.error is not None
    assert "breaks off" in result.error
    assert kiosk.titles == ["three", "two"]
    assert (kiosk.state.validators, kiosk.state.body_hash) == (Validators(), None)
    kiosk.wait_until_due()
    assert kiosk.result().counters == Counters(created=1, unchanged=2)
    assert site.asked[-1].validators == Validators()
    assert kiosk.state.validators == Validators(feed.etag, None)


def test_a_torn_document_does_not_replace_validators_of_a_whole_one(kiosk, feed, site):
    feed.publish("one")
    kiosk.result()
    whole_ones = kiosk.state.validators
    kiosk.wait_until_due()
    feed.publish("two", "three")
    feed.then(torn)
    kiosk.result()
    assert kiosk.state.validators == whole_ones
    kiosk.wait_until_due()
    assert kiosk.result().counters == Counters(unchanged=3)


def test_a_feed_that_is_never_well_formed_can_still_answer_304(kiosk, feed):
    feed.publish("one", "two & 3\x0b")
    feed.then(
        lambda f, p: f.response(
            p, 200, body=f.document.replace(b"&amp;", b"&"), headers=f.validators()
        )
    )
    result = kiosk.result()
    assert (result.status, result.counters) == (RunStatus.COMPLETED, Counters(created=2))
    assert result.error is not None
    assert kiosk.state.validators == Validators(feed.etag, None)
    kiosk.wait_until_due()
    assert kiosk.result().status is RunStatus.NOT_MODIFIED


# ── Everything that a server can answer ────────────────────────────────────────────────────────

COMPLETED, NOT_MODIFIED = RunStatus.COMPLETED, RunStatus.NOT_MODIFIED
DEFERRED, FAILED = RunStatus.DEFERRED, RunStatus.FAILED
RETRY, BACKOFF, FLOOR = ObjectionName.RETRY, ObjectionName.BACKOFF, ObjectionName.FLOOR

ANSWERS = {
    "200": (whole, COMPLETED, None, {}),
    "200 that says how long it is fresh": (
        by_way_of(302, {}, lambda f, p: f.response(p, 200, body=f.document, headers=HOURLY)),
        COMPLETED,
        None,
        {FLOOR: minutes(60)},
    ),
    "429 without a hint": (status(429), DEFERRED, "rate_limited", {RETRY: minutes(15)}),
    "429 with seconds": (
        status(429, {"Retry-After": "7200"}),
        DEFERRED,
        "rate_limited",
        {RETRY: minutes(120)},
    ),
    "429 with a date": (
        status(429, {"Retry-After": "Mon, 02 Jun 2025 14:00:00 GMT"}),
        DEFERRED,
        "rate_limited",
        {RETRY: minutes(120)},
    ),
    "503 with a hint": (
        status(503, {"Retry-After": "60"}),
        DEFERRED,
        "rate_limited",
        {RETRY: minutes(1)},
    ),
    "503 with a hint that means nothing": (
        status(503, {"Retry-After": "soon"}),
        DEFERRED,
        "rate_limited",
        {RETRY: minutes(15)},
    ),
    "503 without a hint": (status(503), FAILED, "http", {BACKOFF: minutes(10)}),
    "500": (status(500), FAILED, "http", {BACKOFF: minutes(10)}),
    "500 that asks for time": (
        status(500, {"Retry-After": "7200", "Cache-Control": "max-age=60"}),
        FAILED,
        "http",
        {BACKOFF: minutes(10), RETRY: minutes(120), FLOOR: minutes(1)},
    ),
    "404": (status(404), FAILED, "http", {BACKOFF: minutes(45)}),
    "401": (status(401), FAILED, "auth", {BACKOFF: minutes(60)}),
    "403": (status(403), FAILED, "blocked", {BACKOFF: minutes(60)}),
    "403 that asks for time": (
        status(403, {"Retry-After": "60"}),
        DEFERRED,
        "rate_limited",
        {RETRY: minutes(1)},
    ),
    "410": (status(410), FAILED, "gone", {BACKOFF: minutes(45)}),
    "a redirect that leads nowhere": (status(301), FAILED, "http", {BACKOFF: minutes(10)}),
    "a redirect that asks for time": (
        status(302, {"Retry-After": "60"}),
        DEFERRED,
        "rate_limited",
        {RETRY: minutes(1)},
    ),
    "304 that nobody asked for": (status(304), FAILED, "http", {BACKOFF: minutes(10)}),
    "a body that is too large": (
        unusable_body(ErrorCategory.TOO_LARGE, "more than 10 MB"),
        FAILED,
        "too_large",
        {BACKOFF: minutes(30)},
    ),
    "no answer in time": (
        no_answer(ErrorCategory.TIMEOUT, "no answer for 15 s"),
        FAILED,
        "timeout",
        {BACKOFF: minutes(2)},
    ),
    "no connection": (
        no_answer(ErrorCategory.NETWORK, "connection refused"),
        FAILED,
        "network",
        {BACKOFF: minutes(5)},
    ),
    "a certificate that is none": (
        no_answer(ErrorCategory.TLS, "certificate expired"),
        FAILED,
        "tls",
        {BACKOFF: minutes(10)},
    ),
    "an address that we do not go to": (
        no_answer(ErrorCategory.REFUSED, "a private address"),
        FAILED,
        "refused",
        {BACKOFF: minutes(10)},
    ),
}


@pytest.mark.parametrize(
    ("answer", "run_status", "category", "waits"), ANSWERS.values(), ids=ANSWERS
)
def test_what_a_first_poll_comes_to_when_the_answer_is(
    kiosk, feed, site, answer, run_status, category, waits
):
    feed.publish("one")
    feed.then(answer)
    result = kiosk.result()
    assert (result.status, result.error_category) == (run_status, category)
    assert len(site.asked) == 1
    run = kiosk.run
    assert (run.status, run.error_category) == (run_status.value, category)
    objections = dict(kiosk.objections)
    assert objections.pop(ObjectionName.CADENCE) > NOON
    assert objections == {name: NOON + wait for name, wait in waits.items()}
    state = kiosk.state
    succeeded = run_status is COMPLETED
    assert state.consecutive_failures == (run_status is FAILED)
    assert state.last_success_at == (NOON if succeeded else None)
    assert bool(state.last_error) == (run_status is FAILED)
    assert state.status is (PollStatus.GONE if category == "gone" else PollStatus.IDLE)
    assert (kiosk.grade is None) == (run_status is DEFERRED)
    assert kiosk.titles == (["one"] if succeeded else [])
    assert not kiosk.is_claimed
    latest = NEVER if category == "gone" else max(kiosk.objections.values())
    assert result.next_poll_at == kiosk.row["next_poll_at"] == latest
    assert result.binding is not None
    assert result.binding.until == max(kiosk.objections.values())


def test_a_limit_leaves_everything_else_as_it_was(kiosk, feed):
    feed.publish("one")
    feed.then(status(500))
    kiosk.result()
    before, objections = kiosk.state, kiosk.objections
    now = kiosk.wait_until_due()
    feed.then(status(429, {"Retry-After": "60", "ETag": '"limit"'}, body=feed.document))
    kiosk.result()
    after = kiosk.state
    assert kiosk.titles == []
    assert (after.validators, after.body_hash) == (before.validators, before.body_hash)
    assert after.consecutive_failures == before.consecutive_failures == 1
    assert after.last_error == before.last_error
    assert kiosk.objections[BACKOFF] == objections[BACKOFF]
    assert kiosk.objections[RETRY] == now + minutes(1)
    assert kiosk.grade is Grade.DECLINING


def test_a_success_never_lifts_what_a_server_asked_for(kiosk, feed):
    """A 200 that asks to wait means nothing by it; an earlier 503 did."""
    feed.then(status(503, {"Retry-After": "3600"}))
    kiosk.result()
    asked = kiosk.objections[RETRY]
    kiosk.wait_until_due()
    feed.publish("one")
    kiosk.result()
    assert kiosk.objections[RETRY] == asked


def test_three_failures_open_a_circuit_and_a_success_closes_it(kiosk, feed):
    feed.publish("one")
    timeout = no_answer(ErrorCategory.TIMEOUT, "no answer for 15 s")
    feed.then(timeout, timeout, timeout)
    for attempt in (1, 2):
        kiosk.result()
        assert kiosk.state.retry.attempt == attempt
        kiosk.wait_until_due()
    opened_at = kiosk.deps.clock.now()
    kiosk.result()
    assert kiosk.objections[ObjectionName.CIRCUIT] == opened_at + timedelta(hours=1)
    assert BACKOFF not in kiosk.objections
    assert kiosk.state.retry.circuit_opened_at == opened_at
    assert kiosk.state.consecutive_failures == 3
    assert kiosk.runs[0].decision is not None
    assert kiosk.runs[0].decision["before"]["retry_attempt"] == 2
    kiosk.wait_until_due()
    kiosk.result()
    assert kiosk.state.retry == RetryProgress()
    assert set(kiosk.objections) == {ObjectionName.CADENCE}


def test_a_redirect_s_wish_counts_as_much_as_the_answer_s(kiosk, feed):
    feed.publish("one")
    feed.then(by_way_of(307, {"Retry-After": "7200", "X-Poll-Interval": "5400"}))
    result = kiosk.result()
    assert result.status is COMPLETED
    assert kiosk.objections[RETRY] == NOON + minutes(120)
    assert kiosk.objections[FLOOR] == NOON + minutes(90)


def test_one_poll_touches_one_source(kiosk, feed, deps):
    add_sources(deps.database, 2)
    feed.publish("one")
    before = everything(deps, SourceRow, PollStateRow, HealthStateRow)
    kiosk.result()
    after = everything(deps, SourceRow, PollStateRow, HealthStateRow)
    assert [table[1:] for table in after] == [table[1:] for table in before]
    assert {run["source_id"] for run in rows(deps.database, PollRunRow)} == {kiosk.source.id}
    assert {item["source_id"] for item in rows(deps.database, ItemRow)} == {kiosk.source.id}
