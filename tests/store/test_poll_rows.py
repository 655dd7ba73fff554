"""Poll states and runs: what a poll leaves behind, and who may no longer write."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError

from sourcemon.core.changes import Counters
from sourcemon.core.decisions import EVER
from sourcemon.core.paging import StopReason
from sourcemon.core.poll_state import PollState, PollStatus, RetryProgress
from sourcemon.core.replies import ErrorCategory, Validators
from sourcemon.core.schedule import SERVERS, Objection, ObjectionName, Schedule
from sourcemon.core.sources import SourceId
from sourcemon.core.verdict import RunRecord, RunStatus
from sourcemon.errors import ClaimLost, UnknownSource
from sourcemon.store import claims, polls
from sourcemon.store.session import Database
from sourcemon.store.tables import PollRunRow, PollStateRow
from tests.store.stored import (
    LEASE,
    NOON,
    TICK,
    add_source,
    add_sources,
    change,
    minutes,
    row,
    rows,
    seconds,
)

OURS = SourceId(1)
STORED_HERE = (
    ObjectionName.CADENCE,
    ObjectionName.FLOOR,
    ObjectionName.RETRY,
    ObjectionName.BACKOFF,
    ObjectionName.CIRCUIT,
)
FULL = PollState(
    status=PollStatus.IDLE,
    schedule=Schedule.of(
        Objection(name, NOON + minutes(number) + TICK, f"because of {name}")
        for number, name in enumerate(STORED_HERE)
    ),
    validators=Validators('W/"é\t1"', "Mon, 02 Jun 2025 12:00:00 GMT"),
    body_hash="ab" * 32,
    retry=RetryProgress(
        attempt=2,
        category=ErrorCategory.NETWORK,
        circuit_opened_at=NOON - TICK,
        reopens=3,
    ),
    consecutive_failures=4,
    last_polled_at=NOON,
    last_success_at=NOON - minutes(9),
    last_error="HTTP 500",
)
RUN = RunRecord(
    status=RunStatus.COMPLETED,
    finished_at=NOON + seconds(2),
    duration=seconds(1.2345),
    counters=Counters(
        created=1, updated=2, unchanged=3, duplicate=4, quarantined=5, ignored=6, failed=7
    ),
    pages_fetched=1,
    http_status=200,
    bytes_received=12_345,
    stop_reason=StopReason.NO_NEXT_LINK,
    error_category=None,
    error=None,
)
UNTOUCHED_BY_A_VERDICT = ("next_poll_at", "claim_token", "claim_expires_at")


def claim(database: Database, token: str = "mine", source_id: SourceId = OURS) -> None:
    with database.write() as session:
        assert claims.take(session, source_id, token=token, lease=LEASE, instant=NOON)


def read(database: Database) -> PollState:
    with database.read() as session:
        return polls.read(session, OURS)


def record(database: Database, state: PollState, *, token: str = "mine") -> None:
    with database.write() as session:
        polls.record(session, OURS, token=token, state=state)


def begin_run(
    database: Database,
    source_id: SourceId = OURS,
    *,
    started_at: datetime = NOON,
    forced: bool = False,
) -> int:
    with database.write() as session:
        return polls.begin_run(session, source_id, started_at=started_at, forced=forced)


def raise_objections(database: Database, *objections: Objection) -> None:
    with database.write() as session:
        polls.raise_objections(session, OURS, objections)


def test_a_new_source_has_no_past_and_nothing_against_it(database):
    add_source(database, next_poll_at=EVER)
    assert read(database) == PollState()
    assert row(database, PollStateRow)["next_poll_at"] == EVER


STATES = {
    "with everything": FULL,
    "with nothing": PollState(),
    "of a source that is gone": PollState(status=PollStatus.GONE, last_error="HTTP 410"),
    "with one objection": PollState(
        schedule=Schedule((Objection(ObjectionName.RETRY, NOON, "Retry-After: 1"),))
    ),
    "with one validator": PollState(validators=Validators(etag='""')),
    "with validators that are no text a person would send": PollState(
        validators=Validators("\x7f\xff'\"\\", "yesterday; DROP TABLE sources")
    ),
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_a_state_comes_back_as_it_was_recorded(database, state):
    add_source(database)
    claim(database)
    record(database, FULL)
    record(database, state)
    assert read(database) == state


def test_recording_a_state_leaves_claim_and_cache_alone(database):
    add_sources(database, 2, next_poll_at=NOON)
    claim(database)
    before, other = rows(database, PollStateRow)
    record(database, FULL)
    after, other_after = rows(database, PollStateRow)
    assert {name: after[name] for name in UNTOUCHED_BY_A_VERDICT} == {
        name: before[name] for name in UNTOUCHED_BY_A_VERDICT
    }
    assert other_after == other


def test_a_verdict_settles_the_run_that_was_scheduled_before_it(database):
    add_sources(database, 2)
    claim(database)
    change(database, PollStateRow, {"hint_until": NOON})
    record(database, FULL)
    assert [row["hint_until"] for row in rows(database, PollStateRow)] == [None, NOON]


NOT_OURS = {
    "another one's": {"claim_token": "another's", "claim_expires_at": NOON + TICK},
    "nobody's": {"claim_token": None, "claim_expires_at": None},
}


@pytest.mark.parametrize("holder", NOT_OURS.values(), ids=NOT_OURS)
def test_with_a_lost_claim_nothing_is_recorded(database, holder):
    add_source(database)
    change(database, PollStateRow, holder)
    before = row(database, PollStateRow)
    with pytest.raises(ClaimLost) as lost:
        record(database, FULL)
    assert lost.value.source_id == OURS
    assert row(database, PollStateRow) == before


@pytest.mark.parametrize("holder", NOT_OURS.values(), ids=NOT_OURS)
def test_with_a_lost_claim_the_state_cannot_be_locked(database, holder):
    add_source(database)
    change(database, PollStateRow, holder)
    with pytest.raises(ClaimLost), database.write() as session:
        polls.lock(session, OURS, token="mine")


def test_a_locked_state_is_the_one_that_is_stored_now(database, elsewhere):
    """Also when the transaction has seen an earlier one."""
    add_source(database)
    claim(database)
    with database.write() as session:
        before = polls.read(session, OURS)
        if database.shown.startswith("postgresql"):
            record(elsewhere, FULL)
        else:
            polls.record(session, OURS, token="mine", state=FULL)
        assert (before, polls.lock(session, OURS, token="mine")) == (PollState(), FULL)


def test_the_state_of_a_source_that_is_not_there_is_unknown(database):
    with pytest.raises(UnknownSource):
        read(database)


# ── What servers ask for ───────────────────────────────────────────────────────────────────────


@settings(
    max_examples=settings().max_examples // 4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    hints=st.lists(
        st.tuples(
            st.sampled_from([ObjectionName.FLOOR, ObjectionName.RETRY]),
            st.integers(-3, 3).map(lambda each: NOON + timedelta(hours=each)),
        ),
        max_size=8,
    )
)
def test_hints_only_raise(database, hints):
    """Each objection is the latest of all hints, with the words of the first such."""
    if not rows(database, PollStateRow):
        add_source(database)
    claim_free = dict.fromkeys([n.value for n in STORED_HERE] + ["poll_floor_because"])
    change(database, PollStateRow, {**claim_free, "retry_because": None})
    expected = Schedule()
    for number, (name, until) in enumerate(hints):
        objection = Objection(name, until, f"hint {number}")
        raise_objections(database, objection)
        expected = expected.raising(objection)
        assert read(database).schedule == expected


def test_a_floor_and_a_retry_are_raised_together_and_nothing_else_is_touched(database):
    add_sources(database, 2, next_poll_at=NOON)
    claim(database)
    record(database, FULL)
    before, other = rows(database, PollStateRow)
    floor = Objection(ObjectionName.FLOOR, NOON + minutes(50), "X-Poll-Interval: 3000")
    retry = Objection(ObjectionName.RETRY, NOON + minutes(60), "Retry-After: 3600")
    raise_objections(database, floor, retry)
    after, other_after = rows(database, PollStateRow)
    assert after == {
        **before,
        "poll_floor_until": floor.until,
        "poll_floor_because": floor.because,
        "retry_not_before_at": retry.until,
        "retry_because": retry.because,
    }
    assert other_after == other


@pytest.mark.parametrize("holder", NOT_OURS.values(), ids=NOT_OURS)
def test_what_a_server_asked_for_counts_whoever_holds_the_claim(database, holder):
    add_source(database)
    change(database, PollStateRow, holder)
    asked = Objection(ObjectionName.RETRY, NOON + minutes(5), "Retry-After: 300")
    raise_objections(database, asked)
    assert read(database).schedule == Schedule((asked,))


def test_no_hints_write_nothing(database):
    add_source(database)
    before = row(database, PollStateRow)
    raise_objections(database)
    assert row(database, PollStateRow) == before


@pytest.mark.parametrize(
    "name", [name for name in ObjectionName if name not in SERVERS or "blocked" in name]
)
def test_only_floor_and_retry_are_hints(database, name):
    add_source(database)
    with pytest.raises(ValueError, match="not raised by a server's hint"):
        raise_objections(database, Objection(name, NOON, "because"))


# ── Runs ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("forced", [False, True])
def test_a_run_begins_as_running_with_nothing_counted(database, forced):
    add_source(database)
    run_id = begin_run(database, started_at=NOON + TICK, forced=forced)
    stored = row(database, PollRunRow)
    assert stored["id"] == run_id
    assert (stored["status"], stored["forced"]) == ("running", forced)
    assert stored["started_at"] == NOON + TICK
    assert stored["finished_at"] is None
    assert stored["entries_seen"] == stored["pages_fetched"] == stored["bytes"] == 0


def test_a_run_ends_with_all_that_it_came_to(database):
    add_source(database)
    others, run_id = begin_run(database), begin_run(database)
    decision = {"binding": "cadence_due_at", "before": {"etag": None}, "objections": [{"é": 1}]}
    with database.write() as session:
        polls.end_run(session, run_id, RUN, decision=decision)
    first, stored = rows(database, PollRunRow)
    assert (first["id"], first["status"]) == (others, "running")
    assert stored == {
        "id": run_id,
        "source_id": OURS,
        "status": "completed",
        "forced": False,
        "started_at": NOON,
        "finished_at": NOON + seconds(2),
        "duration_ms": 1234,
        "http_status": 200,
        "bytes": 12_345,
        "pages_fetched": 1,
        "entries_seen": 28,
        "created": 1,
        "updated": 2,
        "unchanged": 3,
        "duplicate": 4,
        "quarantined": 5,
        "ignored": 6,
        "failed": 7,
        "stop_reason": "no_next_link",
        "error_category": None,
        "error": None,
        "decision": decision,
    }


def test_a_run_can_fail_with_its_reason(database):
    add_source(database)
    failed = replace(
        RUN,
        status=RunStatus.FAILED,
        counters=Counters(),
        stop_reason=None,
        http_status=None,
        error_category=ErrorCategory.TLS,
        error="x" * 1_000,
    )
    run_id = begin_run(database)
    with database.write() as session:
        polls.end_run(session, run_id, failed, decision={})
    stored = row(database, PollRunRow)
    assert (stored["status"], stored["error_category"]) == ("failed", "tls")
    assert stored["error"] == "x" * 1_000
    assert stored["stop_reason"] is stored["http_status"] is None


def test_counters_that_do_not_add_up_are_refused(database):
    add_source(database)
    begin_run(database)
    with pytest.raises(IntegrityError):
        change(database, PollRunRow, {"created": 1, "entries_seen": 2})


def test_a_run_whose_request_was_never_sent_is_taken_back(database):
    add_source(database)
    kept, discarded = begin_run(database), begin_run(database)
    with database.write() as session:
        polls.discard_run(session, discarded)
    assert [row["id"] for row in rows(database, PollRunRow)] == [kept]


def test_a_run_of_no_source_is_refused(database):
    with pytest.raises(IntegrityError):
        begin_run(database, SourceId(7))


def test_runs_that_a_dead_worker_left_open_are_closed_as_interrupted(database):
    add_sources(database, 2)
    ended, left, again = begin_run(database), begin_run(database), begin_run(database)
    others = begin_run(database, SourceId(2))
    with database.write() as session:
        polls.end_run(session, ended, RUN, decision={"binding": None})
    before = {row["id"]: row for row in rows(database, PollRunRow)}
    with database.write() as session:
        assert polls.close_interrupted(session, OURS, now=NOON + minutes(7)) == 2
    closed = {
        "status": "failed",
        "finished_at": NOON + minutes(7),
        "stop_reason": "interrupted",
        "error_category": "internal",
        "error": "the worker died or was stopped before the poll ended",
    }
    assert {row["id"]: row for row in rows(database, PollRunRow)} == {
        ended: before[ended],
        left: before[left] | closed,
        again: before[again] | closed,
        others: before[others],
    }


def test_nothing_is_closed_where_nothing_was_left_open(database):
    add_source(database)
    with database.write() as session:
        assert polls.close_interrupted(session, OURS, now=NOON) == 0


def test_open_runs_of_unclaimed_sources_are_orphans_and_no_others(database):
    add_sources(database, 2)
    claim(database, source_id=SourceId(2))
    ended, orphan, worked_on = (
        begin_run(database),
        begin_run(database),
        begin_run(database, SourceId(2)),
    )
    with database.write() as session:
        polls.end_run(session, ended, RUN, decision={})
    with database.write() as session:
        assert polls.close_orphans(session, now=NOON + minutes(7)) == 1
        assert polls.close_orphans(session, now=NOON + minutes(8)) == 0
    found = {row["id"]: row for row in rows(database, PollRunRow)}
    assert (found[ended]["status"], found[worked_on]["status"]) == ("completed", "running")
    assert (found[orphan]["status"], found[orphan]["stop_reason"]) == ("failed", "interrupted")
    assert found[orphan]["finished_at"] == NOON + minutes(7)


# ── The cache and the status ───────────────────────────────────────────────────────────────────


def test_the_cached_next_poll_is_set_for_one_source(database):
    add_sources(database, 2, next_poll_at=EVER)
    with database.write() as session:
        polls.cache_next_poll(session, OURS, NOON + TICK)
    found = [row["next_poll_at"] for row in rows(database, PollStateRow)]
    assert found == [NOON + TICK, EVER]


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_an_operator_s_decision_needs_no_claim_and_touches_nothing_but_the_state(database, state):
    add_sources(database, 2, next_poll_at=NOON)
    claim(database, "another's")
    before, other = rows(database, PollStateRow)
    with database.write() as session:
        polls.start_afresh(session, OURS, state)
    after, other_after = rows(database, PollStateRow)
    assert read(database) == state
    untouched = (*UNTOUCHED_BY_A_VERDICT, "hint_until")
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    assert other_after == other


def leave_to_run(database: Database, due: datetime, until: datetime | None) -> bool:
    with database.write() as session:
        return polls.leave_to_run(session, OURS, due=due, until=until)


def test_a_source_is_left_to_the_run_that_is_scheduled_for_its_instant(database):
    add_sources(database, 2, next_poll_at=NOON + TICK)
    before, other = rows(database, PollStateRow)
    assert leave_to_run(database, NOON + TICK, NOON + minutes(2))
    assert rows(database, PollStateRow) == [before | {"hint_until": NOON + minutes(2)}, other]
    assert leave_to_run(database, NOON + TICK, None)
    assert rows(database, PollStateRow) == [before, other]


def test_a_source_that_is_due_at_another_instant_is_not_left_to_a_run(database):
    """A poll in between has made the run pointless."""
    add_source(database, next_poll_at=NOON)
    before = row(database, PollStateRow)
    assert not leave_to_run(database, NOON + TICK, NOON + minutes(2))
    assert row(database, PollStateRow) == before
