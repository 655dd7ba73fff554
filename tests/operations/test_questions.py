"""Answers to "what is there?" and to "why is it polled when it is?"."""

from __future__ import annotations

import pytest

from sourcemon.core.replies import ErrorCategory
from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.core.sources import SourceId
from sourcemon.errors import UnknownSource
from sourcemon.operations import listing
from sourcemon.operations.poll import poll
from sourcemon.store.tables import PollRunRow, PollStateRow
from tests.operations.site import body, fault, no_answer, status, whole
from tests.operations.watched import everything, watch
from tests.store.stored import NOON, minutes


def test_nothing_speaks_against_a_source_that_was_never_polled(kiosk, deps):
    found = listing.explain(deps, kiosk.source.id)
    assert found.schedule.objections == ()
    assert (found.binding, found.binding_forced, found.is_due) == (None, None, True)
    assert (found.now, found.last_runs) == (NOON, ())
    assert found.overview.source == kiosk.source


CADENCE, FLOOR, RETRY = ObjectionName.CADENCE, ObjectionName.FLOOR, ObjectionName.RETRY
BACKOFF, CIRCUIT = ObjectionName.BACKOFF, ObjectionName.CIRCUIT

WHY = {
    "our cadence": (whole, CADENCE, 30, "every 30 min", None),
    "our ceiling": (
        status(200, body=b"<rss version='2.0'/>"),
        CADENCE,
        60,
        "every 30 min, raised by ceiling to 1 h: the server sends no validators",
        None,
    ),
    "Retry-After": (
        status(503, {"Retry-After": "7200"}),
        RETRY,
        120,
        "Retry-After: 7200",
        RETRY,
    ),
    "a limit without a hint": (
        status(429, {"ETag": '"1"'}),
        CADENCE,
        30,
        "every 30 min",
        RETRY,
    ),
    "X-Poll-Interval": (
        status(200, {"X-Poll-Interval": "3600", "ETag": '"1"'}, body=b"<rss version='2.0'/>"),
        FLOOR,
        60,
        "X-Poll-Interval: 3600",
        FLOOR,
    ),
    "a time to live": (
        status(404, {"Cache-Control": "public, max-age=7200"}),
        FLOOR,
        120,
        "Cache-Control: max-age=7200",
        FLOOR,
    ),
    "a wish that is not to be believed": (
        status(503, {"Retry-After": "99999999"}),
        RETRY,
        60 * 24,
        "Retry-After: 99999999 (implausible, clamped to 24 h)",
        RETRY,
    ),
    "our back-off": (
        status(401, {"X-Poll-Interval": "60"}),
        BACKOFF,
        60,
        "retry 1 of 1 after auth failure: 1 h",
        BACKOFF,
    ),
}


@pytest.mark.parametrize(("answer", "name", "wait", "because", "forced"), WHY.values(), ids=WHY)
def test_the_next_poll_is_explained_by(kiosk, feed, deps, answer, name, wait, because, forced):
    feed.publish("one")
    feed.then(answer)
    kiosk.result()
    found = listing.explain(deps, kiosk.source.id)
    assert found.binding == Objection(name, NOON + minutes(wait), because)
    assert found.is_due is False
    assert (found.binding_forced.name if found.binding_forced else None) == forced
    assert found.overview.next_poll_at == NOON + minutes(wait)


def test_a_circuit_is_explained_by_what_opened_it(kiosk, feed, deps):
    feed.then(*[no_answer(ErrorCategory.NETWORK, "connection refused")] * 4)
    for _ in range(4):
        kiosk.wait_until_due()
        kiosk.result()
    found = listing.explain(deps, kiosk.source.id)
    assert found.schedule.get(CIRCUIT) == Objection(
        CIRCUIT,
        found.now + minutes(60),
        "circuit open after repeated network failures: 1 h",
    )
    assert found.binding_forced == found.schedule.get(CIRCUIT)


