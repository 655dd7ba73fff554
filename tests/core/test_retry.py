"""The one ladder of a feed: retries of its category, then the circuit, then a longer one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core import retry
from sourcemon.core.poll_state import RetryProgress
from sourcemon.core.replies import ErrorCategory
from sourcemon.core.schedule import ObjectionName
from tests.core.handmade import DAY, HOUR, MINUTE, NOW

Category = ErrorCategory

# category, HTTP status, retries, wait between them, circuit after them
LADDER = {
    "timeout": (Category.TIMEOUT, None, 2, 2 * MINUTE, HOUR),
    "network": (Category.NETWORK, None, 3, 5 * MINUTE, HOUR),
    "500": (Category.HTTP, 500, 2, 10 * MINUTE, 90 * MINUTE),
    "503": (Category.HTTP, 503, 2, 10 * MINUTE, 90 * MINUTE),
    "599": (Category.HTTP, 599, 2, 10 * MINUTE, 90 * MINUTE),
    "400": (Category.HTTP, 400, 1, 45 * MINUTE, 2 * HOUR),
    "404": (Category.HTTP, 404, 1, 45 * MINUTE, 2 * HOUR),
    "499": (Category.HTTP, 499, 1, 45 * MINUTE, 2 * HOUR),
    "gone": (Category.GONE, 410, 1, 45 * MINUTE, 2 * HOUR),
    "not a feed": (Category.PARSE, 200, 1, 30 * MINUTE, 2 * HOUR),
    "too large": (Category.TOO_LARGE, 200, 1, 30 * MINUTE, 2 * HOUR),
    "blocked": (Category.BLOCKED, 403, 1, HOUR, 4 * HOUR),
    "credentials wanted": (Category.AUTH, 401, 1, HOUR, 4 * HOUR),
    "anything else: TLS": (Category.TLS, None, 2, 10 * MINUTE, 90 * MINUTE),
    "anything else: refused by us": (Category.REFUSED, None, 2, 10 * MINUTE, 90 * MINUTE),
    "anything else: a redirect to nowhere": (Category.HTTP, 302, 2, 10 * MINUTE, 90 * MINUTE),
    "anything else: unexpected 304": (Category.HTTP, 304, 2, 10 * MINUTE, 90 * MINUTE),
    "anything else: no status": (Category.HTTP, None, 2, 10 * MINUTE, 90 * MINUTE),
}


def after(category, progress=RetryProgress(), *, status=None, now=NOW):
    return retry.decide(category, progress, http_status=status, now=now)


@pytest.mark.parametrize("category, status, retries, wait, circuit", LADDER.values(), ids=LADDER)
def test_every_row_of_the_ladder(category, status, retries, wait, circuit):
    progress = RetryProgress()
    for attempt in range(1, retries + 1):
        decision = after(category, progress, status=status)
        assert decision.circuit is None
        assert decision.backoff is not None
        assert decision.backoff.name is ObjectionName.BACKOFF
        assert decision.backoff.until == NOW + wait
        progress = decision.progress
        assert progress == RetryProgress(attempt=attempt, category=category)
    opened = after(category, progress, status=status)
    assert opened.backoff is None
    assert opened.circuit is not None
    assert opened.circuit.name is ObjectionName.CIRCUIT
    assert opened.circuit.until == NOW + circuit
    assert opened.progress == RetryProgress(category=category, circuit_opened_at=NOW)


def test_every_category_has_a_row_here():
    others = {Category.INTERNAL, Category.RATE_LIMITED}
    assert {row[0] for row in LADDER.values()} == set(Category) - others


def test_the_counter_restarts_when_the_category_changes():
    progress = RetryProgress(attempt=2, category=Category.TIMEOUT)
    decision = after(Category.NETWORK, progress)
    assert decision.backoff is not None
    assert decision.progress == RetryProgress(attempt=1, category=Category.NETWORK)


def test_a_restarted_counter_is_counted_up_again():
    progress = RetryProgress()
    for category in [Category.TIMEOUT, Category.NETWORK] * 10:
        decision = after(category, progress)
        assert decision.circuit is None
        progress = decision.progress
    assert progress.attempt == 1


OPEN = RetryProgress(category=Category.TIMEOUT, circuit_opened_at=NOW - HOUR)


@pytest.mark.parametrize("category", set(Category) - {Category.INTERNAL, Category.RATE_LIMITED})
def test_half_open_the_next_failure_of_any_category_reopens_at_once(category):
    decision = after(category, OPEN)
    assert decision.backoff is None
    assert decision.circuit is not None
    assert decision.progress == RetryProgress(category=category, circuit_opened_at=NOW, reopens=1)


# The progress before a limit, the length of the circuit it opens, and the progress after.
BEFORE_LIMITS = {
    "the first": (
        RetryProgress(),
        None,
        RetryProgress(attempt=1, category=Category.RATE_LIMITED),
    ),
    "the second": (
        RetryProgress(attempt=1, category=Category.RATE_LIMITED),
        None,
        RetryProgress(attempt=2, category=Category.RATE_LIMITED),
    ),
    "the third": (
        RetryProgress(attempt=2, category=Category.RATE_LIMITED),
        90 * MINUTE,
        RetryProgress(category=Category.RATE_LIMITED, circuit_opened_at=NOW),
    ),
    "the first after two failures": (
        RetryProgress(attempt=2, category=Category.TIMEOUT),
        None,
        RetryProgress(attempt=1, category=Category.RATE_LIMITED),
    ),
    "the first while half-open": (
        OPEN,
        None,
        replace(OPEN, attempt=1, category=Category.RATE_LIMITED),
    ),
    "the third while half-open": (
        replace(OPEN, attempt=2, category=Category.RATE_LIMITED),
        3 * HOUR,
        RetryProgress(category=Category.RATE_LIMITED, circuit_opened_at=NOW, reopens=1),
    ),
}


@pytest.mark.parametrize("before, rest, progress", BEFORE_LIMITS.values(), ids=BEFORE_LIMITS)
def test_limits_are_neutral_until_the_third_in_a_row(before, rest, progress):
    decision = retry.decide_limit(before, now=NOW)
    assert decision.backoff is None
    assert (decision.circuit.until - NOW if decision.circuit else None) == rest
    assert decision.progress == progress


REOPENED = {
    "opened for the first time": (None, HOUR),
    "reopened once": (0, 2 * HOUR),
    "reopened twice": (1, 4 * HOUR),
    "reopened three times": (2, 8 * HOUR),
    "reopened four times": (3, 16 * HOUR),
    "reopened five times: a day is the limit": (4, DAY),
    "reopened six times": (5, DAY),
    "reopened ten thousand times": (10_000, DAY),
}


@pytest.mark.parametrize("reopens, rest", REOPENED.values(), ids=REOPENED)
def test_each_reopening_doubles_the_circuit_up_to_a_day(reopens, rest):
    progress = (
        RetryProgress(attempt=2, category=Category.TIMEOUT)
        if reopens is None
        else RetryProgress(category=Category.TIMEOUT, circuit_opened_at=NOW, reopens=reopens)
    )
    decision = after(Category.TIMEOUT, progress)
    assert decision.circuit is not None
    assert decision.circuit.until == NOW + rest
    assert decision.progress.reopens == (0 if reopens is None else reopens + 1)


def test_the_ten_thousandth_attempt_does_not_overflow():
    decision = after(Category.NETWORK, RetryProgress(attempt=9_999, category=Category.NETWORK))
    assert decision.circuit is not None
    assert decision.circuit.until == NOW + HOUR


def test_ten_thousand_failures_in_a_row_do_not_overflow():
    progress = RetryProgress()
    for _ in range(10_000):
        progress = after(Category.BLOCKED, progress).progress
    last = after(Category.BLOCKED, progress)
    assert last.circuit is not None
    assert last.circuit.until == NOW + DAY


MOVED_NOTHING = {
    "at rest": RetryProgress(),
    "on the ladder": RetryProgress(attempt=2, category=Category.TIMEOUT),
    "half-open": RetryProgress(category=Category.HTTP, circuit_opened_at=NOW, reopens=3),
}


@pytest.mark.parametrize("progress", MOVED_NOTHING.values(), ids=MOVED_NOTHING)
def test_a_fault_of_ours_waits_ten_minutes_and_moves_nothing(progress):
    decision = after(Category.INTERNAL, progress)
    assert decision.backoff is not None
    assert decision.backoff.until == NOW + 10 * MINUTE
    assert decision.circuit is None
    assert decision.progress == progress


WORDS = {
    "a retry counts itself": (RetryProgress(), "retry 1 of 2"),
    "a circuit names its length": (
        RetryProgress(attempt=2, category=Category.TIMEOUT),
        "circuit open after repeated timeout failures: 1 h",
    ),
}


@pytest.mark.parametrize("progress, words", WORDS.values(), ids=WORDS)
def test_the_reason_can_be_read(progress, words):
    decision = after(Category.TIMEOUT, progress)
    held = decision.backoff or decision.circuit
    assert held is not None
    assert words in held.because


@given(
    category=st.sampled_from(Category),
    status=st.none() | st.integers(100, 599),
    progress=st.builds(
        RetryProgress,
        attempt=st.integers(0, 10**6),
        category=st.none() | st.sampled_from(Category),
        circuit_opened_at=st.none() | st.just(NOW - HOUR),
        reopens=st.integers(0, 10**6),
    ),
)
def test_a_failure_leads_to_a_back_off_or_a_circuit_never_both(category, status, progress):
    decision = after(category, progress, status=status)
    assert (decision.backoff is None) is (decision.circuit is not None)
    held = decision.backoff or decision.circuit
    assert held is not None
    assert timedelta(0) < held.until - NOW <= DAY
