"""A worker that is killed in the midst of a poll costs one lease: no item, no rule, no operator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from sourcemon.core.results import Deferral, DeferralKind, PollResult
from sourcemon.core.sources import Source
from sourcemon.operations.deps import CrashPoint
from sourcemon.operations.dispatch import claim_due
from sourcemon.operations.poll import poll
from sourcemon.operations.upkeep import reconcile
from sourcemon.replay import Held, drip, poll_interval
from sourcemon.store import health
from sourcemon.store.tables import HealthStateRow
from tests.crash import jobs
from tests.crash.conftest import MakeWorld
from tests.crash.databases import row
from tests.crash.feeds import BEHAVIOURS, ENTRIES, PATH, Behaviour, newsroom, published
from tests.crash.workers import at_work
from tests.crash.world import INTERVAL, LEASE, MOMENT, START, World, statuses, validators

IN_FLIGHT = "in flight"
"""Where the request has arrived and the site holds its answer: no crash point of ours."""

CASES = {
    f"{name}, killed when {point}": (behaviour, point)
    for name, behaviour in BEHAVIOURS.items()
    for point in (*behaviour.passes, IN_FLIGHT)
}
REQUESTED = {IN_FLIGHT, CrashPoint.HINTED, CrashPoint.PERSISTED, CrashPoint.BEFORE_VERDICT}
HEARD = REQUESTED - {IN_FLIGHT}
STORED = {CrashPoint.PERSISTED, CrashPoint.BEFORE_VERDICT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A source whose poll was cut off, and what was stored when it began."""

    world: World
    source: Source
    behaviour: Behaviour
    point: str
    died_at: datetime
    before: dict[str, object]
    """Validators and body hash before the poll."""
    runs_before: int

    @property
    def hits_before(self) -> int:
        """Requests of the site up to the death."""
        return self.runs_before + (self.point in REQUESTED)

    @property
    def heard(self) -> bool:
        """Whether the dead worker had the answer and what it asks for was stored."""
        return self.point in HEARD


@contextmanager
def killed(make_world: MakeWorld, behaviour: Behaviour, point: str) -> Iterator[Scene]:
    """A world in which one worker died at ``point`` of its poll."""
    later = 2 if behaviour is BEHAVIOURS["new and corrected entries"] else 0
    feed = behaviour.feed(newsroom(later=later))
    with make_world([held := Held(feed)]) as world:
        source = world.watch(PATH)
        if behaviour.is_second or point != IN_FLIGHT:
            held.release.set()
        if behaviour.is_second:
            assert isinstance(poll(world.deps, source.id), PollResult)
            world.clock.advance(INTERVAL)
            held.entered.clear()
            if point == IN_FLIGHT:
                held.release.clear()
        scene = Scene(
            world=world,
            source=source,
            behaviour=behaviour,
            point=point,
            died_at=world.clock.now(),
            before=validators(world.state(source)),
            runs_before=len(world.runs(source)),
        )
        place = replace(world.place, now=world.clock.now())
        stops_at = None if point == IN_FLIGHT else point
        with at_work(jobs.poll, place, source.id, stops_at=stops_at) as worker:
            if point == IN_FLIGHT:
                assert held.entered.wait(10)
            else:
                worker.hear_until(point)
            worker.kill()
        held.release.set()
        yield scene


@pytest.mark.parametrize(("behaviour", "point"), CASES.values(), ids=CASES)
def test_a_killed_poll_is_taken_up_by_the_next_tick_after_its_lease(
    make_world: MakeWorld, behaviour: Behaviour, point: str
) -> None:
    with killed(make_world, behaviour, point) as scene:
        what_the_dead_left_is_whole(scene)
        until_the_lease_expires_nobody_asks(scene)
        first_poll_obeys_what_the_dead_heard(scene)
        and_so_do_all_that_follow(scene)
        history_is_honest(scene)


def what_the_dead_left_is_whole(scene: Scene) -> None:
    """The run is open, the page is stored as a whole or not at all, nothing of a verdict is."""
    world, source = scene.world, scene.source
    opened = world.runs(source)[scene.runs_before :]
    assert statuses(opened) == ["running"] * (scene.point != CrashPoint.CLAIMED)
    assert world.site.log.hits(PATH) == scene.hits_before
    assert validators(world.state(source)) == scene.before
    page = scene.behaviour.status == "completed" and scene.point in STORED
    stored = ENTRIES * scene.behaviour.is_second
    if page:
        stored = ENTRIES + 2 * (scene.behaviour is BEHAVIOURS["new and corrected entries"])
    assert len(world.items(source)) == len(world.contents()) == stored


