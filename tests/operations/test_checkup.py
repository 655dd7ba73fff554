"""How an installation stands, as `sourcemon doctor` is told of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sourcemon.core.checkup import State
from sourcemon.errors import DatabaseUnavailable
from sourcemon.operations import dispatch, register
from sourcemon.operations.checkup import examine
from sourcemon.operations.poll import poll
from tests.operations.watched import watch
from tests.store.stored import NOON, TICK, minutes, out_of_order

OK, WARNING, PROBLEM = State.OK, State.WARNING, State.PROBLEM


def states(deps) -> dict[str, State]:
    return {finding.subject: finding.state for finding in examine(deps)}


def schedule(deps):
    return examine(deps)[-1]


def test_a_new_installation_is_well(deps):
    assert states(deps) == {"database": OK, "contact": OK, "clock": OK, "schedule": OK}
    assert [finding.fix for finding in examine(deps)] == [None] * 4


def test_without_a_contact_it_is_well_only_as_long_as_nobody_else_is_asked(deps):
    nobody = replace(deps, policies=replace(deps.policies, contact=None))
    watch(nobody, "http://127.0.0.1:8000/feed")
    assert states(nobody)["contact"] is WARNING
    watch(deps, "https://kiosk.test/feed")
    assert states(nobody)["contact"] is PROBLEM


def test_sources_that_are_due_for_five_minutes_are_a_problem(kiosk, deps, clock):
    clock.jump_to(NOON + minutes(5))
    assert (schedule(deps).state, schedule(deps).message) == (OK, "1 due now")
    clock.advance(TICK)
    assert schedule(deps).state is PROBLEM
    assert "poll-due" in (schedule(deps).fix or "")


def test_a_source_that_is_being_polled_is_not_waiting(kiosk, deps, clock):
    clock.jump_to(NOON + minutes(6))
    dispatch.claim_due(deps, limit=1)
    assert (schedule(deps).state, schedule(deps).message) == (OK, "nothing is overdue")
    clock.advance(minutes(5))
    assert schedule(deps).state is PROBLEM


def test_a_source_that_was_polled_or_is_switched_off_is_not_waiting(deps, site, clock):
    polled, off = watch(deps, "https://kiosk.test/1"), watch(deps, "https://kiosk.test/2")
    register.disable(deps, off.source.id)
    poll(deps, polled.source.id)
    clock.jump_to(NOON + minutes(6))
    assert schedule(deps).message == "nothing is overdue"


def test_of_a_database_that_fails_nothing_else_can_be_said(deps):
    with out_of_order(deps.database, "SELECT"), pytest.raises(DatabaseUnavailable):
        examine(deps)
