"""Not now, but then, because of this: no request, no run, no claim left, and nothing forgotten."""

from __future__ import annotations

import pytest

from sourcemon.core.replies import Validators
from sourcemon.core.results import DeferralKind
from sourcemon.core.schedule import NEVER, Objection, ObjectionName
from sourcemon.core.verdict import RunStatus
from sourcemon.operations import dispatch, register
from sourcemon.store import claims
from sourcemon.store.tables import PollRunRow, SourceRow
from tests.operations.site import meanwhile, status
from tests.store.stored import LEASE, NOON, TICK, change, minutes, rows

STORED = {
    ObjectionName.CADENCE: "every 30 min",
    ObjectionName.FLOOR: "X-Poll-Interval: 3600",
    ObjectionName.RETRY: "Retry-After: 3600",
    ObjectionName.BACKOFF: "retry 1 of 2 after timeout failure: 2 min",
    ObjectionName.CIRCUIT: "circuit open after repeated timeout failures: 1 h",
}
BOUND_BY_FORCE = {name: words for name, words in STORED.items() if "cadence" not in name}


def objection(name: ObjectionName, minute: float = 10) -> Objection:
    return Objection(name, NOON + minutes(minute), STORED[name])


@pytest.mark.parametrize("name", STORED)
def test_a_source_is_not_polled_before(kiosk, site, name):
    binding = objection(name)
    kiosk.object_to(binding)
    deferral = kiosk.deferral()
    assert (deferral.kind, deferral.until) == (DeferralKind.NOT_DUE, binding.until)
    assert deferral.objection == binding
    assert deferral.reason == f"{name}: {binding.because}"
    assert site.asked == []
    assert kiosk.runs == ()


@pytest.mark.parametrize("name", STORED)
def test_a_source_is_polled_at_the_very_instant_of(kiosk, feed, clock, name):
    feed.publish("one")
    kiosk.object_to(objection(name))
    clock.jump_to(NOON + minutes(10) - TICK)
    assert kiosk.deferral().kind is DeferralKind.NOT_DUE
    clock.advance(TICK)
    assert kiosk.result().status is RunStatus.COMPLETED


@pytest.mark.parametrize("name", STORED)
def test_the_latest_objection_binds_and_is_named(kiosk, name):
    kiosk.object_to(*(objection(each, 20 if each is name else 10) for each in STORED))
    deferral = kiosk.deferral()
    assert (deferral.objection, deferral.until) == (objection(name, 20), NOON + minutes(20))


def test_of_objections_at_the_same_instant_the_first_in_the_table_is_named(kiosk):
    kiosk.object_to(objection(ObjectionName.CIRCUIT), objection(ObjectionName.FLOOR))
    found = kiosk.deferral().objection
    assert found is not None
    assert found.name is ObjectionName.FLOOR


@pytest.mark.parametrize("name", STORED)
def test_a_deferral_corrects_the_cached_next_poll_and_changes_nothing_else(kiosk, name):
    """Else the source would be claimed at every tick and keep others from their turn."""
    kiosk.object_to(objection(name))
    before = kiosk.row
    kiosk.deferral()
    assert kiosk.row == {**before, "next_poll_at": NOON + minutes(10)}


def test_a_forced_deferral_caches_the_unforced_answer(kiosk):
    kiosk.object_to(objection(ObjectionName.CADENCE, 90), objection(ObjectionName.FLOOR, 10))
    deferral = kiosk.deferral(force=True)
    assert deferral.until == NOON + minutes(10)
    assert kiosk.row["next_poll_at"] == NOON + minutes(90)


def test_a_deferral_lets_go_of_a_claim_that_was_handed_to_it(kiosk, deps):
    (claimed,) = dispatch.claim_due(deps, limit=1)
    kiosk.object_to(objection(ObjectionName.RETRY))
    assert kiosk.deferral(token=claimed.token).kind is DeferralKind.NOT_DUE
    assert not kiosk.is_claimed
    assert dispatch.claim_due(deps, limit=1) == ()


