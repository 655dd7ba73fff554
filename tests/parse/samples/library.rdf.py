"""RSS 1.0: identity from rdf:about, dates from dc:date, plain entities of its own DTD."""

from datetime import UTC, datetime

from sourcemon.core.entries import Entry, Page

expected = Page(
    title="New at the library",
    entries=(
        Entry(
            guid="https://library.example/b/1",
            url="https://library.example/b/1",
            title="A Quay Press atlas, 12°E",
            author="Mara Voss",
            published_at=datetime(2026, 2, 3, 9, tzinfo=UTC),
            summary="In colour",
            categories=("maps",),
        ),
        Entry(
            guid="https://library.example/b/2",
            url="https://library.example/b/2",
            title="Rope work",
            published_at=datetime(2026, 2, 1, tzinfo=UTC),
            content="<p>Knots</p>",
        ),
    ),
)
