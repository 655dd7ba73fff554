"""A document that ends in the middle of a character of its third item: two items, degraded."""

from sourcemon.core.entries import Entry, Page

expected = Page(
    title="Ferry log",
    entries=(
        Entry(guid="f1", url="https://ferry.example/1", title="Departed"),
        Entry(guid="f2", url="https://ferry.example/2", title="Arrived – late"),
    ),
    is_whole=False,
    degraded="it breaks off after its last whole entry; bytes that are not UTF-8",
)
