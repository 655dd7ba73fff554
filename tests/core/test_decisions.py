"""The cached next poll, and what a run remembers of its decision."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest

from sourcemon.core.decisions import EVER, decision_record, next_poll_at
from sourcemon.core.overviews import Explanation
from sourcemon.core.poll_state import PollState, PollStatus, RetryProgress
from sourcemon.core.replies import ErrorCategory, Validators
from sourcemon.core.schedule import NEVER, ObjectionName, Schedule
from tests.core.handmade import HOUR, MICROSECOND, NOW, objection

Name = ObjectionName
HELD = Schedule.of([objection(Name.CADENCE, NOW + HOUR), objection(Name.FLOOR, NOW)])

NEXT = {
    "the latest objection": (HELD, True, PollStatus.IDLE, NOW + HOUR),
    "nothing speaks against it": (Schedule(), True, PollStatus.IDLE, EVER),
    "switched off": (HELD, False, PollStatus.IDLE, NEVER),
    "an operator must act": (HELD, True, PollStatus.FAILED, NEVER),
    "gone": (HELD, True, PollStatus.GONE, NEVER),
    "switched off and nothing speaks against it": (Schedule(), False, PollStatus.IDLE, NEVER),
}


@pytest.mark.parametrize("schedule, enabled, status, expected", NEXT.values(), ids=NEXT)
def test_next_poll_at(schedule, enabled, status, expected):
    assert next_poll_at(schedule, enabled=enabled, status=status) == expected


def test_a_source_that_nothing_holds_comes_before_all_others():
    assert EVER < NOW < NEVER


BEFORE = PollState(
    schedule=HELD,
    validators=Validators('"1"', "yesterday"),
    body_hash="a" * 64,
    retry=RetryProgress(
        attempt=1, category=ErrorCategory.TIMEOUT, circuit_opened_at=NOW, reopens=2
    ),
    consecutive_failures=3,
    last_polled_at=NOW,
    last_success_at=NOW,
    last_error="HTTP 500",
)


def retried(**changes):
    return {"retry": replace(BEFORE.retry, **changes)}


CHANGED = {
    "status": ({"status": PollStatus.GONE}, {"status": "idle"}),
    "ETag": ({"validators": Validators('"2"', "yesterday")}, {"etag": '"1"'}),
    "Last-Modified": ({"validators": Validators('"1"')}, {"last_modified": "yesterday"}),
    "body hash": ({"body_hash": "b" * 64}, {"body_hash": "a" * 64}),
    "failures": ({"consecutive_failures": 4}, {"consecutive_failures": 3}),
    "last success": ({"last_success_at": NOW + HOUR}, {"last_success_at": NOW.isoformat()}),
    "last poll": ({"last_polled_at": NOW + HOUR}, {"last_polled_at": NOW.isoformat()}),
    "last error": ({"last_error": None}, {"last_error": "HTTP 500"}),
    "retry attempt": (retried(attempt=0), {"retry_attempt": 1}),
    "retry category": (retried(category=None), {"retry_category": "timeout"}),
    "circuit opened": (retried(circuit_opened_at=None), {"circuit_opened_at": NOW.isoformat()}),
    "reopens": (retried(reopens=0), {"reopens": 2}),
    "an objection moved": (
        {"schedule": HELD.raising(objection(Name.FLOOR, NOW + HOUR))},
        {"poll_floor_until": NOW.isoformat()},
    ),
    "an objection set": (
        {"schedule": HELD.raising(objection(Name.BACKOFF, NOW))},
        {"backoff_until": None},
    ),
    "an objection lifted": (
        {"schedule": HELD.without(Name.CADENCE)},
        {"cadence_due_at": (NOW + HOUR).isoformat()},
    ),
    "nothing": ({}, {}),
}


@pytest.mark.parametrize("change, expected", CHANGED.values(), ids=CHANGED)
def test_a_record_holds_the_earlier_value_of_what_changed_and_of_nothing_else(change, expected):
    record = decision_record(HELD, BEFORE, replace(BEFORE, **change))
    assert record["before"] == expected


def test_every_part_of_a_state_stands_in_the_table():
    assert {name for change, _ in CHANGED.values() for name in change} == {
        field.name for field in fields(PollState)
    }


def test_a_record_holds_every_objection_with_its_reason_and_the_binding_one():
    record = decision_record(HELD, BEFORE, BEFORE)
    assert record["binding"] == "cadence_due_at"
    assert record["objections"] == [
        {
            "name": "cadence_due_at",
            "until": "2026-01-10T13:00:00+00:00",
            "because": "because it is so",
        },
        {
            "name": "poll_floor_until",
            "until": "2026-01-10T12:00:00+00:00",
            "because": "because it is so",
        },
    ]


def test_a_record_of_no_objections_binds_nothing():
    record = decision_record(Schedule(), PollState(), PollState())
    assert record == {"objections": [], "binding": None, "before": {}}


def test_a_record_is_json():
    record = decision_record(HELD, BEFORE, PollState())
    assert json.loads(json.dumps(record, allow_nan=False)) == record


DUE = {
    "no objection": (None, True),
    "the very instant": (objection(Name.FLOOR, NOW), True),
    "1 µs before": (objection(Name.FLOOR, NOW + MICROSECOND), False),
}


@pytest.mark.parametrize("binding, expected", DUE.values(), ids=DUE)
def test_an_explanation_says_due_as_the_schedule_does(binding, expected):
    explanation = Explanation(
        overview=None,  # type: ignore[arg-type]  # not looked at
        schedule=Schedule.of([binding]),
        now=NOW,
        binding=binding,
        binding_forced=binding,
        last_runs=(),
    )
    assert explanation.is_due is expected
    assert explanation.is_due is explanation.schedule.is_due(NOW)