def test_a_fault_of_ours_is_called_so(kiosk, feed, deps):
    feed.then(fault(RuntimeError()))
    with pytest.raises(RuntimeError):
        kiosk.result()
    found = listing.explain(deps, kiosk.source.id)
    assert found.schedule.get(BACKOFF) == Objection(
        BACKOFF, NOON + minutes(10), "a fault of ours: wait 10 min"
    )


def test_every_objection_is_shown_with_its_reason_in_the_order_of_the_table(kiosk, feed, deps):
    feed.then(status(500, {"Retry-After": "60", "X-Poll-Interval": "120"}))
    kiosk.result()
    found = listing.explain(deps, kiosk.source.id)
    assert [each.name for each in found.schedule.objections] == [CADENCE, FLOOR, RETRY, BACKOFF]
    assert all(each.because for each in found.schedule.objections)


def test_it_is_due_at_the_very_instant_of_the_last_objection(kiosk, feed, deps):
    feed.publish("one")
    kiosk.result()
    assert not listing.explain(deps, kiosk.source.id).is_due
    kiosk.wait_until_due()
    assert listing.explain(deps, kiosk.source.id).is_due


def test_what_a_run_decided_is_what_the_explanation_says(kiosk, feed, deps):
    """The decision record of the last run names the objection that binds now."""
    feed.then(status(503, {"Retry-After": "7200"}))
    kiosk.result()
    found = listing.explain(deps, kiosk.source.id)
    (run,) = found.last_runs
    assert run.decision is not None
    assert found.binding is not None
    assert run.decision["binding"] == found.binding.name
    recorded = {each["name"]: each for each in run.decision["objections"]}
    assert recorded["retry_not_before_at"]["because"] == "Retry-After: 7200"
    assert recorded["retry_not_before_at"]["until"] == "2025-06-02T14:00:00+00:00"


def test_the_last_five_runs_are_told_the_newest_first(kiosk, feed, deps):
    feed.publish("one")
    for _ in range(7):
        kiosk.wait_until_due()
        kiosk.result()
    found = listing.explain(deps, kiosk.source.id).last_runs
    assert [run.id for run in found] == [7, 6, 5, 4, 3]


def test_questions_change_nothing(kiosk, feed, deps):
    feed.publish("one")
    kiosk.result()
    before = everything(deps, PollStateRow, PollRunRow)
    listing.explain(deps, kiosk.source.id)
    listing.sources_of(deps)
    listing.runs_of(deps, limit=9)
    listing.items_of(deps, limit=9)
    assert everything(deps, PollStateRow, PollRunRow) == before


def test_lists_hold_what_polls_left(deps, site):
    kiosk, other = watch(deps, "https://kiosk.test/feed"), watch(deps, "https://other.test/feed")
    site.feed(kiosk.source.url).publish("one", "two")
    site.feed(other.source.url).then(body(b"<html></html>"))
    for each in (kiosk, other):
        poll(deps, each.source.id)
    assert [(o.source.id, o.items, o.grade) for o in listing.sources_of(deps)] == [
        (1, 2, "working"),
        (2, 0, "declining"),
    ]
    assert [run.source_id for run in listing.runs_of(deps, limit=9)] == [2, 1]
    assert [run.status for run in listing.runs_of(deps, other.source.id, limit=9)] == ["failed"]
    assert [item.title for item in listing.items_of(deps, limit=1)] == ["two"]
    assert listing.items_of(deps, other.source.id, limit=9) == ()
    assert listing.name_of(deps, kiosk.source.id) == "kiosk"


QUESTIONS = {
    "why": listing.explain,
    "its name": listing.name_of,
    "its runs": lambda deps, source_id: listing.runs_of(deps, source_id, limit=9),
    "its items": lambda deps, source_id: listing.items_of(deps, source_id, limit=9),
    "a poll": poll,
    "a forced poll": lambda deps, source_id: poll(deps, source_id, force=True),
}


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_of_a_source_that_is_not_there_nothing_can_be_asked(kiosk, deps, ask):
    with pytest.raises(UnknownSource, match="no source 7"):
        ask(deps, SourceId(7))
