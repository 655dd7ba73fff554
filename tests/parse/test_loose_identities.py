"""One stray tag must not make every item of a feed a new one."""

from __future__ import annotations

import pytest

from sourcemon.core.entries import Page
from sourcemon.parse.feed import read_feed

GUIDS = {
    "an ampersand": "https://kiosk.test/?post_type=podcast&amp;p=1",
    "a less-than sign": "a &lt; b",
    "CDATA": "<![CDATA[https://kiosk.test/?a=1&b=2]]>",
    "plain": "tag:kiosk.test,2026:1",
}


def guid_of(guid: str, description: str) -> str | None:
    """The guid of the one entry of a feed."""
    item = f'<guid isPermaLink="false">{guid}</guid><description>{description}</description>'
    body = f'<rss version="2.0"><channel><title>Kiosk</title><item>{item}</item></channel></rss>'
    page = read_feed(body.encode(), url="https://kiosk.test/feed", content_type=None)
    assert isinstance(page, Page)
    return page.entries[0].guid


@pytest.mark.parametrize("guid", GUIDS.values(), ids=GUIDS)
def test_a_guid_is_the_same_in_a_sloppy_document(guid: str) -> None:
    assert guid_of(guid, "fine") == guid_of(guid, "stray <b> here")