# ── While another one polls it ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("force", [False, True])
def test_a_source_that_is_being_polled_is_busy_and_nothing_is_touched(
    kiosk, feed, other_worker, force
):
    found = []

    def look() -> None:
        before = kiosk.row
        found.append(kiosk.deferral(force=force, by=other_worker))
        assert kiosk.row == before

    feed.publish("one")
    feed.then(meanwhile(look))
    assert kiosk.result().status is RunStatus.COMPLETED
    (deferral,) = found
    assert (deferral.kind, deferral.until) == (DeferralKind.BUSY, None)
    assert "another worker" in deferral.reason
    assert len(kiosk.runs) == 1


def test_a_source_whose_worker_died_is_free_when_the_claim_expires(kiosk, feed, clock, deps):
    feed.publish("one")
    with deps.database.write() as session:
        claims.take(session, kiosk.source.id, token="dead", lease=LEASE, instant=clock.now())
    clock.advance(LEASE - TICK)
    assert kiosk.deferral().kind is DeferralKind.BUSY
    clock.advance(TICK)
    assert kiosk.result().status is RunStatus.COMPLETED


# ── Sources that wait for an operator ──────────────────────────────────────────────────────────


def switch_off(kiosk) -> None:
    register.disable(kiosk.deps, kiosk.source.id)


def end_it(kiosk) -> None:
    kiosk.deps.http.feed(kiosk.source.url).then(status(410))
    kiosk.result()


def break_it(kiosk) -> None:
    kiosk.change({"status": "failed", "last_error": "HTTP 401"})


OUT_OF_SERVICE = {
    "switched off": (switch_off, DeferralKind.DISABLED, "switched off"),
    "gone": (end_it, DeferralKind.GONE, "the server said that it is gone"),
    "failed": (break_it, DeferralKind.FAILED, "HTTP 401"),
}


@pytest.mark.parametrize(("take_out", "kind", "words"), OUT_OF_SERVICE.values(), ids=OUT_OF_SERVICE)
@pytest.mark.parametrize("force", [False, True], ids=["", "even by force"])
def test_never_polled_is_a_source_that_is(kiosk, site, clock, take_out, kind, words, force):
    take_out(kiosk)
    asked = len(site.asked)
    clock.jump_to(NOON + minutes(60 * 24 * 365))
    before = kiosk.row
    deferral = kiosk.deferral(force=force)
    assert (deferral.kind, deferral.until, deferral.objection) == (kind, None, None)
    assert words in deferral.reason
    assert f"`sourcemon enable {kiosk.source.id}`" in deferral.reason
    assert len(site.asked) == asked
    assert kiosk.row == {**before, "next_poll_at": NEVER}


@pytest.mark.parametrize(("take_out", "kind", "words"), OUT_OF_SERVICE.values(), ids=OUT_OF_SERVICE)
def test_no_tick_takes_a_source_that_is(kiosk, deps, clock, take_out, kind, words):
    take_out(kiosk)
    clock.jump_to(NOON + minutes(60 * 24 * 365))
    assert dispatch.claim_due(deps, limit=10) == ()


@pytest.mark.parametrize(("take_out", "kind", "words"), OUT_OF_SERVICE.values(), ids=OUT_OF_SERVICE)
def test_enabling_mends_a_source_that_is(kiosk, feed, deps, clock, take_out, kind, words):
    take_out(kiosk)
    assert kiosk.deferral().kind is kind
    assert register.enable(deps, kiosk.source.id).enabled
    kiosk.wait_until_due()
    feed.publish("one")
    (claimed,) = dispatch.claim_due(deps, limit=10)
    dispatch.release_unstarted(deps, [claimed])
    assert kiosk.result().status is RunStatus.COMPLETED


def test_whether_it_may_be_polled_at_all_comes_before_when(kiosk, deps):
    kiosk.object_to(objection(ObjectionName.RETRY))
    switch_off(kiosk)
    assert kiosk.deferral().kind is DeferralKind.DISABLED


def test_a_success_does_not_make_a_failed_source_idle_by_accident(kiosk, feed):
    """An operator's poll was under way when the source was given up."""
    feed.publish("one")
    feed.then(meanwhile(lambda: break_it(kiosk)))
    kiosk.result()
    assert kiosk.row["status"] == "failed"
    assert kiosk.row["next_poll_at"] == NEVER


