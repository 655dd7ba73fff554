"""A podcast: enclosures with a duration, covers, descriptions in either order."""

from datetime import UTC, datetime

from sourcemon.core.entries import Enclosure, Entry, Page

expected = Page(
    title="Low Frequency",
    entries=(
        Entry(
            guid="lf-12",
            title="Foghorns",
            author="Nadia Brandt",
            published_at=datetime(2026, 3, 3, 10, tzinfo=UTC),
            summary="First description",
            categories=("horns", "fog", "sea"),
            enclosures=(
                Enclosure(
                    url="https://cdn.low.example/12.mp3?a=1&b=2",
                    type="audio/mpeg",
                    length=31415926,
                    duration="1:02:03",
                ),
                Enclosure(url="https://cdn.low.example/12.vtt", type="text/vtt"),
            ),
            image="https://low.example/12.jpg",
        ),
        Entry(
            guid="lf-0",
            title="Trailer",
            published_at=datetime(2026, 3, 2, 13, tzinfo=UTC),
            summary="Only this",
            enclosures=(Enclosure(url="https://cdn.low.example/0.mp3", type="audio/mpeg"),),
            image="https://low.example/wave.bin",
        ),
    ),
)
