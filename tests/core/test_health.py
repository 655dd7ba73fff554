"""The grade: each rule at both sides of its thresholds, and which rule speaks first."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core import health
from sourcemon.core.health import Grade, HealthPolicy, Window, grade

POLICY = HealthPolicy()


def window(text: str) -> Window:
    """A window from a picture, newest first: ``+`` a success, ``-`` a failure."""
    return Window(tuple(mark == "+" for mark in text))


FAILING = {
    "full and just below a fifth": ("+++" + "-" * 17, Grade.FAILING),
    "full and exactly a fifth": ("++++" + "-" * 16, None),
    "nearly full and all failed": ("-" * 19, None),
    "full and all failed": ("-" * 20, Grade.FAILING),
    "one failure": ("-", None),
}
DECLINING = {
    "the newest three failed": ("---" + "+" * 17, Grade.DECLINING),
    "the newest two failed": ("--" + "+" * 18, None),
    "three failed, and nothing else is known": ("---", Grade.DECLINING),
    "three failed, but not the newest": ("+---", None),
}
IMPROVING = {
    "the newest two succeeded after a failure": ("++-", Grade.IMPROVING),
    "only the newest succeeded": ("+--", None),
    "all succeeded": ("+" * 20, None),
    "the failure lies far behind": ("+" * 19 + "-", Grade.IMPROVING),
    "two succeeded and nothing else is known": ("++", None),
}
WORKING = {
    "four fifths": ("-" + "+" * 4, Grade.WORKING),
    "just below four fifths": ("-" * 21 + "+" * 79, None),
    "one success": ("+", Grade.WORKING),
    "one failure": ("-", None),
}
RULES = {
    health.failing: FAILING,
    health.declining: DECLINING,
    health.improving: IMPROVING,
    health.working: WORKING,
}
BY_RULE = {
    f"{rule.__name__}: {sentence}": (rule, *row)
    for rule, table in RULES.items()
    for sentence, row in table.items()
}


@pytest.mark.parametrize("rule, picture, expected", BY_RULE.values(), ids=BY_RULE)
def test_each_rule_alone(rule, picture, expected):
    assert rule(window(picture), POLICY) is expected


def test_the_rules_stand_in_order_of_priority():
    assert tuple(health.RULES) == tuple(RULES)


GRADES = {
    "nothing known": ("", None),
    "one success": ("+", Grade.WORKING),
    "one failure is no verdict": ("-", Grade.DECLINING),
    "two failures after a success": ("--+", Grade.DECLINING),
    "failing comes before declining": ("-" * 20, Grade.FAILING),
    "failing comes before improving": ("++" + "-" * 18, Grade.FAILING),
    "declining comes before working": ("---" + "+" * 17, Grade.DECLINING),
    "improving comes before working": ("++-" + "+" * 17, Grade.IMPROVING),
    "working with the newest one failed": ("-" + "+" * 19, Grade.WORKING),
    "no rule speaks": ("+-+-", Grade.DECLINING),
    "an unfull window of failures is declining": ("-" * 19, Grade.DECLINING),
    "a flapping source": ("+-" * 10, Grade.DECLINING),
}


@pytest.mark.parametrize("picture, expected", GRADES.values(), ids=GRADES)
def test_grade(picture, expected):
    assert grade(window(picture), POLICY) is expected


def test_thresholds_are_the_policys():
    strict = HealthPolicy(
        window_size=2,
        healthy_threshold=Decimal(1),
        auto_pause_threshold=Decimal("0.6"),
    )
    assert grade(window("+-"), strict) is Grade.FAILING
    assert grade(window("+-+"), strict) is Grade.DECLINING
    assert grade(window("++"), strict) is Grade.WORKING


def test_a_rule_is_added_by_one_function(monkeypatch):
    def sleeping(found, _policy):
        return Grade.DECLINING if found.successes == (True,) else None

    monkeypatch.setattr(health, "RULES", (sleeping, *health.RULES))
    assert grade(window("+"), POLICY) is Grade.DECLINING
    assert grade(window("++"), POLICY) is Grade.WORKING


RATES = {
    "nothing known": ("", None),
    "one success": ("+", Decimal("1.0000")),
    "one failure": ("-", Decimal("0.0000")),
    "a third": ("+--", Decimal("0.3333")),
    "two thirds are rounded half up": ("++-", Decimal("0.6667")),
    "half a ten-thousandth is rounded up": ("+" + "-" * 79, Decimal("0.0125")),
    "1 of 32": ("+" + "-" * 31, Decimal("0.0313")),
}


@pytest.mark.parametrize("picture, rate", RATES.values(), ids=RATES)
def test_rate(picture, rate):
    assert window(picture).rate == rate


def test_newest_counts_only_what_stands_in_front():
    assert window("--+-").newest(outcome=False) == 2
    assert window("--+-").newest(outcome=True) == 0
    assert window("").newest(outcome=True) == 0


@given(st.lists(st.booleans(), min_size=1, max_size=25))
def test_every_window_with_an_attempt_has_one_grade(successes):
    found = Window(tuple(successes))
    assert grade(found, POLICY) is not None
    assert found.rate is not None
    assert 0 <= found.rate <= 1


@given(st.lists(st.booleans(), max_size=18))
def test_no_unfull_window_is_failing(successes):
    assert grade(Window(tuple(successes)), POLICY) is not Grade.FAILING


@given(st.lists(st.booleans(), max_size=20))
def test_two_successes_in_front_are_never_declining_or_worse_unless_failing(successes):
    found = grade(Window((True, True, *successes)), POLICY)
    assert found is not Grade.DECLINING
