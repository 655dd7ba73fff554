"""Single rules about an entry's fields; whole documents are in test_samples."""

import pytest

from sourcemon.core.entries import Page, identity
from sourcemon.parse.adjusted_parsers import MOST_ENTRIES, MOST_PARTS
from sourcemon.parse.feed import read_feed
from sourcemon.parse.texts import LONGEST_HTML, LONGEST_NAME, LONGEST_TITLE

NAMESPACES = (
    "xmlns:a='http://www.w3.org/2005/Atom' xmlns:dc='http://purl.org/dc/elements/1.1/'"
    " xmlns:dcterms='http://purl.org/dc/terms/' xmlns:media='http://search.yahoo.com/mrss/'"
    " xmlns:content='http://purl.org/rss/1.0/modules/content/'"
    " xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd'"
)


def page_of(body, **more):
    more = {"content_type": None, **more}
    found = read_feed(body.encode(), url="https://fetched.example/feeds/all", **more)
    assert isinstance(found, Page)
    return found


def rss(item, channel=""):
    """The entry of an RSS feed with one item."""
    text = f"<rss version='2.0' {NAMESPACES}><channel>{channel}<item>{item}</item></channel></rss>"
    return page_of(text).entries[0]


def atom(entry, feed=""):
    """The entry of an Atom feed with one entry."""
    begin = f"<feed xmlns='http://www.w3.org/2005/Atom' {NAMESPACES}>"
    return page_of(f"{begin}{feed}<entry>{entry}</entry></feed>").entries[0]


GUIDS = {
    "trimmed": ("<guid> a b </guid>", "a b"),
    "zero": ("<guid>0</guid>", "0"),
    "blank is none": ("<guid>  </guid><link>https://a.example/</link>", None),
    "missing": ("<link>https://a.example/</link>", None),
    "no address of ours is made of it": ("<guid>17</guid>", "17"),
    "an address stays as it is": (
        "<guid>HTTP://A.example:80/../x#</guid>",
        "HTTP://A.example:80/../x#",
    ),
    "in its own letters": ("<guid>Ab</guid>", "Ab"),
    "of any length": (f"<guid>{'x' * 20_000}</guid>", "x" * 20_000),
}


@pytest.mark.parametrize(("item", "guid"), GUIDS.values(), ids=GUIDS)
def test_a_guid_is_as_sent(item, guid):
    assert rss(item).guid == guid


def test_a_guid_does_not_depend_on_where_the_feed_came_from():
    body = b"<rss version='2.0'><channel><item><guid>a/1</guid></item></channel></rss>"
    pages = [
        read_feed(body, url=url, content_type=None)
        for url in ("http://old.example/", "https://new.example/x/")
    ]

    assert pages[0] == pages[1]


def test_items_without_guid_are_told_apart():
    page = page_of(
        "<rss version='2.0'><channel><item><title>a</title><guid/></item><item><title>b</title>"
        "<guid> </guid></item><item><title>c</title></item></channel></rss>"
    )

    assert len({identity(entry) for entry in page.entries}) == 3


URLS = {
    "the link": (
        "<link>https://a.example/1</link><guid>https://a.example/g</guid>",
        "https://a.example/1",
    ),
    "a guid that is an address": ("<guid>https://a.example/g</guid>", "https://a.example/g"),
    "a guid that is a path": ("<guid>/g</guid>", "https://fetched.example/g"),
    "not a guid that says it is none": (
        "<guid isPermaLink='false'>https://a.example/g</guid>",
        None,
    ),
    "not a guid that is no address": ("<guid>17</guid>", None),
    "a guid where the link is empty": (
        "<link/><guid>https://a.example/g</guid>",
        "https://a.example/g",
    ),
    "relative to the document": ("<link>../1?a=1</link>", "https://fetched.example/1?a=1"),
    "a guid where the link is no address": (
        "<link>mailto:a@b.example</link><guid>https://a.example/g</guid>",
        "https://a.example/g",
    ),
    "without scheme": ("<link>//a.example/1</link>", "https://a.example/1"),
    "with blanks and line breaks": (
        "<link>\n https://a.example/a b\nc </link>",
        "https://a.example/a%20bc",
    ),
    "in other letters": ("<link>HTTPS://a.example/</link>", "https://a.example/"),
    "with letters of any language": ("<link>https://ä.example/ü</link>", "https://ä.example/ü"),
    "no other scheme": ("<link>javascript:alert(1)</link>", None),
    "no possible port": ("<link>https://a.example:99999/</link>", None),
    "no possible address": ("<link>https://[a/</link>", None),
    "not longer than 8000": (f"<link>https://a.example/{'x' * 8000}</link>", None),
    "of an Atom link in RSS": ("<a:link href='https://a.example/1'/>", "https://a.example/1"),
    "its own, if there is no other": (
        "<a:link rel='self' href='https://a.example/s'/>",
        "https://a.example/s",
    ),
}


