"""Bodies that are no feeds: what they are said to look like."""

import gzip
import json

import pytest

from sourcemon.core.entries import Page, Unreadability, Unreadable
from sourcemon.parse.feed import read_feed


def read(body, **more):
    return read_feed(body, url="https://fetched.example/feed", content_type=None, **more)


EMPTY = {
    "no byte": b"",
    "blanks": b" \r\n\t",
    "a byte order mark": b"\xef\xbb\xbf\n",
    "zeros": bytes(100),
}


@pytest.mark.parametrize("body", EMPTY.values(), ids=EMPTY)
def test_an_empty_body(body):
    assert read(body) == Unreadable(Unreadability.EMPTY_BODY, "the body is empty")


LOOKS = {
    "a page": (
        b"<!doctype html><html><head><title>Back &amp; soon\n</title></head><body/></html>",
        "an HTML page titled 'Back & soon'",
    ),
    "a login page": (
        b"<html><title>Sign in</title><form><input name=p type='password'></form></html>",
        "a login page titled 'Sign in'",
    ),
    "a page without title": (b"<HTML><body><h1>Hm</h1></body></HTML>", "an HTML page"),
    "a page in XHTML that knows of Atom": (
        b"<!DOCTYPE html SYSTEM 'x'><html xmlns:a='http://www.w3.org/2005/Atom'><title>x</title>",
        "an HTML page titled 'x'",
    ),
    "a piece of a page": (b"<p>Moved <a href='/'>here</a></p>", "an HTML page"),
    "JSON": (json.dumps({"message": "unavailable"}).encode(), "JSON"),
    "JSON with a mark": (b'\xef\xbb\xbf[{"id": 1}]', "JSON"),
    "a word": (b"Not Found", "plain text beginning 'Not Found'"),
    "a long text": (b"no " * 50, f"plain text beginning '{('no ' * 50)[:79]}…'"),
    "a subscription list": (
        b"<?xml version='1.0'?><opml><body><outline/></body></opml>",
        "XML with the root element <opml>",
    ),
    "a site map with items": (
        b"<urlset><item><title>x</title></item></urlset>",
        "XML with the root element <urlset>",
    ),
    "RDF of another kind": (
        b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><b/></rdf:RDF>",
        "XML with the root element <rdf>",
    ),
    "a zipped body": (gzip.compress(b"<rss/>", mtime=0), "binary data"),
    "a picture": (
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01",
        "binary data",
    ),
}


@pytest.mark.parametrize(("body", "looks"), LOOKS.values(), ids=LOOKS)
def test_what_a_body_looks_like(body, looks):
    assert read(body) == Unreadable(
        Unreadability.NOT_A_FEED, f"the body looks like {looks}, not like a feed"
    )


WITHOUT_ENTRIES = {
    "RSS 2.0": b"<rss version='2.0'><channel><title>t</title></channel></rss>",
    "RSS of an unknown version": b"<rss version='9'><channel><title>t</title></channel></rss>",
    "an empty element": b"<rss version='2.0' title='t'/>",
    "RSS 1.0": b"<rdf:RDF xmlns:rdf='r' xmlns='http://purl.org/rss/1.0/'><channel/></rdf:RDF>",
    "Atom": b"<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title></feed>",
    "Atom with a control character": b"<feed xmlns='http://www.w3.org/2005/Atom'>\x08</feed>",
}


@pytest.mark.parametrize("body", WITHOUT_ENTRIES.values(), ids=WITHOUT_ENTRIES)
def test_a_feed_without_entries_is_a_page(body):
    page = read(body)

    assert isinstance(page, Page)
    assert page.entries == ()


MALFORMED = {
    "it breaks off before an entry": (
        b"<rss version='2.0'><channel><title>t</ti",
        "it breaks off before its first whole entry",
    ),
    "it breaks off in the first entry": (
        b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id>",
        "it breaks off before its first whole entry",
    ),
    "its tags do not match": (
        b"<rss version='2.0'><channel><title>t</channel></rss>",
        "it is not well-formed: mismatched tag",
    ),
}


@pytest.mark.parametrize(("body", "reason"), MALFORMED.values(), ids=MALFORMED)
def test_a_broken_feed_without_entries(body, reason):
    assert read(body) == Unreadable(Unreadability.MALFORMED, f"the feed cannot be read: {reason}")


def test_a_broken_feed_with_entries_is_degraded():
    page = read(b"<rss version='2.0'><channel><b><item><guid>1</guid></item></channel></rss>")

    assert isinstance(page, Page)
    assert [entry.guid for entry in page.entries] == ["1"]
    assert page.degraded == "it is not well-formed: mismatched tag"
