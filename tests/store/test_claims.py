"""Claims: who may poll a source, since when, and until when. One caller at a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pytest
from sqlalchemy import event, insert, text
from sqlalchemy.dialects import postgresql

from sourcemon.core.decisions import EVER
from sourcemon.core.dispatch import ClaimedSource
from sourcemon.core.schedule import NEVER
from sourcemon.core.sources import SourceId
from sourcemon.errors import ClaimLost
from sourcemon.store import claims
from sourcemon.store.session import Database
from sourcemon.store.tables import PollStateRow, SourceRow
from tests.store.shared import as_administrator
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
)


def take_due(
    database: Database, *, token: str = "mine", limit: int = 100, at: datetime = NOON
) -> list[int]:
    """The ids that were claimed, in the order given."""
    with database.write() as session:
        claimed = claims.take_due(session, token=token, limit=limit, lease=LEASE, instant=at)
    assert {source.token for source in claimed} <= {token}
    return [source.source_id for source in claimed]


def take(database: Database, source_id: int, *, token: str = "mine", at: datetime = NOON) -> bool:
    with database.write() as session:
        return claims.take(session, SourceId(source_id), token=token, lease=LEASE, instant=at)


def renew(database: Database, source_id: int, *, token: str = "mine", at: datetime = NOON) -> None:
    with database.write() as session:
        claims.renew(session, SourceId(source_id), token=token, lease=LEASE, instant=at)


def release(database: Database, source_ids: Sequence[int], *, token: str = "mine") -> None:
    with database.write() as session:
        claims.release(session, [SourceId(each) for each in source_ids], token=token)


def holders(database: Database) -> dict[int, str | None]:
    return {row["source_id"]: row["claim_token"] for row in rows(database, PollStateRow)}


TAKEN = {
    "a source that nothing speaks against": {"status": "idle"},
    "a source that is due this very instant": {"next_poll_at": NOON},
    "a source whose claim expires this very instant": {
        "claim_token": "another's",
        "claim_expires_at": NOON,
    },
    "a source whose scheduled run did not come": {"hint_until": NOON},
}
LEFT = {
    "a source that is due an instant later": {"next_poll_at": NOON + TICK},
    "a source that another one holds for an instant more": {
        "claim_token": "another's",
        "claim_expires_at": NOON + TICK,
    },
    "a source whose scheduled run is expected": {"hint_until": NOON + TICK},
    "a source that an operator must mend": {"status": "failed"},
    "a source that is gone": {"status": "gone"},
    "a source that is switched off": {"next_poll_at": NEVER},
}


@pytest.mark.parametrize("state", TAKEN.values(), ids=TAKEN)
def test_a_tick_takes(database, state):
    source = add_source(database, next_poll_at=EVER)
    change(database, PollStateRow, state)
    assert take_due(database) == [source.id]
    stored = row(database, PollStateRow)
    assert (stored["claim_token"], stored["claim_expires_at"]) == ("mine", NOON + LEASE)


@pytest.mark.parametrize("state", LEFT.values(), ids=LEFT)
def test_a_tick_leaves(database, state):
    add_source(database, next_poll_at=EVER)
    change(database, PollStateRow, state)
    before = row(database, PollStateRow)
    assert take_due(database) == []
    assert row(database, PollStateRow) == before


def test_a_claim_changes_nothing_but_itself(database):
    add_source(database, next_poll_at=NOON)
    before = row(database, PollStateRow)
    take_due(database)
    assert row(database, PollStateRow) == {
        **before,
        "claim_token": "mine",
        "claim_expires_at": NOON + LEASE,
    }


def test_the_longest_overdue_come_first_and_of_equals_the_oldest_source(database):
    overdue = [NOON, NOON - minutes(2), NOON - minutes(1), EVER, NOON - minutes(2)]
    for number, since in enumerate(overdue):
        add_source(database, f"https://kiosk.test/{number}", next_poll_at=since)
    assert take_due(database) == [4, 2, 5, 3, 1]


def test_no_more_than_asked_for_are_taken_and_the_rest_stays_free(database):
    add_sources(database, 5)
    assert take_due(database, token="first", limit=2) == [1, 2]
    assert take_due(database, token="second", limit=2) == [3, 4]
    assert take_due(database, token="third", limit=2) == [5]
    assert take_due(database, token="fourth", limit=2) == []
    assert list(holders(database).values()) == ["first", "first", "second", "second", "third"]


def test_a_dispatcher_is_told_what_it_needs_to_know(database):
    add_source(database, "https://kiosk.test/feed", name="Kiosk")
    add_source(database, "http://kiosk.test:8080/feed", name="Beside it")
    with database.write() as session:
        found = claims.take_due(session, token="mine", limit=9, lease=LEASE, instant=NOON)
    assert found == (
        ClaimedSource(source_id=SourceId(1), name="Kiosk", host="kiosk.test:443", token="mine"),
        ClaimedSource(
            source_id=SourceId(2), name="Beside it", host="kiosk.test:8080", token="mine"
        ),
    )


def test_many_that_are_not_due_do_not_hide_those_that_are(database):
    add_sources(database, 150, next_poll_at=NOON + TICK, site="later")
    due = add_sources(database, 10, next_poll_at=NOON, site="due")
    assert take_due(database, limit=10) == [source.id for source in due]


HIDDEN = {
    "held by others": {"claim_token": "another's", "claim_expires_at": NOON + TICK},
    "expected elsewhere": {"hint_until": NOON + TICK},
    "failed": {"status": "failed"},
    "gone": {"status": "gone"},
}


@pytest.mark.parametrize("state", HIDDEN.values(), ids=HIDDEN)
def test_the_limit_counts_only_what_can_be_taken(database, state):
    """Fifty sources, all longer overdue, none to be had: the next tick sees past them."""
    add_sources(database, 50, next_poll_at=EVER, site="hidden")
    change(database, PollStateRow, state)
    due = add_sources(database, 3, next_poll_at=NOON, site="due")
    assert take_due(database, limit=3) == [source.id for source in due]


@pytest.mark.parametrize("state", [*TAKEN.values()][:3], ids=[*TAKEN][:3])
def test_one_source_is_taken(database, state):
    add_source(database)
    change(database, PollStateRow, state)
    assert take(database, 1)
    assert holders(database) == {1: "mine"}


REGARDLESS = {name: state for name, state in LEFT.items() if "another one holds" not in name}


@pytest.mark.parametrize("state", REGARDLESS.values(), ids=REGARDLESS)
def test_one_source_is_taken_due_or_not(database, state):
    """Whether it may be polled is decided afterwards, by reading its state again."""
    add_source(database)
    change(database, PollStateRow, state)
    assert take(database, 1)


def test_a_source_that_another_one_holds_is_not_taken_before_the_claim_expires(database):
    add_source(database)
    assert take(database, 1, token="first")
    assert not take(database, 1, token="second", at=NOON + LEASE - TICK)
    assert holders(database) == {1: "first"}
    assert take(database, 1, token="second", at=NOON + LEASE)
    assert row(database, PollStateRow)["claim_expires_at"] == NOON + LEASE + LEASE


def test_nobody_takes_a_source_twice_not_even_its_holder(database):
    add_source(database)
    assert take(database, 1)
    assert not take(database, 1)


def test_a_source_that_is_not_there_is_not_taken(database):
    assert not take(database, 7)


def test_renewing_moves_the_expiry(database):
    add_sources(database, 2)
    take_due(database)
    renew(database, 1, at=NOON + minutes(3))
    assert [row["claim_expires_at"] for row in rows(database, PollStateRow)] == [
        NOON + minutes(3) + LEASE,
        NOON + LEASE,
    ]


def test_an_expired_claim_that_nobody_took_can_be_renewed(database):
    add_source(database)
    take(database, 1)
    renew(database, 1, at=NOON + LEASE + LEASE)
    assert not take(database, 1, token="another's", at=NOON + LEASE + LEASE)


LOST = {
    "another one took it": {"claim_token": "another's", "claim_expires_at": NOON + TICK},
    "it was released": {"claim_token": None, "claim_expires_at": None},
}


@pytest.mark.parametrize("state", LOST.values(), ids=LOST)
def test_a_lost_claim_cannot_be_renewed(database, state):
    add_source(database)
    take(database, 1)
    change(database, PollStateRow, state)
    before = row(database, PollStateRow)
    with pytest.raises(ClaimLost) as lost:
        renew(database, 1)
    assert lost.value.source_id == 1
    assert row(database, PollStateRow) == before


def test_releasing_frees_the_named_sources_that_are_ours_and_no_others(database):
    add_sources(database, 4)
    take_due(database, token="mine", limit=3)
    take(database, 4, token="another's")
    release(database, [2, 3, 4])
    assert holders(database) == {1: "mine", 2: None, 3: None, 4: "another's"}
    assert rows(database, PollStateRow)[1]["claim_expires_at"] is None


@pytest.mark.parametrize("sources", [[], [99], [1, 1]])
def test_releasing_what_is_not_ours_or_not_there_is_nothing(database, sources):
    add_source(database)
    take(database, 1, token="another's")
    release(database, sources)
    assert holders(database) == {1: "another's"}


def test_a_released_source_is_due_as_it_was(database):
    add_source(database, next_poll_at=NOON)
    before = row(database, PollStateRow)
    take_due(database)
    release(database, [1])
    assert row(database, PollStateRow) == before
    assert take_due(database) == [1]


def test_claims_that_have_expired_are_freed_and_no_others(database):
    add_sources(database, 4)
    take(database, 1, at=NOON - LEASE)
    take(database, 2, at=NOON - LEASE + TICK)
    take(database, 3, at=NOON - LEASE - TICK)
    with database.write() as session:
        assert claims.free_expired(session, instant=NOON) == 2
        assert claims.free_expired(session, instant=NOON) == 0
    assert holders(database) == {1: None, 2: "mine", 3: None, 4: None}
    assert rows(database, PollStateRow)[0]["claim_expires_at"] is None


def many_states(database: Database, count: int) -> None:
    """Sources of which one in a hundred is due, copied from one in bulk."""
    add_source(database)
    (source,), (state,) = rows(database, SourceRow), rows(database, PollStateRow)
    texts = [name for name in source if name.startswith("url")]
    numbers = range(2, count + 1)
    with database.write() as session:
        session.execute(
            insert(SourceRow),
            [source | {"id": n} | dict.fromkeys(texts, f"copy {n}") for n in numbers],
        )
        session.execute(
            insert(PollStateRow),
            [
                state | {"source_id": n, "next_poll_at": NOON + minutes(n if n % 100 else 0)}
                for n in numbers
            ],
        )


def plan_of_the_claim(database: Database) -> str:
    """How the database goes about the statement that a tick claims by, in its own words."""
    plans: list[str] = []

    def explain(connection, cursor, statement, parameters, *rest) -> None:
        if statement.startswith("WITH due"):
            # A statement that was prepared with a parameter in the place of the index's
            # condition may be planned without the index.
            assert "status = 'idle'" in statement
            how = (
                "EXPLAIN"
                if isinstance(connection.dialect, postgresql.dialect)
                else ("EXPLAIN QUERY PLAN")
            )
            cursor.execute(f"{how} {statement}", parameters)
            plans.extend(str(line) for line in cursor.fetchall())

    event.listen(database._engine, "before_cursor_execute", explain)
    try:
        take_due(database, limit=10)
    finally:
        event.remove(database._engine, "before_cursor_execute", explain)
    return "\n".join(plans)


def test_a_tick_finds_what_is_due_by_the_index_and_in_its_order(database, database_url):
    """It looks at due sources only, however many there are; none is sorted."""
    many_states(database, 3_000)
    is_postgres = database_url.startswith("postgresql")
    if is_postgres:
        as_administrator(database_url, "ANALYZE")
    else:
        with database.write() as session:
            session.execute(text("ANALYZE"))
    plan = plan_of_the_claim(database)
    before, index, after = plan.partition("poll_states_due")
    assert index, plan
    looked_at = before if is_postgres else before + after
    for words in ("Seq Scan", "Sort", "SCAN poll_states", "SCAN sources", "TEMP B-TREE"):
        assert words not in looked_at, plan
