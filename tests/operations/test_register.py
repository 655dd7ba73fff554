"""Adding sources and switching them on and off: what an operator asks for, or is refused."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import timedelta

import pytest
from sqlalchemy import event

from sourcemon.core.decisions import EVER
from sourcemon.core.poll_state import PollState, PollStatus, RetryProgress
from sourcemon.core.replies import ErrorCategory, Validators
from sourcemon.core.schedule import NEVER, Objection, ObjectionName
from sourcemon.core.sources import SourceId, SourceKind
from sourcemon.errors import BadUrl, DuplicateSource, Refused, UnknownSource
from sourcemon.operations import register
from sourcemon.operations.evaluate_health import evaluate_health
from sourcemon.operations.fetch_page import fetch_page
from sourcemon.operations.persist_page import persist_page
from sourcemon.store import polls
from sourcemon.store.tables import HealthStateRow, PollStateRow, SourceRow
from tests.operations.site import no_answer, status
from tests.operations.watched import everything
from tests.store.stored import NOON, minutes, rows

URL = "https://kiosk.test/feed"
ALL = (SourceRow, PollStateRow, HealthStateRow)


def test_a_new_source_is_due_at_once_and_nobody_was_asked(deps, site):
    source = register.add(deps, URL)
    assert (source.id, source.kind, source.url) == (1, SourceKind.FEED, URL)
    assert (source.enabled, source.created_at) == (True, NOON)
    assert source.interval == deps.policies.default_interval
    state = rows(deps.database, PollStateRow)[0]
    assert (state["source_id"], state["next_poll_at"], state["status"]) == (1, EVER, "idle")
    assert rows(deps.database, HealthStateRow)[0]["grade"] is None
    assert site.asked == []


STORED_AS = {
    "without a scheme": ("kiosk.test/feed", URL),
    "in capitals": ("HTTPS://KIOSK.test/Feed", "https://kiosk.test/Feed"),
    "as a feed link": ("feed://kiosk.test/feed", URL),
    "as a feed link of another kind": ("feed:http://kiosk.test/feed", "http://kiosk.test/feed"),
    "with a default port and a fragment": ("https://kiosk.test:443/feed#top", URL),
    "with blanks around": ("  https://kiosk.test/feed\n", URL),
}


@pytest.mark.parametrize(("typed", "stored"), STORED_AS.values(), ids=STORED_AS)
def test_a_url_may_be_typed(deps, typed, stored):
    assert register.add(deps, typed).url == stored


NAMES = {
    "none": (None, "kiosk.test/feed"),
    "one with blanks": ("  The \t Kiosk\n", "The Kiosk"),
    "one as long as can be": ("x" * 200, "x" * 200),
    "one with characters no database holds": ("a\x00b\ud800", "ab\ufffd"),
}


@pytest.mark.parametrize(("given", "stored"), NAMES.values(), ids=NAMES)
def test_a_name_may_be(deps, given, stored):
    assert register.add(deps, URL, name=given).name == stored
    assert rows(deps.database, SourceRow)[0]["name"] == stored


REFUSED = {
    "an empty name": (URL, {"name": ""}, Refused, "a name has 1 to 200"),
    "a name of blanks": (URL, {"name": " \x00 "}, Refused, "a name has 1 to 200"),
    "a name that is too long": (URL, {"name": "x" * 201}, Refused, "this one has 201"),
    "an interval that is too short": (
        URL,
        {"interval": timedelta(seconds=9)},
        Refused,
        "between 10 seconds and 30 days",
    ),
    "an interval that is too long": (
        URL,
        {"interval": timedelta(days=30, seconds=1)},
        Refused,
        "between 10 seconds and 30 days",
    ),
    "an interval that goes back": (
        URL,
        {"interval": timedelta(seconds=-60)},
        Refused,
        "between 10 seconds and 30 days",
    ),
    "another scheme": ("ftp://kiosk.test/feed", {}, BadUrl, "only http and https"),
    "no host": ("https:///feed", {}, BadUrl, "names no host"),
    "credentials": ("https://me:secret@kiosk.test/", {}, BadUrl, "credentials do not belong"),
}


@pytest.mark.parametrize(("url", "options", "error", "words"), REFUSED.values(), ids=REFUSED)
def test_refused_and_not_stored_is(deps, url, options, error, words):
    with pytest.raises(error, match=words) as refused:
        register.add(deps, url, **options)
    assert "secret" not in str(refused.value)
    assert everything(deps, *ALL) == [[], [], []]


def test_an_interval_of_zero_is_refused_and_not_taken_for_none(deps):
    with pytest.raises(Refused, match="between 10 seconds and 30 days"):
        register.add(deps, URL, interval=timedelta(0))


def test_a_source_that_is_watched_already_is_named(deps):
    register.add(deps, URL, name="Kiosk")
    before = everything(deps, *ALL)
    with pytest.raises(DuplicateSource, match=r"source 1 \(Kiosk\)"):
        register.add(deps, "http://kiosk.test/feed/")
    assert everything(deps, *ALL) == before


def test_a_source_that_is_switched_off_keeps_its_state(kiosk, feed, deps):
    feed.publish("one")
    kiosk.result()
    before = kiosk.state
    assert not register.disable(deps, kiosk.source.id).enabled
    assert kiosk.state == before
    assert kiosk.row["next_poll_at"] == NEVER
    assert register.enable(deps, kiosk.source.id).enabled
    assert kiosk.state == before
    assert kiosk.row["next_poll_at"] == NOON + minutes(30)


def test_switching_twice_is_as_once(kiosk, deps):
    for switch, enabled, cached in (
        (register.disable, False, NEVER),
        (register.enable, True, EVER),
    ):
        for _ in range(2):
            assert switch(deps, kiosk.source.id).enabled is enabled
            assert kiosk.row["next_poll_at"] == cached


def test_enabling_lifts_nothing_that_a_server_asked_for(kiosk, deps):
    asked = Objection(ObjectionName.RETRY, NOON + minutes(90), "Retry-After: 5400")
    kiosk.object_to(asked)
    kiosk.change({"status": "failed"})
    register.enable(deps, kiosk.source.id)
    assert kiosk.state.status is PollStatus.IDLE
    assert kiosk.row["next_poll_at"] == asked.until
    assert kiosk.deferral(force=True).objection == asked


def test_enabling_ends_our_own_back_off_and_keeps_our_interval(kiosk, feed, deps):
    """Somebody acted: nothing of ours need wait for what they may have mended."""
    feed.then(status(410, {"X-Poll-Interval": "60"}))
    kiosk.result()
    assert kiosk.row["next_poll_at"] == NEVER
    register.enable(deps, kiosk.source.id)
    assert kiosk.objections == {
        ObjectionName.CADENCE: NOON + minutes(30),
        ObjectionName.FLOOR: NOON + minutes(1),
    }
    assert kiosk.row["next_poll_at"] == NOON + minutes(30)
    assert kiosk.state.retry == RetryProgress()


def test_enabling_closes_a_circuit(kiosk, feed, deps):
    feed.then(*[no_answer(ErrorCategory.TIMEOUT, "no answer for 15 s")] * 3)
    for _ in range(3):
        kiosk.wait_until_due()
        kiosk.result()
    assert ObjectionName.CIRCUIT in kiosk.objections
    register.enable(deps, kiosk.source.id)
    assert set(kiosk.objections) == {ObjectionName.CADENCE}
    assert kiosk.state.retry == RetryProgress()


@contextlib.contextmanager
def in_the_middle_of(deps, words: str, happens) -> Iterator[None]:
    """Let something happen in another thread before the first statement with these words runs.

    It has a moment to get done; a lock may keep it waiting until the statement's transaction ends.
    """
    begun: list[Future[None]] = []

    def once(*args) -> None:
        if words in args[2] and not begun:
            begun.append(pool.submit(happens))
            wait(begun, timeout=0.2)

    engine = deps.database._engine
    with ThreadPoolExecutor() as pool:
        event.listen(engine, "before_cursor_execute", once)
        try:
            yield
        finally:
            event.remove(engine, "before_cursor_execute", once)
    begun[0].result()


def test_what_a_server_asks_for_while_an_operator_enables_the_source_is_kept(
    kiosk, deps, other_worker
):
    """No operation but the passing of time lowers a server's objection."""
    asked = Objection(ObjectionName.RETRY, NOON + minutes(90), "Retry-After: 5400")

    def hint() -> None:
        with other_worker.database.write() as session:
            polls.raise_objections(session, kiosk.source.id, [asked])

    with in_the_middle_of(deps, "UPDATE poll_states", hint):
        register.enable(deps, kiosk.source.id)
    assert kiosk.objections == {ObjectionName.RETRY: asked.until}


