"""Atom 0.3: issued and modified; the feed's language."""

from datetime import UTC, datetime

from sourcemon.core.entries import Entry, Page

expected = Page(
    title="Signal Box",
    entries=(
        Entry(
            guid="tag:signals.example,2004:7",
            url="http://signals.example/points",
            title="Points failure",
            author="Lev",
            published_at=datetime(2004, 5, 6, 6, 8, 9, tzinfo=UTC),
            updated_at=datetime(2004, 5, 7, tzinfo=UTC),
            summary="Frozen",
            content="<p>Frozen points.</p>",
            language="en-us",
        ),
    ),
)
