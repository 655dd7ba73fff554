"""Declared as ISO 8859-1, with the quotes and the euro of Windows-1252."""

from sourcemon.core.entries import Entry, Page

expected = Page(
    title="Crème",
    entries=(
        Entry(url="http://menu.example/a", title="“Crème brûlée” – 5 €", categories=("d’été",)),
    ),
)
