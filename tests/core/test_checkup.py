"""What a look at the installation says of contact, clock and schedule."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sourcemon.core.checkup import TOLERATED_LAG, TOLERATED_SKEW, State, clock, contact, schedule
from tests.core.handmade import HOUR, MICROSECOND, NOW

CONTACT = {
    "somebody": ("mailto:ops@gazette.test", 3, State.OK),
    "nobody, and a source that leaves this machine": (None, 1, State.PROBLEM),
    "nobody, and nobody is asked yet": (None, 0, State.WARNING),
}


@pytest.mark.parametrize("who, public_sources, state", CONTACT.values(), ids=CONTACT)
def test_contact(who, public_sources, state):
    found = contact(who, public_sources)
    assert (found.subject, found.state) == ("contact", state)
    assert (found.fix is None) is (state is State.OK)


CLOCKS = {
    "the same": (timedelta(0), State.OK),
    "ahead as far as is tolerated": (TOLERATED_SKEW, State.OK),
    "behind as far as is tolerated": (-TOLERATED_SKEW, State.OK),
    "further ahead": (TOLERATED_SKEW + MICROSECOND, State.PROBLEM),
    "further behind": (-TOLERATED_SKEW - MICROSECOND, State.PROBLEM),
}


@pytest.mark.parametrize("skew, state", CLOCKS.values(), ids=CLOCKS)
def test_clock(skew, state):
    found = clock(NOW + skew, NOW)
    assert (found.subject, found.state) == ("clock", state)
    assert (found.fix is None) is (state is State.OK)


def test_a_skew_is_told():
    assert "1 h apart" in clock(NOW, NOW + HOUR).message


SCHEDULES = {
    "nothing due": (0, timedelta(0), State.OK, "nothing is overdue"),
    "some due": (3, TOLERATED_LAG, State.OK, "3 due now"),
    "some due for too long": (
        3,
        TOLERATED_LAG + MICROSECOND,
        State.PROBLEM,
        "3 sources are due, the first for 5 min",
    ),
}


@pytest.mark.parametrize("overdue, longest, state, message", SCHEDULES.values(), ids=SCHEDULES)
def test_schedule(overdue, longest, state, message):
    found = schedule(overdue, longest)
    assert (found.subject, found.state, found.message) == ("schedule", state, message)
    assert (found.fix is None) is (state is State.OK)


ONE = {
    "one source without a contact": contact(None, 1),
    "one source that is due": schedule(1, HOUR),
}


@pytest.mark.parametrize("found", ONE.values(), ids=ONE)
def test_one_source_is_not_told_as_many(found):
    assert "1 sources" not in found.message