def test_a_verdict_that_is_written_while_an_operator_enables_the_source_stands(
    kiosk, feed, deps, other_worker
):
    feed.publish("one")
    verdict = kiosk.begun(by=other_worker)
    fetch_page(other_worker, verdict)
    persist_page(other_worker, verdict)
    with in_the_middle_of(
        deps, "UPDATE poll_states", lambda: evaluate_health(other_worker, verdict)
    ):
        register.enable(deps, kiosk.source.id)
    assert kiosk.state.last_success_at == NOON
    assert kiosk.state.validators == Validators(feed.etag, None)
    assert kiosk.objections == {ObjectionName.CADENCE: NOON + minutes(30)}
    assert kiosk.row["next_poll_at"] == NOON + minutes(30)


def test_enabling_a_new_source_changes_nothing(kiosk, deps):
    before = kiosk.row
    register.enable(deps, kiosk.source.id)
    assert kiosk.row == before
    assert kiosk.state == PollState()


@pytest.mark.parametrize("switch", [register.enable, register.disable])
def test_what_is_not_there_cannot_be_switched(kiosk, deps, switch):
    before = everything(deps, *ALL)
    with pytest.raises(UnknownSource, match="no source 7"):
        switch(deps, SourceId(7))
    assert everything(deps, *ALL) == before
