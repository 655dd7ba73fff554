"""Every exception of a fetch has a meaning."""

from __future__ import annotations

import errno
import ssl

import httpcore
import httpx
import pytest

from sourcemon.core.replies import ErrorCategory
from sourcemon.net.failures import OURS, WORLD, failure_of, named_host
from sourcemon.net.redirects import askable_url
from sourcemon.net.transport import _HTTPX_FOR

HTTPX_EXCEPTIONS = {
    name: kind
    for name, kind in vars(httpx).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}
HTTPCORE_EXCEPTIONS = {
    name: kind
    for name, kind in vars(httpcore).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}


def test_the_trees_are_not_empty() -> None:
    assert len(HTTPX_EXCEPTIONS) > 20
    assert len(HTTPCORE_EXCEPTIONS) > 10


@pytest.mark.parametrize("kind", HTTPX_EXCEPTIONS.values(), ids=HTTPX_EXCEPTIONS)
def test_every_exception_of_httpx_is_the_worlds_or_ours(kind: type[Exception]) -> None:
    is_ours = issubclass(kind, OURS)
    assert (kind in WORLD) is not is_ours


@pytest.mark.parametrize("kind", HTTPCORE_EXCEPTIONS.values(), ids=HTTPCORE_EXCEPTIONS)
def test_every_exception_of_httpcore_becomes_one_of_httpx(kind: type[Exception]) -> None:
    if kind is httpcore.ConnectionNotAvailable:  # a connection is used once: would be our mistake
        assert kind not in _HTTPX_FOR
    else:
        assert _HTTPX_FOR[kind].__name__ == kind.__name__


CATEGORIES: dict[type[httpx.HTTPError], ErrorCategory] = {
    httpx.ConnectTimeout: ErrorCategory.TIMEOUT,
    httpx.ReadTimeout: ErrorCategory.TIMEOUT,
    httpx.PoolTimeout: ErrorCategory.TIMEOUT,
    httpx.ConnectError: ErrorCategory.NETWORK,
    httpx.ReadError: ErrorCategory.NETWORK,
    httpx.RemoteProtocolError: ErrorCategory.NETWORK,
    httpx.UnsupportedProtocol: ErrorCategory.REFUSED,
    httpx.TooManyRedirects: ErrorCategory.REFUSED,
    httpx.DecodingError: ErrorCategory.PARSE,
}


@pytest.mark.parametrize(("kind", "category"), CATEGORIES.items())
def test_categories(kind: type[httpx.HTTPError], category: ErrorCategory) -> None:
    failure = failure_of(kind("why"), host="kiosk.test:443")
    assert failure.category is category
    assert failure.message.startswith("kiosk.test:443 ")
    assert failure.message.endswith("(why)")


def test_a_subclass_has_the_meaning_of_its_nearest_known_class() -> None:
    class Stalled(httpx.ReadTimeout):
        pass

    assert failure_of(Stalled(""), host="h").category is ErrorCategory.TIMEOUT


def test_an_exception_of_ours_is_raised_again() -> None:
    with pytest.raises(httpx.LocalProtocolError):
        failure_of(httpx.LocalProtocolError("our mistake"), host="h")


def test_tls_is_found_behind_a_broken_connection() -> None:
    problem = httpx.ReadError("broken")
    problem.__cause__ = httpcore.ReadError("broken")
    problem.__cause__.__cause__ = ssl.SSLError(1, "certificate required")
    assert failure_of(problem, host="h").category is ErrorCategory.TLS


def test_a_quoted_server_is_made_printable_and_short() -> None:
    failure = failure_of(httpx.RemoteProtocolError("bad\r\nline \x1b[2J" + "x" * 500), host="h")
    assert failure.message.isprintable()
    assert len(failure.message) < 300


def test_a_text_that_is_no_url_still_has_a_name() -> None:
    assert named_host("http://[bad") == "the host"
    assert named_host("kiosk.test/feed") == "the host"
    assert named_host("ftp://kiosk.test/x") == "kiosk.test"
    assert named_host("https://kiosk.test/x") == "kiosk.test:443"


def test_a_machine_without_free_descriptors_blames_no_server() -> None:
    problem = httpx.ConnectError("Too many open files")
    problem.__cause__ = OSError(errno.EMFILE, "Too many open files")
    with pytest.raises(httpx.ConnectError):
        failure_of(problem, host="kiosk.test:443")


@pytest.mark.parametrize("url", ["http://xn--/", "http://xn--ls8h.la/"])
def test_a_name_that_is_none_in_letters_is_no_mistake_of_ours(url: str) -> None:
    with pytest.raises(httpx.InvalidURL):
        askable_url(url)
