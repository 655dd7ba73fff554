"""The walk: what each reply and each page make of it, and what is held after it."""

from __future__ import annotations

import hashlib

import pytest

from sourcemon.core.changes import Counters
from sourcemon.core.entries import Page, Unreadability, Unreadable
from sourcemon.core.paging import (
    Outcome,
    StopReason,
    Walk,
    after_fault,
    after_page,
    after_reply,
    after_unreadable,
    asking,
    hash_of,
)
from sourcemon.core.replies import ErrorCategory, Failure, Validators
from sourcemon.core.schedule import ObjectionName
from tests.core.handmade import MINUTE, NOW, hop, no_response, plan, response

HELD = Validators('"held"', "Thu, 01 Jan 2026 00:00:00 GMT")
FRESH = [("ETag", 'W/"fresh"'), ("Last-Modified", "Fri, 09 Jan 2026 00:00:00 GMT")]
BODY = b"<rss>one</rss>"
PAGE = Page(entries=())
TORN = Page(entries=(), is_whole=False, degraded="torn after 3 entries")
SLOPPY = Page(entries=(), degraded="not well-formed in line 7")


def walked(reply, *, held=HELD, known=None) -> Walk:
    """The walk after one reply to a request that carried ``held``."""
    return after_reply(asking(Walk(plan=plan(held))), reply, held=held, known_body_hash=known)


def waiting(**given_in) -> Walk:
    """A walk whose page waits to be persisted."""
    return walked(response(200, FRESH, body=BODY), **given_in)


def test_asking_counts_the_request_before_it_is_sent():
    walk = Walk(plan=plan())
    assert (walk.requests, walk.is_over, walk.outcome) == (0, False, None)
    assert asking(walk) == Walk(plan=plan(), requests=1)


def test_redirects_count_as_requests():
    reply = response(200, hops=(hop(301), hop(302)))
    assert walked(reply).requests == 3
    assert walked(no_response(hops=(hop(301),))).requests == 2


def test_a_page_waits_to_be_persisted_before_anything_is_decided():
    walk = waiting()
    assert walk.page is not None
    assert walk.page.body == BODY
    assert (walk.plan, walk.is_over, walk.outcome) == (None, False, None)
    assert (walk.pages_fetched, walk.http_status, walk.bytes_received) == (1, 200, len(BODY))
    assert (walk.validators, walk.body_hash) == (None, None)


@pytest.mark.parametrize("category", [ErrorCategory.TIMEOUT, ErrorCategory.TLS])
def test_no_response_ends_the_walk_with_its_failure(category):
    reply = no_response(category)
    walk = walked(reply)
    assert (walk.outcome, walk.failure, walk.is_over) == (Outcome.FAILED, reply.failure, True)
    assert (walk.http_status, walk.pages_fetched, walk.validators) == (None, 0, None)


REFUSALS = {
    "a choice": (300, ErrorCategory.HTTP),
    "a redirect to nowhere": (302, ErrorCategory.HTTP),
    "bad request": (400, ErrorCategory.HTTP),
    "credentials wanted": (401, ErrorCategory.AUTH),
    "proxy credentials wanted": (407, ErrorCategory.AUTH),
    "forbidden": (403, ErrorCategory.BLOCKED),
    "not found": (404, ErrorCategory.HTTP),
    "request timeout": (408, ErrorCategory.HTTP),
    "gone": (410, ErrorCategory.GONE),
    "misdirected": (421, ErrorCategory.HTTP),
    "not processable": (422, ErrorCategory.HTTP),
    "too early": (425, ErrorCategory.HTTP),
    "legal reasons": (451, ErrorCategory.HTTP),
    "server error": (500, ErrorCategory.HTTP),
    "unavailable without a hint": (503, ErrorCategory.HTTP),
    "below 200": (101, ErrorCategory.HTTP),
    "beyond all classes": (999, ErrorCategory.HTTP),
}


@pytest.mark.parametrize("status, category", REFUSALS.values(), ids=REFUSALS)
def test_a_status_that_is_no_success_fails_the_walk(status, category):
    walk = walked(response(status, FRESH))
    assert walk.failure is not None
    assert (walk.outcome, walk.failure.category) == (Outcome.FAILED, category)
    assert str(status) in walk.failure.message
    assert walk.http_status == status
    assert (walk.is_over, walk.pages_fetched, walk.validators) == (True, 0, None)


WORDS = {
    "the first of 3xx": (300, "redirect"),
    "the last of 3xx": (399, "redirect"),
    "the first of 4xx": (400, "HTTP 400"),
}


