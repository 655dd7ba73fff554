"""Due is what no objection speaks against; the first of the latest decides."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core.schedule import (
    FORCEABLE,
    SERVERS,
    Objection,
    ObjectionName,
    Schedule,
)
from tests.core.handmade import DAY, HOUR, MICROSECOND, MINUTE, NOW, objection

Name = ObjectionName

IN_TABLE_ORDER = (
    "cadence_due_at",
    "poll_floor_until",
    "retry_not_before_at",
    "backoff_until",
    "global_blocked_until",
    "poll_class_blocked_until",
    "host_blocked_until",
    "circuit_until",
    "auto_paused_until",
)

# Few instants, so that ties are common.
instants = st.sampled_from([NOW - HOUR, NOW - MICROSECOND, NOW, NOW + MICROSECOND, NOW + HOUR])
objections = st.builds(objection, st.sampled_from(Name), instants)
schedules = st.lists(objections, unique_by=lambda o: o.name).map(Schedule.of)


def test_the_nine_objections_stand_in_table_order():
    assert tuple(Name) == IN_TABLE_ORDER


def test_force_drops_the_cadence_and_nothing_else():
    assert {Name.CADENCE} == FORCEABLE


def test_a_server_makes_four_of_the_nine():
    assert {Name.FLOOR, Name.RETRY, Name.GLOBAL_BLOCK, Name.HOST_BLOCK} == SERVERS


def test_without_any_objection_a_source_is_due_at_any_time():
    schedule = Schedule()
    assert schedule.binding() is None
    assert schedule.due_at() is None
    assert schedule.is_due(datetime.min.replace(tzinfo=NOW.tzinfo))


DUE = {
    "1 µs before the objection it is not due": (NOW - MICROSECOND, False),
    "at the very instant it is due": (NOW, True),
    "1 µs after it is due": (NOW + MICROSECOND, True),
    "a year after it is due": (NOW + 365 * DAY, True),
}


@pytest.mark.parametrize("name", Name)
@pytest.mark.parametrize("now, expected", DUE.values(), ids=DUE)
def test_each_objection_alone_holds_until_its_instant(name, now, expected):
    schedule = Schedule.of([objection(name, NOW)])
    assert schedule.is_due(now) is expected
    assert schedule.due_at() == NOW


def test_force_ignores_the_cadence():
    schedule = Schedule.of([objection(Name.CADENCE, NOW + HOUR)])
    assert not schedule.is_due(NOW)
    assert schedule.is_due(NOW, force=True)
    assert schedule.binding(force=True) is None


@pytest.mark.parametrize("name", [name for name in Name if name not in FORCEABLE])
def test_force_obeys_every_other_objection(name):
    held = objection(name, NOW + MINUTE)
    schedule = Schedule.of([objection(Name.CADENCE, NOW + HOUR), held])
    assert not schedule.is_due(NOW, force=True)
    assert schedule.binding(force=True) == held


BINDING: dict[str, tuple[Sequence[tuple[Name, datetime]], Name]] = {
    "the latest binds": ([(Name.CADENCE, NOW), (Name.CIRCUIT, NOW + MINUTE)], Name.CIRCUIT),
    "the latest binds wherever it stands": (
        [(Name.FLOOR, NOW + MINUTE), (Name.PAUSE, NOW)],
        Name.FLOOR,
    ),
    "of two equal ones the first in the table binds": (
        [(Name.RETRY, NOW), (Name.FLOOR, NOW)],
        Name.FLOOR,
    ),
    "of nine equal ones the first in the table binds": (
        [(name, NOW) for name in reversed(Name)],
        Name.CADENCE,
    ),
    "an earlier one does not bind by its place": (
        [(Name.CADENCE, NOW - MICROSECOND), (Name.RETRY, NOW), (Name.PAUSE, NOW)],
        Name.RETRY,
    ),
}


@pytest.mark.parametrize("held, expected", BINDING.values(), ids=BINDING)
def test_binding(held, expected):
    binding = Schedule.of(objection(*each) for each in held).binding()
    assert binding is not None
    assert binding.name is expected


@pytest.mark.parametrize("name", Name)
def test_raising_takes_a_later_instant_with_its_reason(name):
    later = Objection(name, NOW + MICROSECOND, "a later wish")
    raised = Schedule.of([objection(name, NOW)]).raising(later)
    assert raised == Schedule((later,))


NOT_RAISED = {
    "an earlier instant": NOW - MICROSECOND,
    "the same instant, whose reason stands": NOW,
}


@pytest.mark.parametrize("until", NOT_RAISED.values(), ids=NOT_RAISED)
def test_raising_never_lowers(until):
    schedule = Schedule.of([objection(Name.RETRY, NOW)])
    assert schedule.raising(Objection(Name.RETRY, until, "another wish")) == schedule


def test_raising_sets_what_was_not_set():
    asked = objection(Name.FLOOR)
    assert Schedule().raising(asked).get(Name.FLOOR) == asked


def test_replacing_takes_an_earlier_instant_too():
    schedule = Schedule.of([objection(Name.CADENCE, NOW), objection(Name.FLOOR, NOW)])
    earlier = objection(Name.CADENCE, NOW - HOUR)
    assert schedule.replacing(earlier) == Schedule((earlier, objection(Name.FLOOR, NOW)))


@pytest.mark.parametrize("name", [name for name in Name if name not in SERVERS])
def test_our_own_objections_can_be_lifted(name):
    others = Schedule.of(objection(other) for other in Name if other is not name)
    assert Schedule.of(objection(each) for each in Name).without(name) == others


@pytest.mark.parametrize("name", SERVERS)
def test_a_servers_objection_cannot_be_lifted(name):
    with pytest.raises(ValueError, match=name):
        Schedule.of([objection(name)]).without(name)
    with pytest.raises(ValueError, match=name):
        Schedule().without(name)


def test_a_schedule_sorts_what_it_is_given_and_leaves_out_none():
    given_in = [objection(Name.PAUSE), None, objection(Name.CADENCE)]
    names = [o.name for o in Schedule.of(given_in).objections]
    assert names == [Name.CADENCE, Name.PAUSE]


IMPOSSIBLE = {
    "two of one name": (Name.FLOOR, Name.FLOOR),
    "out of order": (Name.RETRY, Name.FLOOR),
}


@pytest.mark.parametrize("names", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_schedule_holds_each_objection_once_and_in_order(names):
    with pytest.raises(ValueError, match="unique and in table order"):
        Schedule(tuple(objection(name) for name in names))


@given(schedule=schedules, now=instants, later=instants, force=st.booleans())
def test_a_later_now_never_makes_a_source_less_due(schedule, now, later, force):
    now, later = sorted([now, later])
    if schedule.is_due(now, force=force):
        assert schedule.is_due(later, force=force)


@given(schedule=schedules, now=instants)
def test_a_forced_poll_is_never_later_than_an_unforced_one(schedule, now):
    if schedule.is_due(now):
        assert schedule.is_due(now, force=True)


@given(schedule=schedules, added=objections, force=st.booleans())
def test_raising_an_objection_never_makes_a_source_due_earlier(schedule, added, force):
    before = schedule.due_at(force=force)
    after = schedule.raising(added).due_at(force=force)
    assert before is None or (after is not None and after >= before)


@given(schedule=schedules, force=st.booleans())
def test_exactly_one_objection_binds_whenever_one_is_heard(schedule, force):
    heard = [o for o in schedule.objections if not (force and o.name in FORCEABLE)]
    binding = schedule.binding(force=force)
    if not heard:
        assert binding is None
        return
    latest = max(o.until for o in heard)
    assert binding == next(o for o in heard if o.until == latest)
    assert schedule.due_at(force=force) == latest


@given(schedule=schedules, name=st.sampled_from(Name))
def test_get_and_until_tell_the_same(schedule, name):
    found = schedule.get(name)
    assert schedule.until(name) == (found.until if found else None)
    assert (found is None) == (name not in {o.name for o in schedule.objections})