def until_the_lease_expires_nobody_asks(scene: Scene) -> None:
    world, source = scene.world, scene.source
    world.clock.jump_to(scene.died_at + LEASE - MOMENT)
    attempt = poll(world.deps, source.id)
    assert isinstance(attempt, Deferral)
    assert attempt.kind is DeferralKind.BUSY
    assert claim_due(world.deps, limit=10) == ()
    assert world.site.log.hits(PATH) == scene.hits_before


def first_poll_obeys_what_the_dead_heard(scene: Scene) -> None:
    """The source is polled as the lease expires, or to the instant when the server allows it."""
    world, behaviour = scene.world, scene.behaviour
    world.clock.jump_to(scene.died_at + LEASE)
    if scene.heard and behaviour.asks_for:
        allowed_at = scene.died_at + behaviour.asks_for
        (deferred,) = world.attempt_due()
        assert isinstance(deferred, Deferral)
        assert (deferred.until, deferred.objection and deferred.objection.name) == (
            allowed_at,
            behaviour.objection,
        )
        world.clock.jump_to(allowed_at - MOMENT)
        assert claim_due(world.deps, limit=10) == ()
        world.clock.jump_to(allowed_at)
    (attempt,) = world.attempt_due()
    assert isinstance(attempt, PollResult)
    request = world.site.log.requests(PATH)[-1]
    held = (request.if_none_match, request.if_modified_since)
    assert held == (scene.before["etag"], scene.before["last_modified"])


def and_so_do_all_that_follow(scene: Scene) -> None:
    """Two more polls, each as soon as it may be: everything published is stored, once."""
    world, source = scene.world, scene.source
    for _ in range(2):
        world.clock.jump_to(world.state(source)["next_poll_at"])
        (attempt,) = world.attempt_due()
        assert isinstance(attempt, PollResult)
    later = 2 if scene.behaviour is BEHAVIOURS["new and corrected entries"] else 0
    assert world.titles(source) == published(newsroom(later=later))
    assert len(world.contents()) == len(world.items(source))
    assert world.site.log.early_requests() == ()


def history_is_honest(scene: Scene) -> None:
    """The killed run is closed as our own fault, and the source's health does not know of it."""
    world, source = scene.world, scene.source
    runs = world.runs(source)
    assert "running" not in statuses(runs)
    interrupted = [run for run in runs if run["stop_reason"] == "interrupted"]
    assert len(interrupted) == (scene.point != CrashPoint.CLAIMED)
    for run in interrupted:
        assert (run["status"], run["error_category"]) == ("failed", "internal")
        assert run["finished_at"] >= scene.died_at + LEASE
    attempts = [run for run in runs if run not in interrupted and run["status"] != "deferred"]
    with world.deps.database.read() as session:
        window = health.window(session, source.id, size=20)
    assert len(window.successes) == len(attempts)
    rate = row(world.deps.database, HealthStateRow)["rolling_success_rate"]
    share = Decimal(sum(run["status"] != "failed" for run in attempts)) / len(attempts)
    assert rate == round(share, 4)
    assert world.state(source)["claim_token"] is None


@pytest.mark.parametrize("point", [*BEHAVIOURS["a plain page"].passes, IN_FLIGHT])
def test_whoever_is_asked_by_hand_takes_it_up_as_well(make_world: MakeWorld, point: str) -> None:
    with killed(make_world, BEHAVIOURS["a plain page"], point) as scene:
        world, source = scene.world, scene.source
        world.clock.jump_to(scene.died_at + LEASE)
        attempt = poll(world.deps, source.id)

        assert isinstance(attempt, PollResult)
        assert world.titles(source) == published(newsroom())
        assert statuses(world.runs(source))[scene.runs_before :] == [
            *["failed"] * (point != CrashPoint.CLAIMED),
            "completed",
        ]