@pytest.mark.parametrize("status, words", WORDS.values(), ids=WORDS)
def test_a_redirect_to_nowhere_is_told_as_one(status, words):
    walk = walked(response(status))
    assert walk.failure is not None
    assert words in walk.failure.message
    assert ("redirect" in walk.failure.message) is (words == "redirect")


LIMITS = {
    "429": response(429, FRESH),
    "503 with Retry-After": response(503, [*FRESH, ("Retry-After", "60")]),
    "403 with Retry-After": response(403, [*FRESH, ("Retry-After", "60")]),
    "a redirect that says later": response(302, [*FRESH, ("Retry-After", "60")]),
}


@pytest.mark.parametrize("reply", LIMITS.values(), ids=LIMITS)
def test_a_limit_ends_the_walk_and_leaves_an_instant(reply):
    walk = walked(reply)
    assert walk.failure is not None
    assert (walk.outcome, walk.failure.category) == (Outcome.LIMITED, ErrorCategory.RATE_LIMITED)
    assert [o.name for o in walk.objections] == [ObjectionName.RETRY]
    assert (walk.is_over, walk.validators) == (True, None)


NOT_MODIFIED = {
    "both replaced": (HELD, FRESH, Validators(*(value for _, value in FRESH))),
    "the ETag replaced": (HELD, FRESH[:1], Validators(FRESH[0][1], HELD.last_modified)),
    "the date replaced": (HELD, FRESH[1:], Validators(HELD.etag, FRESH[1][1])),
    "none sent: ours stand": (HELD, [], HELD),
    "one we had not": (Validators('"a"'), FRESH[1:], Validators('"a"', FRESH[1][1])),
    "an empty ETag is one": (HELD, [("ETag", "")], Validators("", HELD.last_modified)),
}


@pytest.mark.parametrize("held, fields, expected", NOT_MODIFIED.values(), ids=NOT_MODIFIED)
def test_a_304_replaces_the_validators_it_carries(held, fields, expected):
    walk = walked(response(304, fields), held=held)
    assert (walk.outcome, walk.validators) == (Outcome.NOT_MODIFIED, expected)
    assert (walk.is_over, walk.pages_fetched, walk.body_hash) == (True, 0, None)


def test_a_304_that_was_not_asked_for_is_a_failure_and_validators_are_dropped():
    walk = walked(response(304, FRESH), held=Validators())
    assert walk.failure is not None
    assert (walk.outcome, walk.validators) == (Outcome.FAILED, Validators())
    assert "unexpected_304" in walk.failure.message


def test_a_304_keeps_what_it_asks_of_us():
    walk = walked(response(304, [("Cache-Control", "max-age=60"), ("Retry-After", "120")]))
    assert walk.outcome is Outcome.NOT_MODIFIED
    assert {o.name: o.until for o in walk.objections} == {
        ObjectionName.FLOOR: NOW + MINUTE,
        ObjectionName.RETRY: NOW + 2 * MINUTE,
    }


def test_the_bytes_that_were_stored_whole_are_not_read_again():
    walk = waiting(known=hash_of(BODY))
    assert (walk.outcome, walk.stop_reason) == (Outcome.COMPLETED, StopReason.UNCHANGED_BODY)
    assert (walk.page, walk.is_over, walk.pages_fetched) == (None, True, 1)
    assert walk.counters.entries_seen == 0
    assert walk.validators == Validators(*(value for _, value in FRESH))


def test_other_bytes_are_read():
    assert waiting(known=hash_of(BODY + b"\n")).page is not None


def test_a_forced_poll_reads_the_same_bytes_again():
    assert waiting(held=Validators(), known=None).page is not None


def test_a_body_is_known_by_its_sha256():
    assert hash_of(BODY) == hashlib.sha256(BODY).hexdigest()


@pytest.mark.parametrize("category", [ErrorCategory.TOO_LARGE, ErrorCategory.PARSE])
def test_an_unusable_body_fails_the_walk_and_leaves_no_validators(category):
    failure = Failure(category, "the body is torn")
    walk = walked(response(200, FRESH, body_failure=failure))
    assert (walk.outcome, walk.failure, walk.is_over) == (Outcome.FAILED, failure, True)
    assert (walk.validators, walk.body_hash, walk.page) == (None, None, None)


def test_the_status_says_more_than_an_unusable_body():
    failure = Failure(ErrorCategory.TOO_LARGE, "the body is too large")
    walk = walked(response(404, body_failure=failure))
    assert walk.failure is not None
    assert walk.failure.category is ErrorCategory.HTTP