def test_a_source_that_is_switched_off_while_it_is_polled_stays_off(kiosk, feed, deps, clock):
    """Its cached next poll, too: it is what lists and the due index go by."""
    feed.publish("one")
    feed.then(meanwhile(lambda: switch_off(kiosk)))
    assert kiosk.result().status is RunStatus.COMPLETED
    clock.advance(minutes(60))
    assert kiosk.row["next_poll_at"] == NEVER
    assert dispatch.claim_due(deps, limit=10) == ()


# ── Force ──────────────────────────────────────────────────────────────────────────────────────


def test_force_drops_our_own_cadence(kiosk, feed):
    feed.publish("one")
    kiosk.result()
    assert kiosk.deferral().kind is DeferralKind.NOT_DUE
    assert kiosk.result(force=True).status is RunStatus.COMPLETED
    assert [run.forced for run in kiosk.runs] == [True, False]


@pytest.mark.parametrize("name", BOUND_BY_FORCE)
def test_force_obeys(kiosk, site, name):
    kiosk.object_to(objection(ObjectionName.CADENCE, 90), objection(name, 10))
    deferral = kiosk.deferral(force=True)
    assert (deferral.objection, deferral.until) == (objection(name, 10), NOON + minutes(10))
    assert site.asked == []


def test_force_sends_no_validators_and_reads_the_same_bytes_again(kiosk, feed, site):
    feed.publish("one")
    kiosk.result()
    result = kiosk.result(force=True)
    assert site.asked[-1].validators == Validators()
    assert (result.http_status, result.stop_reason) == (200, "no_next_link")
    assert result.counters.unchanged == 1


def test_after_a_forced_poll_all_is_as_after_any_other(kiosk, feed, site, clock):
    feed.publish("one")
    kiosk.result()
    held = kiosk.state.validators
    clock.advance(minutes(1))
    kiosk.result(force=True)
    assert kiosk.state.validators == held
    assert kiosk.objections == {ObjectionName.CADENCE: NOON + minutes(31)}
    assert kiosk.deferral().kind is DeferralKind.NOT_DUE
    kiosk.wait_until_due()
    assert kiosk.result().status is RunStatus.NOT_MODIFIED


def test_a_304_to_a_forced_poll_is_a_failure_that_drops_what_we_held(kiosk, feed, site):
    """Nothing was held against it: the server, or something between, is broken."""
    feed.publish("one")
    kiosk.result()
    feed.then(status(304))
    result = kiosk.result(force=True)
    assert result.status is RunStatus.FAILED
    assert result.error is not None
    assert result.error.startswith("unexpected_304")
    assert kiosk.state.validators == Validators()
    assert kiosk.titles == ["one"]


def test_a_forced_poll_that_fails_climbs_the_same_ladder(kiosk, feed):
    feed.then(status(500), status(500))
    kiosk.result(force=True)
    kiosk.wait_until_due()
    kiosk.result(force=True)
    assert kiosk.state.retry.attempt == 2
    assert kiosk.deferral(force=True).kind is DeferralKind.NOT_DUE


def test_nothing_is_written_about_a_source_that_is_not_due_but_its_cache(kiosk, deps):
    """A run row exists if and only if a request was sent."""
    kiosk.object_to(objection(ObjectionName.CADENCE))
    for force in (False, True):
        kiosk.object_to(objection(ObjectionName.BACKOFF))
        kiosk.deferral(force=force)
    assert rows(deps.database, PollRunRow) == []


def test_a_switched_off_source_is_refused_whatever_its_cache_says(kiosk, deps, site):
    """The cache is an answer and never an input."""
    change(deps.database, SourceRow, {"enabled": False})
    (claimed,) = dispatch.claim_due(deps, limit=1)
    assert kiosk.deferral(token=claimed.token).kind is DeferralKind.DISABLED
    assert kiosk.row["next_poll_at"] == NEVER
    assert site.asked == []
