"""Whatever is typed wrongly gets one line on stderr that names it and the fix, and exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sourcemon import wiring
from sourcemon.core.sources import SourceId
from sourcemon.operations.deps import Deps, Policies
from tests.cli.conftest import Run
from tests.cli.fake_site import FakeSite

BAD = {
    "an id that is no number": (["why", "abc"], "'abc' is no source id; `sourcemon sources`"),
    "an id with a sign": (["poll", "+1"], "'+1' is no source id"),
    "an id in foreign digits": (["poll", "\u0661"], "is no source id"),
    "an id of nothing": (["poll", ""], "'' is no source id"),
    "an unknown id": (["why", "7"], "there is no source 7; `sourcemon sources` lists them"),
    "an unknown id to poll": (["poll", "7"], "there is no source 7"),
    "an unknown id to list items of": (["items", "7"], "there is no source 7"),
    "an unknown id to list runs of": (["runs", "7"], "there is no source 7"),
    "an unknown id to enable": (["enable", "7"], "there is no source 7"),
    "an unknown id to disable": (["disable", "7"], "there is no source 7"),
    "the id zero": (["why", "0"], "there is no source 0"),
    "an id that no database can hold": (["why", "9" * 20], f"there is no source {'9' * 20}"),
    "an id without end": (["why", "9" * 5000], "there is no source 9"),
    "an interval that is a fruit": (
        ["add", "https://a.test/", "--every", "banana"],
        "'banana' is no interval; write e.g. 15m, 1h30m, 2d or seconds as 900",
    ),
    "an interval of nothing": (["add", "https://a.test/", "--every", ""], "'' is no interval"),
    "an interval of zero": (
        ["add", "https://a.test/", "--every", "0"],
        "an interval is between 10 seconds and 30 days",
    ),
    "an interval too short": (["add", "https://a.test/", "--every", "9"], "between 10 seconds"),
    "an interval too long": (["add", "https://a.test/", "--every", "31d"], "and 30 days"),
    "an interval in a wrong order": (
        ["add", "https://a.test/", "--every", "30m1h"],
        "'30m1h' is no interval",
    ),
    "an interval below zero": (
        ["add", "https://a.test/", "--every", "-5m"],
        "'-5m' is no interval",
    ),
    "a URL of another scheme": (["add", "ftp://a.test/"], "only http and https can be polled"),
    "a URL without a host": (["add", "https://"], "it names no host"),
    "a URL with credentials": (["add", "https://u:secret@a.test/"], "credentials do not belong"),
    "a name of nothing": (["add", "https://a.test/", "--name", " "], "a name has 1 to 200"),
    "no URL": (["add"], "Missing argument 'URL'. (see `sourcemon add --help`)"),
    "nothing to poll": (["poll"], "which sources? give ids, as in `sourcemon poll 3`, or --due"),
    "ids and what is due": (["poll", "1", "--due"], "give ids or --due, not both"),
    "force for what is due": (["poll", "--due", "--force"], "give their ids instead of --due"),
    "a limit of zero": (["items", "--limit", "0"], "Invalid value for '--limit'"),
    "a limit that is no number": (["runs", "--limit", "all"], "Invalid value for '--limit'"),
    "an unknown option": (["poll", "--fource"], "--fource"),
    "an unknown command": (["pol"], "'pol'. Did you mean 'poll'? (see `sourcemon --help`)"),
    "an unknown db command": (["db", "downgrade"], "'downgrade'"),
}


@pytest.mark.parametrize("arguments, line", BAD.values(), ids=BAD)
def test_bad_input_is_one_line_and_exit_2(run: Run, site: FakeSite, arguments, line) -> None:
    ran = run(*arguments)

    assert ran.code == 2
    assert ran.out == ""
    (error,) = ran.errors
    assert error.startswith("error: ")
    assert line in error
    assert "secret" not in error
    assert site.asked == []


INTERVALS = {
    "900": 900,
    "15m": 900,
    "1h30m": 5_400,
    "1H30M": 5_400,
    " 2d ": 172_800,
    "90s": 90,
    "1d2h3m4s": 93_784,
    "30d": 2_592_000,
}


@pytest.mark.parametrize("text, seconds", INTERVALS.items(), ids=INTERVALS)
def test_an_interval_is_read(run: Run, text, seconds) -> None:
    assert (
        run("add", "https://a.test/", "--every", text, "--json").document["interval_s"] == seconds
    )


def test_a_url_that_is_watched_already_is_refused_with_its_id(
    run: Run, watch: Callable[..., SourceId]
) -> None:
    watch("https://site.test/feed", "The feed")

    ran = run("add", "http://SITE.test/feed#top")

    assert ran.code == 2
    assert ran.errors == ["error: http://site.test/feed is already watched as source 1 (The feed)"]


@pytest.mark.parametrize(
    "arguments", [["add", "https://b.test/"], ["poll", "1"], ["poll", "--due"]]
)
def test_without_a_contact_nothing_leaves_this_machine(
    run: Run, deps: Deps, watch: Callable[..., SourceId], site: FakeSite, arguments
) -> None:
    watch()
    with wiring.use(replace(deps, policies=Policies(contact=None))):
        ran = run(*arguments)

    assert ran.code == 2
    (error,) = ran.errors
    assert "SOURCEMON_CONTACT" in error
    assert site.asked == []


def test_one_unknown_id_keeps_all_from_being_polled(
    run: Run, watch: Callable[..., SourceId], site: FakeSite
) -> None:
    watch()

    assert run("poll", 1, 2).code == 2
    assert site.asked == []


def test_one_unknown_id_keeps_all_from_being_switched(
    run: Run, watch: Callable[..., SourceId]
) -> None:
    watch()

    assert run("disable", 1, 2).code == 2
    assert run("sources", "--json").document[0]["enabled"] is True
