"""RSS 0.91 with a DTD that nobody may fetch, and HTML's entities that it would declare."""

from sourcemon.core.entries import Entry, Page

expected = Page(
    title="Café Modem",
    entries=(
        Entry(
            url="http://modem.example/56k.html",
            title="56k — für alle",
            summary="Endlich <b>schnell</b>",
            language="de",
        ),
        Entry(url="http://modem.example/carrier.html", title="No carrier", language="de"),
    ),
)
