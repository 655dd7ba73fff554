"""Control characters, bare ampersands, undeclared entities, halves of characters: all repaired."""

from sourcemon.core.entries import Entry, Page

expected = Page(
    title="Faults",
    entries=(
        Entry(
            guid="a&b",
            url="http://faults.example/?x=1&y=2&copy=3",
            title="Salt & pepper, café, &unheard; of",
        ),
        Entry(
            guid="b",
            title="🚢 \ufffd –",
            summary="a & b &nbsp;",
        ),
    ),
    degraded="control characters; bare ampersands; references to control characters; "
    "references to half characters; references to undeclared entities",
)
