"""URLs as typed, as stored, and as compared; credentials are never repeated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.core.cadence import is_public_host
from sourcemon.core.urls import MAX_URL_LENGTH, comparable_url, host_of, origin_of, pollable_url
from sourcemon.errors import BadUrl

POLLABLE = {
    "as it is": ("https://a.test/feed", "https://a.test/feed"),
    "http stays http": ("http://a.test/feed", "http://a.test/feed"),
    "blanks around": (" \thttps://a.test/feed\n", "https://a.test/feed"),
    "no path": ("https://a.test", "https://a.test/"),
    "no path but a query": ("https://a.test?feed=rss", "https://a.test/?feed=rss"),
    "scheme and host in capitals, path as it is": ("HTTPS://A.Test/Feed", "https://a.test/Feed"),
    "the root's dot": ("https://a.test./feed", "https://a.test/feed"),
    "a fragment": ("https://a.test/feed#top", "https://a.test/feed"),
    "the default port of https": ("https://a.test:443/feed", "https://a.test/feed"),
    "the default port of http": ("http://a.test:80/feed", "http://a.test/feed"),
    "the other's default port": ("http://a.test:443/feed", "http://a.test:443/feed"),
    "a port": ("https://a.test:8443/feed", "https://a.test:8443/feed"),
    "the highest port": ("https://a.test:65535/", "https://a.test:65535/"),
    "a colon without a port": ("https://a.test:/feed", "https://a.test/feed"),
    "no scheme": ("a.test/feed", "https://a.test/feed"),
    "no scheme, a port": ("a.test:8080/feed", "https://a.test:8080/feed"),
    "no scheme, a URL in the query": (
        "a.test/bridge?url=https://b.test/",
        "https://a.test/bridge?url=https://b.test/",
    ),
    "feed://": ("feed://a.test/feed", "https://a.test/feed"),
    "feed:https://": ("feed:https://a.test/feed", "https://a.test/feed"),
    "feed:http://": ("FEED:http://a.test/feed", "http://a.test/feed"),
    "feed: and no scheme": ("feed:a.test/feed", "https://a.test/feed"),
    "feed://https://": ("feed://https://a.test/feed", "https://a.test/feed"),
    "an address": ("http://192.0.2.7/feed", "http://192.0.2.7/feed"),
    "IPv6": ("http://[2001:DB8::7]/feed", "http://[2001:db8::7]/feed"),
    "IPv6 with a port": ("http://[::1]:8080/feed", "http://[::1]:8080/feed"),
    "IPv6 with the default port": ("http://[::1]:80/feed", "http://[::1]/feed"),
    "a name without a dot": ("http://nas/feed", "http://nas/feed"),
    "an international name": ("https://bücher.test/feed", "https://bücher.test/feed"),
    "an international name in capitals": ("https://BÜCHER.test/", "https://bücher.test/"),
    "an international name in ASCII": (
        "https://xn--bcher-kva.test/",
        "https://bücher.test/",
    ),
    "a name in ASCII that is none in letters": ("https://xn--a.test/", "https://xn--a.test/"),
    "joiners of letters": (
        "https://fa.test/\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "https://fa.test/\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    ),
    "percent signs stay": ("https://a.test/a%2Fb%20c", "https://a.test/a%2Fb%20c"),
    "other letters stay": ("https://a.test/über?q=ä", "https://a.test/über?q=ä"),
    "an at sign in the path": ("https://a.test/@me/feed", "https://a.test/@me/feed"),
    "an at sign in the query": ("https://a.test/?m=a@b.test", "https://a.test/?m=a@b.test"),
    "two slashes in the path": ("https://a.test//feed", "https://a.test//feed"),
    "as long as it may be": (
        "https://a.test/" + "x" * (MAX_URL_LENGTH - 15),
        "https://a.test/" + "x" * (MAX_URL_LENGTH - 15),
    ),
}


@pytest.mark.parametrize("text, expected", POLLABLE.values(), ids=POLLABLE)
def test_pollable_url(text, expected):
    assert pollable_url(text) == expected


BAD = {
    "nothing": ("", "no host"),
    "blanks": ("  ", "no host"),
    "a scheme alone": ("https://", "no host"),
    "a path alone": ("https:///feed", "no host"),
    "a port alone": ("https://:443/feed", "no host"),
    "a host of dots": ("https://./feed", "no host"),
    "a scheme with one slash": ("https:/a.test/feed", ""),
    "ftp": ("ftp://a.test/feed", "not 'ftp'"),
    "file": ("file:///etc/passwd", "not 'file'"),
    "javascript": ("javascript:alert(1)", ""),
    "data": ("data:text/xml,<rss/>", ""),
    "port 0": ("https://a.test:0/", "port 0"),
    "port 65536": ("https://a.test:65536/", "malformed"),
    "a negative port": ("https://a.test:-1/", "malformed"),
    "a port of letters": ("https://a.test:https/", "malformed"),
    "a port in another script": ("https://a.test:٨٠/", "malformed"),
    "two ports": ("https://a.test:80:80/", "malformed"),
    "two hosts": ("https://a.test,b.test/feed", "malformed"),
    "a backslash in the host": ("https://a.test\\b.test/feed", "malformed"),
    "IPv6 without its end": ("http://[::1/feed", "malformed"),
    "brackets without an address": ("http://[nobody]/feed", "malformed"),
    "a blank inside": ("https://a.test/a b", "white space"),
    "a blank in the host": ("https://a test/", "white space"),
    "a tab inside": ("https://a.test/a\tb", "white space"),
    "a line break inside": ("https://a.test/\r\nHost: b.test", "white space"),
    "NUL inside": ("https://a.test/\x00", "control"),
    "DEL inside": ("https://a.test/\x7f", "control"),
    "a control character of the second set": ("https://a.test/\x85b", "control"),
    "a blank that does not break": ("https://a.test/a\xa0b", "white space"),
    "a line separator": ("https://a.test/a\u2028b", "white space"),
    "a byte that is no text": ("https://a.test/\udcff", ""),
    "a host that becomes a path": ("https://a.test\u2100b.test/", "malformed"),
    "a user": ("https://bob@a.test/", "credentials"),
    "a user and a password": ("https://bob:hunter2@a.test/", "credentials"),
    "an empty user": ("https://@a.test/", "credentials"),
    "a user without a scheme": ("bob:hunter2@a.test/feed", "credentials"),
    "too long": ("https://a.test/" + "x" * MAX_URL_LENGTH, "longer than 8000"),
}


@pytest.mark.parametrize("text, words", BAD.values(), ids=BAD)
def test_a_bad_url_is_refused_with_its_reason(text, words):
    with pytest.raises(BadUrl) as refusal:
        pollable_url(text)
    assert words in str(refusal.value)
    assert len(str(refusal.value)) < 300


SECRETS = {
    "a password": "https://bob:hunter2@a.test/feed",
    "a token for a user": "https://hunter2@a.test/feed",
    "no scheme": "bob:hunter2@a.test/feed",
    "another scheme": "ftp://bob:hunter2@a.test/feed",
    "feed:": "feed://bob:hunter2@a.test/feed",
    "an impossible port": "https://bob:hunter2@a.test:99999/feed",
    "no host": "https://bob:hunter2@/feed",
    "a blank inside": "https://bob:hunter2@a.test/a b",
    "a blank in the password": "https://bob:my hunter2@a.test/",
    "an at sign in the password": "https://bob:my@hunter2@a.test/",
    "a slash in the password": "https://bob:my/hunter2@a.test/",
    "a question mark in the password": "https://bob:my?hunter2@a.test/",
    "a hash in the password": "https://bob:my#hunter2@a.test/",
    "brackets in the password": "https://bob:[hunter2@a.test/",
    "a very long password": "https://bob:hunter2" + "x" * MAX_URL_LENGTH + "@a.test/",
    "a very long path": "https://bob:hunter2@a.test/" + "x" * MAX_URL_LENGTH,
}


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_credentials_are_refused_and_never_repeated(text):
    with pytest.raises(BadUrl) as refusal:
        pollable_url(text)
    assert "hunter2" not in str(refusal.value)
    assert "hunter2" not in repr(refusal.value)
    assert refusal.value.__cause__ is None


url_like = st.lists(
    st.sampled_from(
        ["https", "http", "feed", ":", "/", "//", "a.test", "[::1]", ":80", "@", "?", "#", "x=1",
         ".", "%2F", "ü", "..", "&", ";", "A", "0", "[", "]", "\\", " "]
    ),
    max_size=10,
).map("".join)  # fmt: skip


@given(url_like | st.text())
def test_a_url_is_stored_in_one_form_or_refused(text):
    try:
        stored = pollable_url(text)
    except BadUrl:
        return
    assert pollable_url(stored) == stored
    assert stored.startswith(("https://", "http://"))
    assert host_of(stored) not in {":80", ":443"}


COMPARABLE = {
    "scheme": ("http://a.test/1", "//a.test/1"),
    "the other scheme": ("https://a.test/1", "//a.test/1"),
    "host in capitals": ("https://A.TEST/1", "//a.test/1"),
    "path in capitals stays": ("https://a.test/A", "//a.test/A"),
    "default port": ("https://a.test:443/1", "//a.test/1"),
    "another port stays": ("https://a.test:444/1", "//a.test:444/1"),
    "the root's dot": ("https://a.test./1", "//a.test/1"),
    "fragment": ("https://a.test/1#2", "//a.test/1"),
    "a slash at the end": ("https://a.test/1/", "//a.test/1"),
    "the root": ("https://a.test", "//a.test/"),
    "the root with its slash": ("https://a.test/", "//a.test/"),
    "blanks around": (" https://a.test/1 ", "//a.test/1"),
    "tracking": ("https://a.test/1?utm_source=a&UTM_Medium=b&fbclid=c&gclid=d", "//a.test/1"),
    "mail tracking": ("https://a.test/1?mc_cid=a&mc_eid=b", "//a.test/1"),
    "the bytes of the query stay": ("https://a.test/?q=%e4+b%20c;d", "//a.test/?q=%e4+b%20c;d"),
    "tracking among others": ("https://a.test/1?a=1&utm_id=2&b=3", "//a.test/1?a=1&b=3"),
    "the order of parameters stays": ("https://a.test/?b=1&a=2", "//a.test/?b=1&a=2"),
    "a parameter without a value stays": ("https://a.test/?a=&b=1", "//a.test/?a=&b=1"),
    "a parameter that only sounds like tracking": ("https://a.test/?utm=1", "//a.test/?utm=1"),
    "no URL": ("urn:uuid:1", "urn:uuid:1"),
    "no URL, trimmed": (" some words ", "some words"),
    "malformed": ("http://[::1/", "http://[::1/"),
    "an impossible port": ("http://a.test:x/", "http://a.test:x/"),
}


@pytest.mark.parametrize("url, expected", COMPARABLE.values(), ids=COMPARABLE)
def test_comparable_url(url, expected):
    assert comparable_url(url) == expected


@given(url_like | st.text())
def test_no_text_makes_comparing_raise(text):
    assert isinstance(comparable_url(text), str)


@given(st.binary(min_size=1, max_size=3), st.binary(min_size=1, max_size=3))
def test_queries_that_differ_in_any_byte_stay_apart(one, other):
    first, second = (f"https://a.test/?q={v.hex('%').join(['%', ''])}" for v in (one, other))
    assert (comparable_url(first) == comparable_url(second)) is (one == other)


HOSTS = {
    "https": ("https://a.test/x", "a.test:443"),
    "http": ("http://a.test/x", "a.test:80"),
    "capitals": ("HTTPS://A.TEST/x", "a.test:443"),
    "a port": ("https://a.test:8443/x", "a.test:8443"),
    "the root's dot": ("https://a.test./x", "a.test:443"),
    "user and password": ("https://bob:hunter2@a.test/", "a.test:443"),
    "an address": ("http://192.0.2.7/", "192.0.2.7:80"),
    "IPv6": ("http://[::1]/", "[::1]:80"),
    "IPv6 with a port": ("http://[::1]:8080/", "[::1]:8080"),
}


@pytest.mark.parametrize("url, expected", HOSTS.values(), ids=HOSTS)
def test_host_of(url, expected):
    assert host_of(url) == expected


@pytest.mark.parametrize("url, host", HOSTS.values(), ids=HOSTS)
def test_a_host_is_as_public_as_its_urls(url, host):
    assert is_public_host(f"http://{host_of(url)}") is is_public_host(url)


ORIGINS = {
    "capitals and default port": ("HTTPS://A.test:443/x", ("https", "a.test:443")),
    "http is another origin": ("http://a.test/", ("http", "a.test:80")),
    "a port is another origin": ("https://a.test:8443/", ("https", "a.test:8443")),
}


@pytest.mark.parametrize("url, expected", ORIGINS.values(), ids=ORIGINS)
def test_origin_of(url, expected):
    assert origin_of(url) == expected