def test_a_page_stored_whole_leaves_its_validators_and_its_hash():
    counters = Counters(created=2, unchanged=1)
    walk = after_page(waiting(), PAGE, counters)
    assert (walk.outcome, walk.stop_reason) == (Outcome.COMPLETED, StopReason.NO_NEXT_LINK)
    assert walk.validators == Validators(*(value for _, value in FRESH))
    assert (walk.body_hash, walk.counters) == (hash_of(BODY), counters)
    assert (walk.is_over, walk.failure, walk.degraded) == (True, None, None)


BYTE_FOR_BYTE = {
    "weak": 'W/"1"',
    "without quotes": "abc",
    "blanks, quotes and bytes beyond ASCII": ' "a b\xe9" ',
    "a list": '"a", "b"',
}


@pytest.mark.parametrize("etag", BYTE_FOR_BYTE.values(), ids=BYTE_FOR_BYTE)
def test_validators_are_opaque(etag):
    walk = walked(response(200, [("ETag", etag), ("Last-Modified", "yesterday")]))
    assert after_page(walk, PAGE, Counters()).validators == Validators(etag, "yesterday")


def test_a_server_that_gives_no_validators_any_more_leaves_none():
    walk = after_page(walked(response(200)), PAGE, Counters())
    assert walk.validators == Validators()
    assert not walk.validators


NOT_WHOLE = {
    "a torn document": (TORN, Counters(created=3)),
    "a document that we cut off": (Page(entries=(), is_whole=False), Counters(created=3)),
    "an entry that could not be stored": (PAGE, Counters(created=3, failed=1)),
}


@pytest.mark.parametrize("page, counters", NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_a_page_not_stored_whole_must_be_seen_again(page, counters):
    walk = after_page(waiting(), page, counters)
    assert (walk.outcome, walk.counters) == (Outcome.COMPLETED, counters)
    assert (walk.validators, walk.body_hash) == (None, None)
    assert walk.degraded == page.degraded


def test_a_whole_document_of_sloppy_markup_may_answer_304_next_time():
    walk = after_page(waiting(), SLOPPY, Counters(created=3))
    assert walk.validators == Validators(*(value for _, value in FRESH))
    assert (walk.body_hash, walk.degraded) == (hash_of(BODY), "not well-formed in line 7")


def test_there_must_be_a_page_to_have_persisted():
    with pytest.raises(ValueError, match="no page was waiting"):
        after_page(Walk(plan=plan()), PAGE, Counters())


@pytest.mark.parametrize("reason", Unreadability)
def test_a_body_that_is_no_page_fails_the_walk(reason):
    walk = after_unreadable(waiting(), Unreadable(reason, "it looks like HTML"))
    assert walk.failure == Failure(ErrorCategory.PARSE, f"{reason.value}: it looks like HTML")
    assert (walk.outcome, walk.is_over) == (Outcome.FAILED, True)
    assert (walk.validators, walk.body_hash) == (None, None)


FAULTS = {
    "before the reply": asking(Walk(plan=plan())),
    "with a page waiting": waiting(),
    "after the page was persisted": after_page(waiting(), PAGE, Counters(created=1)),
    "after an unexpected 304": walked(response(304), held=Validators()),
}


@pytest.mark.parametrize("walk", FAULTS.values(), ids=FAULTS)
def test_a_fault_of_ours_ends_the_walk_and_keeps_what_is_known(walk):
    ended = after_fault(walk, "KeyError", stop_reason=StopReason.INTERRUPTED)
    assert ended.failure == Failure(ErrorCategory.INTERNAL, "KeyError")
    assert (ended.outcome, ended.is_over) == (Outcome.FAULT, True)
    assert ended.stop_reason is StopReason.INTERRUPTED
    assert (ended.validators, ended.body_hash) == (None, None)
    assert (ended.requests, ended.counters) == (walk.requests, walk.counters)
    assert (ended.objections, ended.http_status) == (walk.objections, walk.http_status)


HINTED = {
    "a floor": ([("X-Poll-Interval", "60")], True),
    "freshness": ([("Cache-Control", "max-age=60")], True),
    "only an instant to come back": ([("Retry-After", "60")], False),
    "nothing": ([], False),
}


@pytest.mark.parametrize("fields, expected", HINTED.values(), ids=HINTED)
def test_hinted(fields, expected):
    assert walked(response(404, fields)).hinted is expected
