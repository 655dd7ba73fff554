"""RSS 2.0: every field, a link relative to the channel's, an impossible date, a guid of "0"."""

from datetime import UTC, datetime

from sourcemon.core.entries import Enclosure, Entry, Page

expected = Page(
    title="The Tide Table & Almanac",
    entries=(
        Entry(
            guid="tide-0017",
            url="https://tides.example/almanac/2026/06/spring?from=feed&page=1",
            title="Spring tides – “all week”",
            author="Ines Okafor, Per Lund",
            published_at=datetime(2026, 6, 6, 16, 30, tzinfo=UTC),
            summary="Boats go <em>up</em>.",
            content='<p>Boats go <em>up</em> &amp; down, see <a href="https://tides.example/almanac/'
            'chart.png">the chart</a>.</p>',
            categories=("moon", "harbours"),
            enclosures=(
                Enclosure(
                    url="https://tides.example/almanac/chart.pdf",
                    type="application/pdf",
                    length=20480,
                ),
            ),
            image="https://tides.example/img/tide.jpg",
            language="en-gb",
            comments_url="https://tides.example/2026/06/spring#comments",
        ),
        Entry(
            guid="https://tides.example/2026/05/blink",
            url="https://tides.example/2026/05/blink",
            title="Why a <blink> light blinks",
            summary="Un feu",
            language="fr",
        ),
        Entry(guid="0", language="en-gb"),
    ),
)
