"""Bodies built to do harm: they cost little, reach nothing, and raise nothing."""

import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcemon.core.entries import Page, Unreadability, Unreadable, storable
from sourcemon.core.urls import MAX_URL_LENGTH
from sourcemon.parse import adjusted_parsers
from sourcemon.parse.feed import read_feed

SIZE = 75_000
SAMPLES = [path.read_bytes() for path in Path(__file__).parent.glob("samples/*[!y]")]


def read(body, url="https://fetched.example/feed", content_type=None):
    return read_feed(body, url=url, content_type=content_type)


def filled(piece):
    return (piece * (SIZE // len(piece) + 1))[:SIZE]


def rss(inside):
    return f"<rss version='2.0'><channel><item><guid>1</guid>{inside}</item></channel></rss>"


def nested(number, begin="<b>", end="</b>"):
    return begin * number + end * number


BOMBS = {
    "a billion laughs": "<!DOCTYPE rss [<!ENTITY l0 'ha'>"
    + "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 11))
    + "]>"
    + rss("<title>&l10;</title>"),
    "a billion laughs in UTF-16": "\ufeff<!DOCTYPE rss [<!ENTITY l0 'ha'>"
    + "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 11))
    + "]>"
    + rss("<title>&l10;</title>"),
    "quadratic blow-up": f"<!DOCTYPE rss [<!ENTITY x '{'x' * 60_000}'>]>"
    + rss(f"<title>{'&x;' * 60_000}</title>"),
    "an entity that contains itself": "<!DOCTYPE rss [<!ENTITY x '&x;'>]>" + rss("&x;"),
    "entities in parameters": "<!DOCTYPE rss [<!ENTITY % a 'x'><!ENTITY % b '%a;%a;'>%b;]>"
    + rss(""),
    "elements without bottom": rss(nested(SIZE // 7)),
    "items without bottom": rss(nested(SIZE // 13, "<item>", "</item>")),
    "bases that grow": rss("".join(f"<b xml:base='{n}/'>" for n in range(SIZE // 20))),
    "one long base": rss(f"<b xml:base='/{filled('x')}'>" + "<c/>" * 10_000 + "</b>"),
    "attributes without end": rss("<b " + " ".join(f"a{n}='1'" for n in range(SIZE // 9)) + "/>"),
    "namespaces without end": rss("".join(f"<b xmlns:n{n}='urn:{n}'/>" for n in range(SIZE // 25))),
    "categories without end": rss("".join(f"<category>{n}</category>" for n in range(SIZE // 26))),
    "keywords without end": "<rss xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd'>"
    + rss(f"<itunes:keywords>{','.join(map(str, range(SIZE // 7)))}</itunes:keywords>")
    + "</rss>",
    "an author without end": rss(f"<author>{filled('a')}</author>"),
    "a page of line breaks": "<feed xmlns='http://www.w3.org/2005/Atom'><entry>"
    f"<content type='xhtml'>{filled(chr(10))}<div/></content></entry></feed>",
    "tags in HTML that do not end": rss(f"<description>{filled('&lt;a b=')}</description>"),
    "declarations in HTML": rss(f"<description>{filled('&lt;![')}</description>"),
    "comments that do not end": "<rss>" + filled("<!--"),
    "CDATA that does not end": "<rss>" + filled("<![CDATA["),
    "instructions that do not end": "<rss>" + filled("<?a "),
    "DTDs that do not end": filled("<!DOCTYPE rss [<!ENTITY a '"),
    "tags that do not end": "<rss>" + filled("<a "),
    "quotes that do not end": "<rss>" + filled("<a b='\""),
    "ampersands": rss(filled("&")),
    "broken references": rss(f"<title>{filled('&#x')}</title>"),
    "broken loose tags": rss("<x:y>" + filled("<a><b>")),
    "titles of a page": "<html>" + filled("<title>"),
    "fields of a page": "<html>" + filled("<input type"),
    "beginnings of feeds": filled("<rss "),
    "a date without end": rss(f"<pubDate>{filled('1 Jan ')}</pubDate>"),
}


def cpu_seconds(body):
    started = time.process_time()
    read(body)
    return time.process_time() - started


@pytest.fixture(scope="module")
def ordinary():
    """CPU seconds of an ordinary feed as large as the bombs."""
    item = "<item><title>A title</title><link>/1</link><description>&lt;p&gt;A</description></item>"
    body = f"<rss version='2.0'><channel>{item * (SIZE // len(item))}</channel></rss>".encode()
    return max(cpu_seconds(body) for _ in range(3))


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_bomb_costs_what_a_feed_of_its_size_may_cost(text, ordinary):
    body = text.encode("utf-16" if text.startswith("\ufeff") else "utf-8")

    assert cpu_seconds(body) < 5 * ordinary

    tracemalloc.start()
    read(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000


def test_what_a_bomb_was_made_of_is_text():
    page = read(BOMBS["a billion laughs"].encode())

    assert isinstance(page, Page)
    assert page.entries[0].title == "&l10;"
    assert page.degraded == "references to undeclared entities"


def test_a_feed_that_is_too_much_is_malformed():
    assert read(BOMBS["elements without bottom"].encode()) == Unreadable(
        Unreadability.MALFORMED,
        "the feed cannot be read: it has more than 10000 elements inside each other",
    )


def test_elements_without_end_are_too_much(monkeypatch):
    monkeypatch.setattr(adjusted_parsers, "MOST_ELEMENTS", 100)

    assert read(rss("<b/>" * 101).encode()) == Unreadable(
        Unreadability.MALFORMED, "the feed cannot be read: it has more than 100 elements"
    )


def test_a_thousand_unclosed_breaks_are_not_too_much():
    page = read(rss(f"<description>{'line<br>' * 5_000}</description>").encode())

    assert isinstance(page, Page)
    assert len(page.entries) == 1


def test_html_that_feedparser_fails_on_stays_as_sent():
    number = f"&amp;#{'9' * 5000};"
    page = read(rss(f"<description>{number}&lt;a href='x'&gt;</description>").encode())

    assert isinstance(page, Page)
    assert page.entries[0].summary == f"&#{'9' * 5000};<a href='x'>"
    assert page.degraded
    assert "ValueError" in page.degraded


def test_a_feed_that_feedparser_fails_on_is_malformed():
    found = read(rss("<authors>x</authors><author><name>Ada</name></author>").encode())

    assert isinstance(found, Unreadable)
    assert found.reason is Unreadability.MALFORMED
    assert "feedparser raises" in found.message


class Outside:
    """What this thread asks of the system: files it opens, names it looks up, hosts it calls."""

    def __init__(self):
        self.events = []
        self._watched = None
        sys.addaudithook(self._note)  # cannot be removed; silent unless inside `with`

    def __enter__(self):
        self.events.clear()
        self._watched = threading.get_ident()
        return self

    def __exit__(self, *_):
        self._watched = None

    def _note(self, event, args):
        if threading.get_ident() == self._watched and event.startswith(
            ("open", "os.", "socket.", "urllib.", "subprocess.", "import")
        ):
            self.events.append((event, args))


@pytest.fixture(scope="module")
def outside():
    read(rss("<title>warm</title><x:y/><title>&eacute;</title>").encode())  # imports happen here
    return Outside()


def test_the_watch_sees_a_file_that_is_opened(outside):
    with outside:
        Path(__file__).read_bytes()

    assert [event for event, _ in outside.events] == ["open"]


REACHING = {
    "an address": b"http://127.0.0.1:9/feed.xml",
    "a path": __file__.encode(),
    "a file's address": b"file://" + __file__.encode(),
    "an external entity": b"<!DOCTYPE rss [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>"
    + rss("<title>&x;</title>").encode(),
    "an external DTD": b"<!DOCTYPE rss SYSTEM 'http://127.0.0.1:9/rss.dtd'>" + rss("").encode(),
    "an external parameter": b"<!DOCTYPE rss [<!ENTITY % x SYSTEM 'file:///etc/hostname'> %x;]>"
    + rss("").encode(),
    "a style sheet": b"<?xml-stylesheet href='http://127.0.0.1:9/x.xsl'?>" + rss("").encode(),
    "an inclusion": rss(
        "<x:include xmlns:x='http://www.w3.org/2001/XInclude' href='/etc/hostname'/>"
    ).encode(),
    "a codec": b"<?xml version='1.0' encoding='os'?>" + rss("").encode(),
    "a content elsewhere": b"<feed xmlns='http://www.w3.org/2005/Atom'><entry>"
    b"<content src='http://127.0.0.1:9/'/></entry></feed>",
}


@pytest.mark.parametrize("body", REACHING.values(), ids=REACHING)
@pytest.mark.parametrize("url", ["http://127.0.0.1:9/feed.xml", __file__, ""])
def test_nothing_is_fetched_or_opened(outside, body, url):
    with outside:
        read(body, url=url, content_type="application/xml; charset=os")

    assert outside.events == []


PIECES = st.lists(
    st.sampled_from(
        [piece for sample in SAMPLES for piece in sample.replace(b"<", b"\n<").split(b"\n")]
        + [
            b"\x00",
            b"\xff",
            b"&",
            b"<![CDATA[",
            b"]]>",
            b"<!DOCTYPE a [",
            b"&#xD800;",
            b"&#99999999;",
        ]
    ),
    max_size=60,
).map(b"".join)


@st.composite
def damaged_samples(draw):
    """A sample with a piece cut out and another put in."""
    body = draw(st.sampled_from(SAMPLES))
    begin = draw(st.integers(0, len(body)))
    end = draw(st.integers(begin, len(body)))
    return body[:begin] + draw(st.binary(max_size=20)) + body[end:]


BODIES = st.one_of(st.binary(), PIECES, damaged_samples())


def assert_sound(found):
    """``found`` can be stored as it is."""
    assert isinstance(found, (Page, Unreadable))
    if isinstance(found, Unreadable):
        assert len(found.message) < 1_000
        return
    for entry in found.entries:
        texts = [
            entry.guid,
            entry.title,
            entry.author,
            entry.summary,
            entry.content,
            entry.language,
        ]
        urls = [
            entry.url,
            entry.image,
            entry.comments_url,
            *(each.url for each in entry.enclosures),
        ]
        assert all(text == storable(text) and text.strip() for text in texts if text is not None)
        assert all(url.startswith(("http://", "https://")) for url in urls if url is not None)
        assert all(len(url) <= MAX_URL_LENGTH for url in urls if url is not None)


@given(body=BODIES, content_type=st.one_of(st.none(), st.text()))
def test_every_body_is_a_page_or_the_reason_why_not(body, content_type):
    assert_sound(read(body, content_type=content_type))


@pytest.mark.long
@given(body=BODIES, content_type=st.one_of(st.none(), st.text()))
@settings(settings.get_profile("long"))
def test_very_many_bodies_are_pages_or_reasons(body, content_type):
    assert_sound(read(body, content_type=content_type))


@given(body=BODIES)
def test_the_same_body_is_the_same_page(body):
    assert read(body) == read(body)
