"""No poll of any outcome lowers or lifts what a server asked for; only time passes it."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core.cadence import CadencePolicy
from sourcemon.core.changes import Counters
from sourcemon.core.entries import Page, Unreadability, Unreadable
from sourcemon.core.paging import (
    StopReason,
    Walk,
    after_fault,
    after_page,
    after_reply,
    after_unreadable,
    asking,
)
from sourcemon.core.poll_state import PollState
from sourcemon.core.rate_limit import objections_of
from sourcemon.core.replies import ErrorCategory, Failure, Reply, Validators
from sourcemon.core.schedule import ObjectionName
from sourcemon.core.verdict import decide
from tests.core.handmade import HOUR, NOW, hop, no_response, plan, response, source

FLOOR, RETRY = ObjectionName.FLOOR, ObjectionName.RETRY

wishes = st.lists(
    st.sampled_from(
        [
            ("Retry-After", "0"),
            ("Retry-After", "30"),
            ("Retry-After", "86400"),
            ("Retry-After", "99999999"),
            ("Retry-After", "Mon, 12 Jan 2026 12:00:00 GMT"),
            ("X-Poll-Interval", "0"),
            ("X-Poll-Interval", "60"),
            ("X-Poll-Interval", "604800"),
            ("Cache-Control", "max-age=300"),
            ("Cache-Control", "max-age=31536000"),
            ("Cache-Control", "no-cache"),
            ("Expires", "Sun, 11 Jan 2026 12:00:00 GMT"),
            ("Expires", "0"),
            ("ETag", '"1"'),
        ]
    ),
    max_size=4,
)
statuses = st.sampled_from([200, 200, 200, 301, 304, 304, 401, 403, 404, 410, 429, 500, 503])
failures = st.none() | st.just(Failure(ErrorCategory.TOO_LARGE, "more than 10 MB"))
endings = st.sampled_from(["whole", "torn", "incomplete", "unreadable", "fault", "stopped"])


@st.composite
def steps(draw):
    """One poll: its reply, how its page ends, whether it is forced, and the time since the last."""
    hops = tuple(hop(302, draw(wishes)) for _ in range(draw(st.integers(0, 2))))
    reply: Reply = response(draw(statuses), draw(wishes), hops=hops, body_failure=draw(failures))
    if draw(st.integers(0, 3)) == 0:
        reply = no_response(draw(st.sampled_from(ErrorCategory)), hops=hops)
    elapsed = draw(st.timedeltas(timedelta(0), timedelta(days=2)))
    return reply, draw(endings), draw(st.booleans()), elapsed


def ended(walk: Walk, ending: str) -> Walk:
    """The walk once its page, if one waits, came to ``ending``."""
    if ending == "fault":
        return after_fault(walk, "KeyError")
    if ending == "stopped":
        return after_fault(walk, "stopped", stop_reason=StopReason.INTERRUPTED)
    if walk.is_over:
        return walk
    if ending == "unreadable":
        return after_unreadable(walk, Unreadable(Unreadability.NOT_A_FEED, "HTML"))
    page = Page(entries=(), is_whole=ending != "torn", degraded="as it came")
    return after_page(walk, page, Counters(failed=int(ending == "incomplete")))


def polled(state: PollState, reply, ending: str, *, forced: bool, now, roll: float) -> PollState:
    held = Validators() if forced else state.validators
    known = None if forced else state.body_hash
    walk = asking(Walk(plan=plan(held)))
    walk = ended(after_reply(walk, reply, held=held, known_body_hash=known), ending)
    verdict = decide(
        walk,
        state,
        source(interval=HOUR),
        CadencePolicy(),
        started_at=now,
        now=now,
        roll=roll,
    )
    return verdict.state


@given(st.lists(steps(), min_size=1, max_size=12), st.floats(0, 1, exclude_max=True))
def test_only_time_lowers_a_servers_objection(walk_of_polls, roll):
    state, now = PollState(), NOW
    for reply, ending, forced, elapsed in walk_of_polls:
        now += elapsed
        after = polled(state, reply, ending, forced=forced, now=now, roll=roll)
        for name in (FLOOR, RETRY):
            before = state.schedule.until(name)
            if before is not None:
                until = after.schedule.until(name)
                assert until is not None
                assert until >= before
        state = after


@given(steps(), st.floats(0, 1, exclude_max=True))
def test_what_a_reply_asks_is_held_whatever_becomes_of_its_poll(step, roll):
    reply, ending, forced, _ = step
    after = polled(PollState(), reply, ending, forced=forced, now=NOW, roll=roll)
    for asked in objections_of(reply):
        assert after.schedule.get(asked.name) == asked


@given(st.lists(steps(), min_size=1, max_size=12), st.floats(0, 1, exclude_max=True))
def test_after_any_polls_the_next_one_lies_ahead_forced_or_not(walk_of_polls, roll):
    state, now = PollState(), NOW
    for reply, ending, forced, elapsed in walk_of_polls:
        now += elapsed
        state = polled(state, reply, ending, forced=forced, now=now, roll=roll)
        due_at = state.schedule.due_at()
        assert due_at is not None
        assert due_at >= now + HOUR
        forced_at = state.schedule.due_at(force=True)
        assert forced_at is None or forced_at <= due_at
