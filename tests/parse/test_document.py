"""What is corrected in a document before it is parsed: surroundings, tears, characters, DTDs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.parse.document import prepared
from sourcemon.parse.references import LARGEST_EXPANSION

RSS = '<rss version="2.0"><channel>{}</channel></rss>'
FEED = '<feed xmlns="http://www.w3.org/2005/Atom">{}</feed>'
AROUND = ("text around the feed",)

CORRECTED = {
    "a sound document stays as it is": (RSS.format("é"), RSS.format("é"), ()),
    "blanks and marks before the declaration": (
        "\ufeff\n \x00<?xml version='1.0'?>" + RSS.format(""),
        RSS.format(""),
        (),
    ),
    "a declaration of XML 1.1": ("<?xml version='1.1'?>" + RSS.format(""), RSS.format(""), ()),
    "a comment before and after is no fault": (
        "<!-- a --><?b?>" + RSS.format("") + "<!-- c -->",
        "<!-- a --><?b?>" + RSS.format("") + "<!-- c -->",
        (),
    ),
    "a warning before the feed": (
        "<br />\n<b>Warning</b>: gone <br /><?xml version='1.0'?>\n" + RSS.format(""),
        RSS.format(""),
        AROUND,
    ),
    "a page around the feed": (
        "<html><body>" + FEED.format("") + "</body></html>",
        FEED.format(""),
        AROUND,
    ),
    "a script after the feed": (RSS.format("") + "<script>1</script>", RSS.format(""), AROUND),
    "control characters": (RSS.format("a\x08\x1fb"), RSS.format("ab"), ("control characters",)),
    "characters that are none": (RSS.format("\ufffe"), RSS.format(""), ("control characters",)),
    "tabs and line breaks are allowed": (RSS.format("\t\r\n"), RSS.format("\t\r\n"), ()),
}


@pytest.mark.parametrize(("text", "xml", "faults"), CORRECTED.values(), ids=CORRECTED)
def test_surroundings_and_characters(text, xml, faults):
    found = prepared(text)

    assert (found.xml.strip(), found.faults, found.torn) == (xml, faults, False)


TORN = {
    "in an item of RSS": (
        "<rss><channel><item>1</item><item>2</it",
        "<rss><channel><item>1</item></channel></rss>",
    ),
    "after the channel of RSS": (
        "<rss><channel><item>1</item></channel>",
        "<rss><channel><item>1</item></channel></rss>",
    ),
    "in an item of RDF": (
        "<rdf:RDF><channel></channel><item>1</item><item>",
        "<rdf:RDF><channel></channel><item>1</item></rdf:RDF>",
    ),
    "in an entry of Atom": (
        "<a:feed><a:entry>1</a:entry><a:entry>2",
        "<a:feed><a:entry>1</a:entry></a:feed>",
    ),
    "in the first entry": ("<feed><title/><entry><id>1</id>", "<feed><title/></feed>"),
    "before any entry": ("<rss><channel><title>", "<rss><channel><title></channel></rss>"),
    "though a longer name begins with the root's": (
        "<feed><entry>1</entry><entry><feedburner:x></feedburner:x></feedburner",
        "<feed><entry>1</entry></feed>",
    ),
    "though its end stands in CDATA": (
        "<rss><item>1</item><item><![CDATA[</rss>",
        "<rss><item>1</item></rss>",
    ),
    "in the first tag": ('<rss version="', '<rss version="</rss>'),
}


@pytest.mark.parametrize(("text", "xml"), TORN.values(), ids=TORN)
def test_a_torn_document_ends_after_its_last_whole_entry(text, xml):
    found = prepared(text)

    assert (found.xml, found.torn) == (xml, True)


WHOLE = {
    "its end in other letters": "<RSS><channel/></rss>",
    "an empty element": '<rss version="2.0" a=">"/>',
    "no document": "no document",
    "nothing": "",
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_a_whole_document_is_not_torn(text):
    assert not prepared(text).torn


ROOTS = {
    "in small letters": ("<RSS></RSS>", "rss"),
    "without its prefix": ("<rdf:RDF></rdf:RDF>", "rdf"),
    "after instructions, comments and a DTD": ("<?a?><!-- <b> --><!DOCTYPE c><c></c>", "c"),
    "of no XML": ("x <a>", ""),
    "of a lonely sign": ("<", ""),
}


@pytest.mark.parametrize(("text", "root"), ROOTS.values(), ids=ROOTS)
def test_the_root_element_is_named(text, root):
    assert prepared(text).root == root


BARE = ("bare ampersands",)
UNDECLARED = ("references to undeclared entities",)
REFERENCES = {
    "XML's own stay": ("&lt;&gt;&amp;&quot;&apos;", "&lt;&gt;&amp;&quot;&apos;", ()),
    "to characters stay": ("&#233;&#xE9;&#128;", "&#233;&#xE9;&#128;", ()),
    "HTML's become characters": ("&eacute;&nbsp;", "é\xa0", UNDECLARED),
    "HTML's that XML needs stay escaped": ("&LT;&AMP;", "&lt;&amp;", UNDECLARED),
    "to nothing known are text": ("&leak;", "&amp;leak;", UNDECLARED),
    "a bare ampersand is text": ("a & b &c &d=1; &;", "a &amp; b &amp;c &amp;d=1; &amp;;", BARE),
    "a number without end is text": (
        "&#233 &#x; &#99999999;",
        "&amp;#233 &amp;#x; &amp;#99999999;",
        BARE,
    ),
    "to control characters vanish": ("a&#8;&#x0;b", "ab", ("references to control characters",)),
    "beyond Unicode vanish": ("&#x110000;", "", ("references to control characters",)),
    "to both halves of a character are joined": (
        "&#xD83D;&#xDEA2;",
        "🚢",
        ("references to half characters",),
    ),
    "to half a character": ("&#xD83D;!", "\ufffd!", ("references to half characters",)),
    "in CDATA are text anyway": ("<![CDATA[&a; & &eacute;]]>", "<![CDATA[&a; & &eacute;]]>", ()),
    "in a comment say nothing": ("<!-- & -->", "<!-- & -->", ()),
    "in an instruction say nothing": ("<?a & ?>", "<?a & ?>", ()),
}


@pytest.mark.parametrize(("text", "xml", "faults"), REFERENCES.values(), ids=REFERENCES)
def test_references(text, xml, faults):
    found = prepared(FEED.format(text))

    assert (found.xml, found.faults) == (FEED.format(xml), faults)


DTDS = {
    "a text with a reference": ('[<!ENTITY e "Quay &#233;">]', "&amp;e;", UNDECLARED),
    "a plain text": ('[<!ENTITY e "Quay">]', "Quay", ()),
    "a plain text in other quotes": ("[<!ENTITY e 'Quay \"1\"'>]", "Quay &quot;1&quot;", ()),
    "one character": ('[<!ENTITY e "&#233;">]', "é", ()),
    "a character that would be markup": ('[<!ENTITY e "&#60;">]', "&lt;", ()),
    "an entity made of another": ('[<!ENTITY f "x"><!ENTITY e "&f;">]', "&amp;e;", UNDECLARED),
    "an entity with markup": ('[<!ENTITY e "x<b/>">]', "&amp;e;", (*AROUND, *UNDECLARED)),
    "an external entity": ('[<!ENTITY e SYSTEM "file:///etc/hostname">]', "&amp;e;", UNDECLARED),
    "a parameter entity": (
        '[<!ENTITY % p SYSTEM "http://dtd.example/">%p;]',
        "&amp;e;",
        UNDECLARED,
    ),
    "one that grows too long": (
        f'[<!ENTITY e "{"x" * (LARGEST_EXPANSION + 1)}">]',
        "&amp;e;",
        UNDECLARED,
    ),
    "a DTD elsewhere, which may declare it": (
        'SYSTEM "http://dtd.example/"',
        "&amp;e;",
        UNDECLARED,
    ),
}


@pytest.mark.parametrize(("dtd", "text", "faults"), DTDS.values(), ids=DTDS)
def test_entities_of_a_dtd(dtd, text, faults):
    found = prepared(f"<?xml version='1.0'?>\n<!DOCTYPE feed {dtd}>\n{FEED.format('&e;')}")

    assert (found.xml, found.faults) == (FEED.format(text), faults)


def test_html_entities_are_no_fault_where_a_dtd_elsewhere_may_declare_them():
    found = prepared('<!doctype feed PUBLIC "a" "http://dtd.example/"><feed>&eacute;</feed>')

    assert (found.xml, found.faults) == ("<feed>é</feed>", ())


PIECES = st.from_regex(
    "\\A(<!DOCTYPE |\\[|]|>|<\\?xml |\\?>|<!--|-->|<!\\[CDATA\\[|]]>|<!ENTITY |\"|'|a| |&a;"
    "|&|<rss|<item>|</item>|</rss>|<feed xmlns=''>|<html>|\x00|\ufeff|\x08|é){0,40}\\Z"
)


@given(st.one_of(st.text(), PIECES))
def test_no_dtd_precedes_a_root_element(text):
    found = prepared(text)

    if found.root:
        before, _, _ = found.xml.lower().partition(f"<{found.root}")
        assert "<!doctype" not in before.partition("<!--")[0]
