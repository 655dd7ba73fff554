"""Which encoding a document is in."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcemon.parse.encoding import decoded

XML = "<?xml version='1.0' encoding='{}'?><a>{}</a>"


def declared(label, text, *, really=None):
    return XML.format(label, text).encode(really or label)


TEXTS = {
    "UTF-8 needs no declaration": ("<a>é€</a>".encode(), None, "é€"),
    "text/xml without charset is read by its declaration": (
        declared("koi8-r", "Гусь"),
        "text/xml",
        "Гусь",
    ),
    "the charset counts where nothing is declared": (
        "<a>Гусь</a>".encode("koi8-r"),
        'text/xml; charset="KOI8-R"',
        "Гусь",
    ),
    "the declaration counts before the charset": (
        declared("windows-1251", "Гусь"),
        "application/xml; charset=koi8-r",
        "Гусь",
    ),
    "the mark counts before both": (
        codecs.BOM_UTF8 + declared("koi8-r", "Гусь", really="utf-8"),
        "text/xml; charset=iso-8859-1",
        "Гусь",
    ),
    "what is valid UTF-8 is UTF-8, though declared to be one byte a character": (
        declared("iso-8859-1", "é€", really="utf-8"),
        "text/xml; charset=iso-8859-1",
        "é€",
    ),
    "what is not valid as declared is read by its charset": (
        declared("utf-8", "Гусь", really="koi8-r"),
        "text/xml; charset=koi8-r",
        "Гусь",
    ),
    "a short Chinese text that would pass for UTF-8": (declared("gb2312", "联通"), None, "联通"),
    "gb2312 means GBK": (declared("gb2312", "镕囍", really="gbk"), None, "镕囍"),
    "Shift_JIS means Windows-31J": (declared("shift_jis", "①髙", really="cp932"), None, "①髙"),
    "EUC-KR means Windows-949": (declared("euc-kr", "똠방", really="cp949"), None, "똠방"),
    "ISO-2022-JP is not ASCII": (declared("iso-2022-jp", "天気"), None, "天気"),
    "ISO 8859-1 means Windows-1252": (declared("iso-8859-1", "“€”", really="cp1252"), None, "“€”"),
    "ASCII means Windows-1252": (declared("us-ascii", "“€”", really="cp1252"), None, "“€”"),
    "UTF-8 declared, Windows-1252 sent": (declared("utf-8", "“é”", really="cp1252"), None, "“é”"),
    "nothing declared, Windows-1252 sent": ("<a>“é”</a>".encode("cp1252"), None, "“é”"),
    "an unknown encoding is guessed": (declared("x-klingon", "é", really="utf-8"), None, "é"),
    "a codec that is no encoding is not run": (
        declared("unicode_escape", r"\x41", really="ascii"),
        None,
        r"\x41",
    ),
    "an experimental name": (declared("x-sjis", "①髙", really="cp932"), None, "①髙"),
    "a name with blanks and signs": (declared("../utf-8", "é", really="utf-8"), None, "é"),
    "UTF-16 with a mark": (XML.format("utf-16", "é").encode("utf-16"), None, "é"),
    "UTF-16 without a mark, little end first": (
        declared("utf-16", "é", really="utf-16-le"),
        None,
        "é",
    ),
    "UTF-16 without a mark, big end first": (
        declared("utf-16", "é", really="utf-16-be"),
        None,
        "é",
    ),
    "UTF-16 declared in bytes that cannot be": (declared("utf-16", "é", really="utf-8"), None, "é"),
    "UTF-32": (XML.format("utf-32", "é").encode("utf-32"), None, "é"),
    "leading blanks before the declaration": (
        b"\n\n" + declared("windows-1251", "Гусь"),
        None,
        "Гусь",
    ),
}


@pytest.mark.parametrize(("body", "content_type", "expected"), TEXTS.values(), ids=TEXTS)
def test_the_text_is_read(body, content_type, expected):
    found = decoded(body, content_type=content_type)

    assert f"<a>{expected}</a>" in found.text
    assert found.fault is None


FAULTY = {
    "one stray byte in UTF-8 is read as Windows-1252": (
        "<a>é".encode() + b"\x93" + "€</a>".encode(),
        "<a>é“€</a>",
        "bytes that are not UTF-8",
    ),
    "a byte that Windows-1252 has no character for": (
        "<a>é".encode() + b"\x81</a>",
        "<a>é\ufffd</a>",
        "bytes that are not UTF-8",
    ),
    "a stray byte in a declared encoding": (
        declared("gb2312", "码头", really="gbk") + b"\xff",
        "<a>码头</a>\ufffd",
        "bytes that are not gb18030",
    ),
}


@pytest.mark.parametrize(("body", "expected", "fault"), FAULTY.values(), ids=FAULTY)
def test_a_stray_byte_costs_no_other(body, expected, fault):
    found = decoded(body, content_type=None)

    assert found.text.endswith(expected)
    assert found.fault == fault


@given(st.binary(), st.text())
def test_every_body_is_a_text_without_half_characters(body, content_type):
    text = decoded(body, content_type=content_type).text

    assert text.encode("utf-8").decode("utf-8") == text
