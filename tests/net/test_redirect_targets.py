"""Where a redirect leads, and whether we go there."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core.replies import Headers
from sourcemon.net.redirects import Target, target_of

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
BASE = "https://kiosk.test/a/feed?x=1#top"


def target(location: str | bytes | None, *, status: int = 302, more: str = "") -> Target | None:
    fields: list[tuple[str, str]] = []
    if location is not None:
        text = location if isinstance(location, str) else location.decode("latin-1")
        fields.append(("location", text))
    if more:
        fields.append(("Retry-After", more))
    return target_of(BASE, status, Headers(tuple(fields)), received_at=NOW)


GOES_TO = {
    "absolute": ("https://other.test/feed", "https://other.test/feed"),
    "without a path": ("https://other.test", "https://other.test"),
    "relative to the host": ("/new", "https://kiosk.test/new"),
    "relative to the folder": ("new", "https://kiosk.test/a/new"),
    "one folder up": ("../new", "https://kiosk.test/new"),
    "only a query": ("?page=2", "https://kiosk.test/a/feed?page=2"),
    "without a scheme": ("//cdn.test/x", "https://cdn.test/x"),
    "the fragment is dropped": ("/new#part", "https://kiosk.test/new"),
    "userinfo is dropped": ("https://user:secret@other.test/x", "https://other.test/x"),
    "root dot and default port are dropped": ("https://Other.Test.:443/x", "https://other.test/x"),
    "another port is kept": ("https://other.test:8443/x", "https://other.test:8443/x"),
    "blanks around it": ("  /new\t", "https://kiosk.test/new"),
    "a blank inside": ("/a b?c d", "https://kiosk.test/a%20b?c%20d"),
    "percent-encoded bytes stay": ("/%D1%81%20a?q=%2F", "https://kiosk.test/%D1%81%20a?q=%2F"),
    "UTF-8 bytes in the path": ("/café".encode(), "https://kiosk.test/caf%C3%A9"),
    "Latin-1 bytes in the path": (b"/caf\xe9", "https://kiosk.test/caf%E9"),
    "UTF-8 bytes in the host": ("https://bücher.test/".encode(), "https://xn--bcher-kva.test/"),
    "an IPv6 address": (
        "https://[2606:2800:220:1::1]:8443/x",
        "https://[2606:2800:220:1::1]:8443/x",
    ),
}


@pytest.mark.parametrize(("location", "url"), GOES_TO.values(), ids=GOES_TO)
def test_goes_to(location: str | bytes, url: str) -> None:
    assert target(location) == Target(url=url)


IS_AN_ANSWER = {
    "no Location": None,
    "empty": "",
    "blank": " \t",
    "a control character": "/a\x01b",
    "a tab inside": "/a\tb",
    "no host": "http:///x",
    "only a root dot": "https://./x",
    "port zero": "https://other.test:0/",
    "a port beyond the last": "https://other.test:65536/",
    "a port that is no number": "https://other.test:http/",
    "a broken IPv6 address": "https://[::1/",
    "no IPv6 address": "https://[x]/",
    "an IPv4 address in octal": "https://0177.0.0.1/",
    "no possible name": "https://\xff.test/",
    "no possible name in UTF-8": "https://" + "\u2603".encode().decode("latin-1") + ".test/",
    "blanks in the host": "https://other host.test/",
}


@pytest.mark.parametrize("location", IS_AN_ANSWER.values(), ids=IS_AN_ANSWER)
def test_an_unusable_location_makes_the_redirect_an_answer(location: str | None) -> None:
    assert target(location) is None


REFUSED = {
    "from https to http": "http://kiosk.test/feed",
    "another scheme": "ftp://kiosk.test/feed",
    "a local file": "file:///etc/passwd",
    "no host in it": "mailto:op@kiosk.test",
}


@pytest.mark.parametrize("location", REFUSED.values(), ids=REFUSED)
def test_refused(location: str) -> None:
    found = target(location)
    assert found is not None
    assert found.refusal


def test_from_http_to_https_is_no_downgrade() -> None:
    headers = Headers((("Location", "https://kiosk.test/"),))
    assert target_of("http://kiosk.test/", 301, headers, received_at=NOW) == Target(
        url="https://kiosk.test/"
    )


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_followed_statuses(status: int) -> None:
    assert target("/new", status=status) is not None


@pytest.mark.parametrize("status", [200, 201, 300, 304, 305, 306, 404])
def test_other_statuses_are_answers_whatever_their_location(status: int) -> None:
    assert target("/new", status=status) is None


RETRY_AFTER = {
    "seconds": ("120", False),
    "a date ahead": ("Sat, 10 Jan 2026 13:00:00 GMT", False),
    "zero seconds": ("0", True),
    "a date in the past": ("Wed, 21 Oct 2015 07:28:00 GMT", True),
    "unreadable": ("soon", True),
}


@pytest.mark.parametrize(("value", "followed"), RETRY_AFTER.values(), ids=RETRY_AFTER)
def test_retry_after_on_a_redirect(value: str, followed: bool) -> None:
    assert (target("/new", more=value) is not None) is followed


@given(st.text(st.characters(min_codepoint=1, max_codepoint=255), max_size=60))
def test_no_location_raises_or_leads_away_from_https(location: str) -> None:
    found = target(location)
    if found is not None and found.refusal is None:
        assert found.url.startswith("https://")
        assert found.url.isascii()
        assert "#" not in found.url
