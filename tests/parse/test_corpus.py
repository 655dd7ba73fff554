"""Recorded feeds of many publishers, read from outside the project; none is left unexplained."""

import io
from collections import Counter

import feedparser
import pytest

from sourcemon.core.entries import Page, Unreadable, identity
from sourcemon.parse.feed import read_feed
from tests.corpus import corpus_folder

URL = "https://fetched.example/feed"

HTML = "the body looks like an HTML page, not like a feed"
JSON = "the body looks like JSON, not like a feed"
CATALOG = "the body looks like XML with the root element <catalog>, not like a feed"
TORN = "the feed cannot be read: it breaks off before its first whole entry"
MOVED = "the body looks like an HTML page titled 'Document Moved', not like a feed"
WITHOUT_ENTRIES = {
    "feedjira-AmazonWebServicesBlogFirstEntryContent.xml": HTML,
    "feedjira-HREFConsideredHarmfulFirstEntry.xml": HTML,
    "feedjira-PaulDixExplainsNothingFirstEntryContent.xml": HTML,
    "feedjira-TechCrunchFirstEntry.xml": HTML,
    "feedjira-TechCrunchFirstEntryDescription.xml": HTML,
    "feedjira-TenderLovemakingFirstEntry.xml": HTML,
    "feedjira-json_feed.json": JSON,
    "feedjira-json_feed_with_escaped_uris.json": JSON,
    "feedrs-jsonfeed_elastic_1.1.json": JSON,
    "feedrs-jsonfeed_example_1.json": JSON,
    "feedrs-jsonfeed_spec_1.json": JSON,
    "feedrs-rss_2.0_invalid_1.xml": TORN,
    "feedrs-xml_sample_1.xml": CATALOG,
    "feedrs-xml_sample_2.xml": CATALOG,
    "rssparser-unrecognized.rss": MOVED,
}
DEGRADED = {
    "feedjira-DuplicateContentAtomFeed.xml": "text around the feed",
    "feedjira-ITunesWithSingleQuotedAttributes.xml": "it is not well-formed: unbound prefix",
    "feedjira-InvalidDateFormat.xml": "it breaks off after its last whole entry",
    "feedjira-PaulDixExplainsNothingWFW.xml": "it is not well-formed: unbound prefix",
    "feedjira-itunes.xml": "it is not well-formed: unbound prefix",
    "feedrs-rss_2.0_dbengines.xml": "references to undeclared entities",
}


TWICE = {"rssparser-itunes-missing-image.rss": "http://taverncast.com/shows/geekistry-2.mp3"}
"""Feeds that give two entries one guid."""


@pytest.fixture(scope="module")
def bodies():
    """File → bytes."""
    return {path.name: path.read_bytes() for path in sorted(corpus_folder().glob("feeds/*"))}


@pytest.fixture(scope="module")
def table(bodies):
    """File → page, or why it is none."""
    return {name: read_feed(body, url=URL, content_type=None) for name, body in bodies.items()}


def test_recorded_feeds_have_the_entries_that_feedparser_sees(bodies, table):
    seen = {name: len(_feedparsers_own(body).entries) for name, body in bodies.items()}
    found = {
        name: len(page.entries) if isinstance(page, Page) else 0 for name, page in table.items()
    }

    assert found == seen
    assert {name for name, number in found.items() if not number} == set(WITHOUT_ENTRIES)


def _feedparsers_own(body):
    """What feedparser makes of a body by itself."""
    headers = {"content-type": "application/xml", "content-location": URL}
    return feedparser.parse(io.BytesIO(body), response_headers=headers, sanitize_html=False)


def test_recorded_feeds_without_entries_are_explained(table):
    messages = {name: page.message for name, page in table.items() if isinstance(page, Unreadable)}

    assert messages == WITHOUT_ENTRIES


def test_degraded_recorded_feeds_are_explained(table):
    pages = {name: page for name, page in table.items() if isinstance(page, Page)}

    assert {name: page.degraded for name, page in pages.items() if page.degraded} == DEGRADED


FIELDS = {
    "guid": 872,
    "url": 967,
    "title": 972,
    "author": 714,
    "published_at": 909,
    "updated_at": 296,
    "summary": 649,
    "content": 468,
    "categories": 643,
    "enclosures": 196,
    "image": 164,
    "language": 437,
    "comments_url": 296,
}
"""How many of the recorded entries have the field, at least."""


def test_as_many_recorded_entries_as_ever_have_each_field(table):
    pages = [page for page in table.values() if isinstance(page, Page)]
    entries = [entry for page in pages for entry in page.entries]
    found = {name: sum(bool(getattr(entry, name)) for entry in entries) for name in FIELDS}

    assert (len(table), len(pages), len(entries)) >= (140, 125, 980)
    assert {name: number for name, number in found.items() if number < FIELDS[name]} == {}


def test_no_two_entries_of_a_recorded_feed_are_one(table):
    for name, page in table.items():
        identities = Counter(map(identity, page.entries if isinstance(page, Page) else ()))
        repeated = [key for key, number in identities.items() if number > 1]

        assert repeated == ([f"guid:{TWICE[name]}"] if name in TWICE else [])
