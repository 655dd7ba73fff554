"""One tick of the fleet: what it takes, what it gives back, and whom it keeps waiting."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from sourcemon.core.schedule import NEVER
from sourcemon.errors import BadSetting
from sourcemon.operations import dispatch, register
from sourcemon.operations.poll import poll
from sourcemon.store.tables import PollRunRow, PollStateRow
from tests.operations.watched import everything, watch
from tests.store.stored import LEASE, NOON, TICK, add_sources, change, minutes, rows


def tick(deps, *, limit: int) -> list[int]:
    """Take what is due and poll it; the ids that were attempted."""
    claimed = dispatch.claim_due(deps, limit=limit)
    for source in claimed:
        poll(deps, source.source_id, token=source.token)
    return [source.source_id for source in claimed]


def test_a_tick_takes_what_is_due_by_this_clock_until_the_lease_ends(deps, clock):
    watch(deps, "https://kiosk.test/feed")
    (claimed,) = dispatch.claim_due(deps, limit=10)
    assert (claimed.source_id, claimed.name, claimed.host) == (1, "kiosk", "kiosk.test:443")
    stored = rows(deps.database, PollStateRow)[0]
    assert stored["claim_token"] == claimed.token
    assert stored["claim_expires_at"] == NOON + LEASE


def test_two_ticks_have_two_tokens(deps):
    add_sources(deps.database, 2)
    (one,) = dispatch.claim_due(deps, limit=1)
    (other,) = dispatch.claim_due(deps, limit=1)
    assert one.token != other.token


def test_a_tick_takes_nothing_where_nothing_is_due(deps):
    add_sources(deps.database, 3, next_poll_at=NOON + TICK)
    assert dispatch.claim_due(deps, limit=10) == ()


@pytest.mark.parametrize("limit", [0, -1])
def test_a_tick_takes_at_least_one(deps, limit):
    with pytest.raises(ValueError, match="limit must be >= 1"):
        dispatch.claim_due(deps, limit=limit)


def test_a_claimed_source_is_polled_under_its_claim(deps, site):
    kiosk = watch(deps, "https://kiosk.test/feed")
    site.feed(kiosk.source.url).publish("one")
    assert tick(deps, limit=10) == [kiosk.source.id]
    assert kiosk.titles == ["one"]
    assert not kiosk.is_claimed
    assert tick(deps, limit=10) == []


def test_ticks_at_once_poll_every_source_once(deps, other_worker):
    add_sources(deps.database, 40)
    with ThreadPoolExecutor(4) as pool:
        ticks = [
            pool.submit(tick, worker, limit=10)
            for worker in (deps, other_worker, deps, other_worker)
        ]
        polled = Counter(each for found in ticks for each in found.result())
    assert polled == Counter(range(1, 41))
    assert Counter(run["source_id"] for run in rows(deps.database, PollRunRow)) == polled


def test_what_a_tick_has_no_time_for_is_given_back_exactly_as_it_was(deps):
    add_sources(deps.database, 4, next_poll_at=NOON - minutes(1))
    before = everything(deps, PollStateRow, PollRunRow)
    claimed = dispatch.claim_due(deps, limit=3)
    assert everything(deps, PollStateRow, PollRunRow) != before
    dispatch.release_unstarted(deps, claimed)
    assert everything(deps, PollStateRow, PollRunRow) == before
    assert [source.source_id for source in dispatch.claim_due(deps, limit=9)] == [1, 2, 3, 4]


def test_giving_back_what_another_one_has_taken_since_disturbs_nobody(deps, other_worker, clock):
    add_sources(deps.database, 2)
    claimed = dispatch.claim_due(deps, limit=2)
    clock.advance(LEASE)
    assert len(dispatch.claim_due(other_worker, limit=1)) == 1
    theirs = rows(deps.database, PollStateRow)[0]
    dispatch.release_unstarted(deps, claimed)
    assert rows(deps.database, PollStateRow)[0] == theirs
    assert rows(deps.database, PollStateRow)[1]["claim_token"] is None


def test_giving_back_nothing_is_nothing(deps):
    dispatch.release_unstarted(deps, [])


def test_blocked_sources_starve_no_others(deps, site):
    """Many sources look due and are held back by their server: each costs one claim, once."""
    add_sources(deps.database, 60, site="blocked")
    blocked = {"retry_not_before_at": NOON + minutes(90), "retry_because": "Retry-After: 5400"}
    change(deps.database, PollStateRow, blocked)
    free = [source.id for source in add_sources(deps.database, 5, site="free", next_poll_at=NOON)]
    assert tick(deps, limit=60) == list(range(1, 61))
    assert tick(deps, limit=60) == free
    assert tick(deps, limit=60) == []
    assert len(site.asked) == len(free)
    states = rows(deps.database, PollStateRow)[:60]
    assert {state["next_poll_at"] for state in states} == {NOON + minutes(90)}


def test_downtime_does_not_pile_up(deps, site, clock):
    """A source that was due many times while nobody worked is polled once, and then on."""
    kiosk = watch(deps, "https://kiosk.test/feed")
    site.feed(kiosk.source.url).publish("one")
    tick(deps, limit=10)
    clock.advance(minutes(60 * 24))
    assert tick(deps, limit=10) == [kiosk.source.id]
    assert tick(deps, limit=10) == []
    assert kiosk.row["next_poll_at"] == clock.now() + minutes(30)


def test_the_tick_goes_by_the_cache_and_the_poll_by_the_objections(deps, clock):
    """A cache that is too late keeps a source waiting; one that is too early never sends early."""
    kiosk = watch(deps, "https://kiosk.test/feed")
    kiosk.change({"next_poll_at": NEVER})
    assert dispatch.claim_due(deps, limit=1) == ()
    kiosk.change({"next_poll_at": NOON, "poll_floor_until": NOON + TICK})
    assert tick(deps, limit=1) == [kiosk.source.id]
    assert kiosk.runs == ()


# ── Who asks? ──────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def nobody(deps):
    """A worker whose operator has not said who they are."""
    return replace(deps, policies=replace(deps.policies, contact=None))


def test_without_a_contact_no_source_beyond_this_machine_is_claimed(deps, nobody, site):
    watch(deps, "http://127.0.0.1:8000/feed")
    watch(deps, "https://kiosk.test/feed")
    before = everything(deps, PollStateRow, PollRunRow)
    with pytest.raises(BadSetting, match="SOURCEMON_CONTACT"):
        dispatch.claim_due(nobody, limit=10)
    assert everything(deps, PollStateRow, PollRunRow) == before
    assert site.asked == []


@pytest.mark.parametrize("force", [False, True])
def test_without_a_contact_no_source_beyond_this_machine_is_polled(deps, nobody, site, force):
    kiosk = watch(deps, "https://kiosk.test/feed")
    before = everything(deps, PollStateRow, PollRunRow)
    with pytest.raises(BadSetting, match="SOURCEMON_CONTACT"):
        poll(nobody, kiosk.source.id, force=force)
    assert everything(deps, PollStateRow, PollRunRow) == before
    assert site.asked == []


def test_without_a_contact_no_source_beyond_this_machine_is_added(deps, nobody):
    with pytest.raises(BadSetting, match="SOURCEMON_CONTACT"):
        register.add(nobody, "https://kiosk.test/feed")
    assert rows(deps.database, PollStateRow) == []


LOCAL = {
    "an address": "http://127.0.0.1:8000/feed",
    "an address of IPv6": "http://[::1]:8000/feed",
    "a name": "http://localhost:8000/feed",
    "a name below it": "http://demo.localhost/feed",
    "an address of the local network": "http://192.168.1.20/feed",
}


@pytest.mark.parametrize("url", LOCAL.values(), ids=LOCAL)
def test_without_a_contact_a_source_on_this_machine_is_polled_by(nobody, site, url):
    kiosk = watch(nobody, url)
    site.feed(kiosk.source.url).publish("one")
    assert tick(nobody, limit=10) == [kiosk.source.id]
    assert kiosk.titles == ["one"]
