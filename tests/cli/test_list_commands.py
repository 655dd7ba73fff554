"""``add``, ``sources``, ``items``, ``runs``, ``enable``, ``disable``: text and JSON documents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from sourcemon.core.poll_state import PollStatus
from sourcemon.core.schedule import Objection, ObjectionName
from sourcemon.core.sources import SourceId
from sourcemon.operations.deps import Deps
from tests.cli.conftest import NOON, Run
from tests.cli.fake_site import FakeSite, Feed

Watch = Callable[..., SourceId]
URL = "https://site.test/feed"

SOURCE_KEYS = ["id", "kind", "url", "name", "interval_s", "enabled", "created_at"]
OVERVIEW_KEYS = [
    *SOURCE_KEYS,
    *("standing", "next_poll_at", "binding", "grade", "success_rate", "items", "last_polled_at"),
    *("last_success_at", "consecutive_failures", "last_error"),
]
RUN_KEYS = [
    *("id", "source_id", "source_name", "status", "forced", "started_at", "finished_at"),
    *("duration_ms", "http_status", "bytes_received", "pages_fetched", "counters", "stop_reason"),
    *("error_category", "error", "decision"),
]
ITEM_KEYS = [
    *("id", "source_id", "source_name", "guid", "url", "title", "author", "published_at"),
    *("updated_at", "first_seen_at", "last_seen_at"),
]
OUTCOME_KEYS = [
    *("source_id", "source_name", "outcome", "kind", "reason", "until", "run_id", "status"),
    *("http_status", "counters", "stop_reason", "error_category", "error", "grade"),
    *("next_poll_at", "binding"),
]


@pytest.fixture
def polled(run: Run, watch: Watch, site: FakeSite) -> None:
    """One source that was polled once and has two items."""
    watch(URL, "The feed")
    site.feeds[URL] = Feed(titles=("One", "Two"))
    run("poll", 1)


def test_add_tells_the_source_and_what_comes_next(run: Run) -> None:
    ran = run("add", "site.test/feed", "--name", "The feed", "--every", "15m")

    assert ran.code == 0
    assert ran.out.splitlines() == [
        "Added source 1, The feed",
        "https://site.test/feed, every 15 min",
        "The first poll is due now: `sourcemon poll 1`",
    ]


def test_every_command_names_its_database_on_stderr(run: Run, deps: Deps, polled) -> None:
    commands = (
        ["add", "https://other.test/"],
        ["sources"],
        ["poll", "1"],
        ["poll", "--due"],
        ["why", "1"],
        ["items"],
        ["runs"],
        ["enable", "1"],
        ["disable", "1"],
    )
    for arguments in commands:
        for mode in ([], ["--json"]):
            ran = run(*arguments, *mode)
            assert ran.err.splitlines()[0] == f"database: {deps.database.shown}"
            assert "database:" not in ran.out


def test_sources_tells_health_items_and_the_next_poll(run: Run, polled) -> None:
    header, row = run("sources").out.splitlines()

    assert header.split("  ")[0:2] == ["ID", "Name"]
    assert row == (
        " 1  The feed  feed  30 min  working      2  2026-12-01 13:00:00 CET"
        "  2026-12-01 13:30:00 CET  cadence_due_at: every 30 min"
    )


def test_sources_tells_who_waits_for_a_person(run: Run, watch: Watch, set_state) -> None:
    for number in range(4):
        watch(f"{URL}{number}", f"Feed {number}")
    set_state(1, status=PollStatus.GONE, last_error="HTTP 410")
    set_state(2, status=PollStatus.FAILED, last_error="HTTP 401")
    run("disable", 3)

    rows = [line.split() for line in run("sources").out.splitlines()[1:]]

    assert [row[9] for row in rows] == ["gone", "failed", "switched", "due"]
    assert " ".join(rows[0][10:]) == "HTTP 410; `sourcemon enable 1` to try again"
    assert " ".join(rows[2][11:]) == "`sourcemon enable 3` switches it on"


EMPTY = {
    "sources": "Nothing is watched yet: `sourcemon add https://example.org/feed.xml`",
    "items": "No items yet: `sourcemon poll --due` polls what is due",
    "runs": "No polls yet: `sourcemon poll --due` polls what is due",
}


@pytest.mark.parametrize("command, hint", EMPTY.items(), ids=EMPTY)
def test_an_empty_list_says_what_to_do(run: Run, command, hint) -> None:
    assert run(command).out == f"{hint}\n"
    assert run(command, "--json").document == []


def test_items_and_runs_are_listed_newest_first_and_as_many_as_asked_for(run: Run, polled) -> None:
    assert [item["title"] for item in run("items", "--json").document] == ["One", "Two"]
    assert len(run("items", "1", "--limit", "1", "--json").document) == 1
    header, row = run("items", "--limit", "1").out.splitlines()
    assert header.split() == ["Item", "Source", "Published", "Title", "URL"]
    assert row == "   2  The feed  –          One    https://site.test/1"
    header, row = run("runs").out.splitlines()
    assert row.split()[4:] == ["13:00:00", "CET", "completed", "200", "2", "0", "0.0", "s"]


def test_enable_and_disable_tell_how_the_sources_stand(run: Run, watch: Watch, set_state) -> None:
    watch(URL, "The feed")
    set_state(1, Objection(ObjectionName.FLOOR, NOON + timedelta(hours=1), "max-age=3600"))

    assert run("disable", 1).out.splitlines() == [
        "1 The feed: switched off",
        "No next poll — switched off: `sourcemon enable 1` switches it on",
    ]
    assert run("enable", 1).out.splitlines() == [
        "1 The feed: switched on",
        "Next poll 2026-12-01 14:00:00 CET — poll_floor_until: max-age=3600",
    ]


def test_enable_lets_a_gone_source_be_polled_again(run: Run, watch: Watch, set_state) -> None:
    watch()
    set_state(1, status=PollStatus.GONE, last_error="HTTP 410")

    assert run("enable", 1, "--json").document[0]["standing"] == "due"


def test_documents_have_the_same_keys_as_ever(run: Run, polled, site: FakeSite) -> None:
    assert list(run("add", "https://other.test/", "--json").document) == SOURCE_KEYS
    assert [list(one) for one in run("sources", "--json").document] == [OVERVIEW_KEYS] * 2
    assert [list(one) for one in run("enable", 1, 2, "--json").document] == [OVERVIEW_KEYS] * 2
    assert list(run("items", "--json").document[0]) == ITEM_KEYS
    assert list(run("runs", "--json").document[0]) == RUN_KEYS
    site.feeds["https://other.test/"] = Feed(titles=("One",))
    assert [list(one) for one in run("poll", 1, 2, "--json").document] == [OUTCOME_KEYS] * 2


def test_documents_have_instants_in_utc_and_enums_as_text(run: Run, polled) -> None:
    (source,) = run("sources", "--json").document

    assert source["last_polled_at"] == "2026-12-01T12:00:00+00:00"
    assert source["next_poll_at"] == "2026-12-01T12:30:00+00:00"
    assert source["standing"] == "waiting"
    assert (source["grade"], source["success_rate"]) == ("working", 1.0)
    assert source["binding"] == {
        "name": "cadence_due_at",
        "until": "2026-12-01T12:30:00+00:00",
        "because": "every 30 min",
    }


def test_a_source_that_waits_for_a_person_has_no_next_poll(run: Run, polled, watch: Watch) -> None:
    run("disable", 1)

    assert run("sources", "--json").document[0]["next_poll_at"] is None


def test_the_documents_of_a_poll_tell_what_it_came_to(run: Run, watch: Watch, site) -> None:
    watch(URL, "The feed")
    site.feeds[URL] = Feed(titles=("One",))

    (first,) = run("poll", 1, "--json").document
    (second,) = run("poll", 1, "--json").document

    assert (first["outcome"], first["status"], first["run_id"]) == ("NewItems", "completed", 1)
    assert first["counters"]["created"] == 1
    assert (second["outcome"], second["kind"], second["run_id"]) == ("Deferred", "not_due", None)
    assert second["until"] == second["binding"]["until"] == "2026-12-01T12:30:00+00:00"
    assert second["counters"] is None


def test_a_gone_source_has_no_next_poll_in_the_document(run: Run, watch: Watch, site) -> None:
    watch(URL)
    site.feeds[URL] = Feed(status=410)

    ran = run("poll", 1, "--json")

    assert (ran.code, ran.document[0]["next_poll_at"]) == (1, None)