AMID = {
    "the run is opened": ("INSERT INTO poll_runs", "announced"),
    "items are stored": ("INSERT INTO item_contents", "running"),
    "the state is stored": ("UPDATE poll_states SET status", "running"),
    "the run is closed": ("UPDATE poll_runs SET status", "running"),
    "the grade is stored": ("UPDATE health_states", "running"),
}


@pytest.mark.parametrize("statement", [each[0] for each in AMID.values()], ids=AMID)
def test_killed_amid_a_transaction_nothing_of_it_is_stored(
    make_world: MakeWorld, statement: str
) -> None:
    with make_world([newsroom()]) as world:
        source = world.watch(PATH)
        with at_work(jobs.poll, world.place, source.id, stops_at=statement) as worker:
            passed = worker.hear_until(statement)[1:-1]
            worker.kill()

        before_verdict = CrashPoint.BEFORE_VERDICT in passed
        assert len(world.items(source)) == ENTRIES * before_verdict
        assert len(world.contents()) == ENTRIES * before_verdict
        state = world.state(source)
        assert (state["last_polled_at"], state["cadence_due_at"]) == (None, None)
        assert set(validators(state).values()) == {None}
        assert statuses(world.runs(source)) == ["running"] * (CrashPoint.ANNOUNCED in passed)
        assert row(world.deps.database, HealthStateRow)["grade"] is None

        world.clock.advance(LEASE)
        (attempt,) = world.attempt_due()
        assert isinstance(attempt, PollResult)
        assert world.titles(source) == published(newsroom())
        assert "running" not in statuses(world.runs(source))


def test_a_lease_ends_by_the_databases_clock(make_world: MakeWorld) -> None:
    """On machine clocks: nobody takes the source a moment before its expiry, anybody after it."""
    with make_world([newsroom()], now=None, polling={"claim_lease_s": 1}) as world:
        source = world.watch(PATH)
        deps = world.place.deps()
        with at_work(jobs.poll, world.place, source.id, stops_at=CrashPoint.ANNOUNCED) as worker:
            worker.hear_until(CrashPoint.ANNOUNCED)
            expires_at = world.state(source)["claim_expires_at"]
            worker.kill()
        while not (claimed := claim_due(deps, limit=10)):
            pass
        taken_at = world.state(source)["claim_expires_at"] - deps.policies.claim_lease
        result = poll(deps, source.id, token=claimed[0].token)
        deps.close()

        assert taken_at >= expires_at
        assert isinstance(result, PollResult)
        assert statuses(world.runs(source)) == ["failed", "completed"]


def test_upkeep_closes_the_run_of_a_source_that_is_not_due(make_world: MakeWorld) -> None:
    behaviour = BEHAVIOURS["429 with Retry-After"]
    with killed(make_world, behaviour, CrashPoint.HINTED) as scene:
        scene.world.clock.jump_to(scene.died_at + LEASE - MOMENT)
        too_soon = reconcile(scene.world.deps)
        scene.world.clock.jump_to(scene.died_at + LEASE)
        done = reconcile(scene.world.deps)

        assert (too_soon.claims_freed, too_soon.runs_closed) == (0, 0)
        assert (done.claims_freed, done.runs_closed) == (1, 1)
        (run,) = scene.world.runs(scene.source)
        assert (run["status"], run["stop_reason"]) == ("failed", "interrupted")
        first_poll_obeys_what_the_dead_heard(scene)


def test_killed_while_the_body_comes_the_head_is_obeyed(make_world: MakeWorld) -> None:
    """The head with the server's wish was read long ago; the body still drips."""
    slow = drip(poll_interval(newsroom(), timedelta(minutes=15)), size=10, pause_s=1)
    with make_world([slow]) as world:
        source = world.watch(PATH)
        with at_work(jobs.poll, world.place, source.id) as worker:
            world.wait_until(lambda: world.state(source)["poll_floor_until"] is not None)
            assert world.site.log.in_flight() == 1
            worker.kill()
        world.site.log.wait_for(lambda log: log.in_flight() == 0)
        next_tick = replace(world.place, now=START + LEASE)
        with at_work(jobs.poll, next_tick, source.id, stops_at=CrashPoint.ANNOUNCED) as worker:
            assert worker.hear() == "ready"

            assert worker.hear() == (
                "deferred until 2026-03-02 09:15:00 UTC: poll_floor_until: X-Poll-Interval: 900"
            )
