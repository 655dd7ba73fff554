"""What a server asks for is stored before anything is done with what it sent."""

from __future__ import annotations

import pytest

from sourcemon.core.results import DeferralKind
from sourcemon.core.schedule import ObjectionName
from sourcemon.errors import DatabaseUnavailable
from sourcemon.operations import kinds
from sourcemon.operations.fetch_page import fetch_page
from sourcemon.parse.feed import read_feed
from tests.operations.site import status
from tests.store.stored import LEASE, NOON, minutes, out_of_order, seconds

ASKS = {"Retry-After": "5400", "X-Poll-Interval": "3600"}
FLOOR, RETRY = ObjectionName.FLOOR, ObjectionName.RETRY


def test_hints_are_stored_when_the_body_is_decoded(kiosk, feed, monkeypatch):
    seen = []

    def look(body, **rest):
        seen.append(dict(kiosk.objections))
        return read_feed(body, **rest)

    monkeypatch.setattr(kinds, "read_feed", look)
    feed.publish("one")
    feed.headers["X-Poll-Interval"] = "3600"
    kiosk.result()
    assert seen == [{FLOOR: NOON + minutes(60)}]


def test_hints_survive_a_body_that_our_decoder_breaks_on(kiosk, feed, monkeypatch):
    def broken(body, **rest):
        raise RuntimeError("decoder")

    monkeypatch.setattr(kinds, "read_feed", broken)
    feed.headers.update(ASKS)
    with pytest.raises(RuntimeError, match="decoder"):
        kiosk.result()
    assert kiosk.objections[FLOOR] == NOON + minutes(60)


def test_hints_survive_a_verdict_that_cannot_be_stored(kiosk, feed, deps):
    feed.then(status(503, ASKS))
    with out_of_order(deps.database, "duration_ms="), pytest.raises(DatabaseUnavailable):
        kiosk.result()
    assert kiosk.objections == {FLOOR: NOON + minutes(60), RETRY: NOON + minutes(90)}


def test_a_worker_that_is_killed_after_the_answer_causes_no_early_request(
    kiosk, feed, site, deps, clock
):
    """The claim expires after five minutes; what the server asked for stands for ninety."""
    feed.then(status(503, ASKS))
    fetch_page(deps, kiosk.begun())
    clock.advance(LEASE)
    deferral = kiosk.deferral()
    assert (deferral.kind, deferral.until) == (DeferralKind.NOT_DUE, NOON + minutes(90))
    assert kiosk.deferral(force=True).until == NOON + minutes(90)
    assert len(site.asked) == 1
    clock.jump_to(NOON + minutes(90))
    kiosk.result()
    assert len(site.asked) == 2


def test_an_earlier_hint_does_not_lower_a_later_one(kiosk, feed):
    feed.then(status(503, {"Retry-After": "7200", "Cache-Control": "max-age=7200"}))
    kiosk.result()
    kiosk.wait_until_due()
    first = kiosk.objections
    feed.then(status(503, {"Retry-After": "1", "Cache-Control": "max-age=1"}))
    kiosk.result()
    assert kiosk.objections[RETRY] == first[RETRY] + seconds(1)
    assert kiosk.objections[FLOOR] == first[FLOOR] + seconds(1)