@pytest.mark.parametrize(("item", "url"), URLS.values(), ids=URLS)
def test_a_url_is_where_to_read_the_entry(item, url):
    assert rss(item).url == url


BASES = {
    "the channel's link": ("<link>https://c.example/x/</link>", "https://c.example/x/1"),
    "the document's, where the channel has an image's link only": (
        "<image><link>https://c.example/x/</link></image>",
        "https://fetched.example/feeds/1",
    ),
    "the document's, where the channel's link is no base": (
        f"<link>https://c.example/{'x' * 8000}/</link>",
        "https://fetched.example/feeds/1",
    ),
}


@pytest.mark.parametrize(("channel", "url"), BASES.values(), ids=BASES)
def test_the_base_in_rss(channel, url):
    assert rss("<link>1</link>", channel).url == url


def test_xml_base_is_nearer_than_the_channels_link():
    entry = rss("<link xml:base='https://b.example/'>1</link>", "<link>https://c.example/</link>")

    assert entry.url == "https://b.example/1"


def test_the_feeds_link_is_no_base_in_atom():
    entry = atom("<link href='1'/>", "<link href='https://c.example/'/>")

    assert entry.url == "https://fetched.example/feeds/1"


TITLES = {
    "escaped once too often": (rss, "<title>Q&amp;amp;A &amp;#8211; 1</title>", "Q&A – 1"),
    "in CDATA": (rss, "<title><![CDATA[Q&amp;A <x>]]></title>", "Q&A <x>"),
    "tags in RSS are text": (rss, "<title>Use &lt;b&gt; now</title>", "Use <b> now"),
    "tags in Atom's text are text": (atom, "<title>Use &lt;b&gt; now</title>", "Use <b> now"),
    "tags in Atom's HTML are none": (
        atom,
        "<title type='html'>a&lt;br/&gt;b &lt;i&gt;c&lt;/i&gt;</title>",
        "a b c",
    ),
    "no tag of HTML": (atom, "<title type='html'>a &lt;c2&gt; b</title>", "a <c2> b"),
    "in one line": (rss, "<title>a\n\t b</title>", "a b"),
    "blank": (rss, "<title>&#32;</title>", None),
    "a mistaken reference": (rss, "<title>R&amp;D; &amp;notit;</title>", "R&D; &notit;"),
    "a reference to no character": (rss, "<title>a&amp;#xD800;</title>", "a\ufffd"),
    "cut": (rss, f"<title>{'é' * 60_000}</title>", "é" * LONGEST_TITLE),
    "encoded twice is repaired": (rss, "<title>CafÃ©</title>", "Café"),
    "not what only looks like it": (rss, "<title>Ã is a letter</title>", "Ã is a letter"),
}


@pytest.mark.parametrize(("make", "xml", "title"), TITLES.values(), ids=TITLES)
def test_a_title_is_plain_text(make, xml, title):
    assert make(xml).title == title


AUTHORS = {
    "address and name": ("<author>a@b.example (Ada B)</author>", "Ada B"),
    "name and address": ("<author>Ada B &lt;a@b.example&gt;</author>", "Ada B"),
    "an address alone": ("<author>a@b.example</author>", "a@b.example"),
    "each once": (
        "<author>a@b.example (Ada)</author><dc:creator>Ada</dc:creator><dc:creator>Bo</dc:creator>",
        "Ada, Bo",
    ),
    "blank": ("<author> </author>", None),
    "cut": (f"<author>{'x' * 5000}</author>", "x" * LONGEST_NAME),
}


@pytest.mark.parametrize(("item", "author"), AUTHORS.values(), ids=AUTHORS)
def test_an_author_is_a_name(item, author):
    assert rss(item).author == author


def test_a_feeds_author_writes_all_entries_in_atom_only():
    assert atom("", "<author><name>Ada</name></author>").author == "Ada"
    assert rss("", "<managingEditor>Ada</managingEditor>").author is None


DATES = {
    "pubDate": ("<pubDate>1 Jun 2026</pubDate>", "2026-06-01", None),
    "dc:date is when it came out": ("<dc:date>2026-06-02</dc:date>", "2026-06-02", None),
    "pubDate before dc:date": (
        "<dc:date>2026-06-02</dc:date><pubDate>1 Jun 2026</pubDate>",
        "2026-06-01",
        None,
    ),
    "dc:date for an impossible pubDate": (
        "<pubDate>soon</pubDate><dc:date>2026-06-02</dc:date>",
        "2026-06-02",
        None,
    ),
    "a change is no publication": ("<a:updated>2026-06-03</a:updated>", None, "2026-06-03"),
    "dcterms": (
        "<dcterms:issued>2026-06-01</dcterms:issued><dcterms:modified>2026-06-03</dcterms:modified>",
        "2026-06-01",
        "2026-06-03",
    ),
    "none": ("<pubDate/>", None, None),
}


