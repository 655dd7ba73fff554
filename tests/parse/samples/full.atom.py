"""Atom 1.0: nested bases and languages, three kinds of titles, authors of feed and entry."""

from datetime import UTC, datetime

from sourcemon.core.entries import Enclosure, Entry, Page

expected = Page(
    title="Kiln & Glaze",
    entries=(
        Entry(
            guid="tag:kiln.example,2026:firing/3",
            url="https://kiln.example/log/firings/3",
            title="Cone ten <<hot>>",
            author="Ab, Cy",
            published_at=datetime(2026, 3, 9, 4, 30, tzinfo=UTC),
            updated_at=datetime(2026, 3, 9, 11, 15, 30, tzinfo=UTC),
            summary="1300 degrees & rising",
            content='<p>See <img alt="x &lt; y"'
            ' src="https://kiln.example/log/firings/3.jpg" /></p>',
            categories=("cone-10", "Reduction"),
            enclosures=(
                Enclosure(url="https://kiln.example/log/firings/curve.csv", type="text/csv"),
            ),
            language="ja",
            comments_url="https://kiln.example/log/firings/3/comments",
        ),
        Entry(
            guid="urn:uuid:6f1c",
            url="https://kiln.example/notes#b",
            title="Use <b> sparingly",
            author="Tomoko Reyes",
            updated_at=datetime(2026, 3, 1, tzinfo=UTC),
            content="<p>a &lt; b</p>",
            language="en",
        ),
        Entry(
            guid="https://kiln.example/log/photo",
            url="https://kiln.example/log/photo",
            title="Vec<t> glaze",
            author="Tomoko Reyes",
            summary="A photo",
            image="https://kiln.example/full.png",
            language="en",
        ),
    ),
)
