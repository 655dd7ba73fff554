"""Declared as gb2312, with characters that only GBK has."""

from sourcemon.core.entries import Entry, Page

expected = Page(
    title="码头",
    entries=(Entry(url="http://dock.example/a", title="镕与囍", summary="朱镕"),),
)