@pytest.mark.parametrize(("item", "published", "updated"), DATES.values(), ids=DATES)
def test_dates_do_not_stand_in_for_each_other(item, published, updated):
    entry = rss(item)

    assert [date and f"{date:%Y-%m-%d}" for date in (entry.published_at, entry.updated_at)] == [
        published,
        updated,
    ]


def test_dc_date_is_a_change_in_atom():
    entry = atom("<dc:date>2026-06-02</dc:date>")

    assert (entry.published_at, entry.updated_at and entry.updated_at.day) == (None, 2)


TEXTS = {
    "description is the summary, however long": (
        f"<description>{'x' * 9000}</description>",
        "x" * 9000,
        None,
    ),
    "content:encoded is the content": (
        "<content:encoded>&lt;p&gt;x&lt;/p&gt;</content:encoded>",
        None,
        "<p>x</p>",
    ),
    "in any order": (
        "<content:encoded>long</content:encoded><description>short</description>",
        "short",
        "long",
    ),
    "not sanitized": (
        "<description>&lt;script&gt;x&lt;/script&gt;</description>",
        "<script>x</script>",
        None,
    ),
    "media:description stands in for a summary": (
        "<media:description>m</media:description>",
        "m",
        None,
    ),
    "and takes no place from one": (
        "<media:description>m</media:description><description>d</description>",
        "d",
        None,
    ),
    "cut": (
        f"<content:encoded>{'x' * (LONGEST_HTML + 1)}</content:encoded>",
        None,
        "x" * LONGEST_HTML,
    ),
    "blank": ("<description> </description><content:encoded/>", None, None),
}


@pytest.mark.parametrize(("item", "summary", "content"), TEXTS.values(), ids=TEXTS)
def test_elements_name_summary_and_content(item, summary, content):
    entry = rss(item)

    assert (entry.summary, entry.content) == (summary, content)


LENGTHS = {
    "a number": ("12", 12),
    "zero": ("0", 0),
    "with blanks": (" 12 ", 12),
    "nothing": ("", None),
    "below zero": ("-1", None),
    "a unit": ("12 MB", None),
    "other digits": ("١٢", None),
    "no database's number": ("9" * 19, None),
    "no end of digits": ("9" * 5000, None),
}


@pytest.mark.parametrize(("sent", "length"), LENGTHS.values(), ids=LENGTHS)
def test_an_enclosures_length_is_a_number_of_bytes(sent, length):
    (enclosure,) = rss(f"<enclosure url='https://a.example/f' length='{sent}'/>").enclosures

    assert enclosure.length == length


IMAGES = {
    "the thumbnail first": (
        "<itunes:image href='/i'/><media:thumbnail url='/t'/>",
        "https://fetched.example/t",
    ),
    "the cover next": (
        "<media:content url='/c' type='image/png'/><itunes:image href='/i'/>",
        "https://fetched.example/i",
    ),
    "no video": ("<media:content url='/c' type='video/mp4'/>", None),
    "the next one if the first is no address": (
        "<media:thumbnail url='data:x'/><media:thumbnail url='/t'/>",
        "https://fetched.example/t",
    ),
}


@pytest.mark.parametrize(("item", "image"), IMAGES.values(), ids=IMAGES)
def test_an_image_stands_for_the_entry(item, image):
    assert rss(item).image == image


def test_the_language_of_the_response_is_that_of_a_feed_that_names_none():
    body = "<rss version='2.0'><channel>{}<item xml:lang='{}'><guid>1</guid></item></channel></rss>"
    given = {
        "": body.format("", ""),
        "channel": body.format("<language>fr</language>", ""),
        "item": body.format("<language>fr</language>", "it"),
    }
    found = {
        name: page_of(text, content_language="de, en").entries[0].language
        for name, text in given.items()
    }

    assert found == {"": "de", "channel": "fr", "item": "it"}


def test_parts_without_end_are_cut():
    entry = rss(
        "".join(f"<category>{n}</category><enclosure url='/{n}'/>" for n in range(MOST_PARTS + 50))
    )

    assert (len(entry.categories), len(entry.enclosures)) == (MOST_PARTS, MOST_PARTS)


def test_entries_without_end_are_cut_and_told():
    items = "<item/>" * (MOST_ENTRIES + 1)
    page = page_of(f"<rss version='2.0'><channel>{items}</channel></rss>")

    assert len(page.entries) == MOST_ENTRIES
    assert not page.is_whole
    assert page.degraded == f"only its first {MOST_ENTRIES} entries are read"


ODD = {
    "an element named like a field of ours": "<published a='1'/><tags>a,b</tags><links>x</links>",
    "an element named like one of feedparser's": "<authors>x</authors><title_detail/>",
    "attributes for a text": "<comments a='1'/><image a='1'/><id a='1'>x</id>",
}


@pytest.mark.parametrize("item", ODD.values(), ids=ODD)
def test_a_feed_may_put_anything_anywhere(item):
    rss(f"<title>t</title>{item}")
    atom(f"<title>t</title>{item}")
