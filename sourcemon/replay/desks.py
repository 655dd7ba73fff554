"""Who writes a made-up feed, and what its entries are: the shapes of the content, not its text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urljoin


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that belongs to a story; ``name`` is relative to the home, ``length`` in bytes."""

    name: str
    type: str
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A text that a desk writes again and again; every ``{n}`` stands for the entry's number."""

    title: str
    text: str
    """HTML."""
    page: str
    """The link, relative to the desk's home."""
    author: str | None = None
    categories: tuple[str, ...] = ()
    attachment: Attachment | None = None
    has_guid: bool = True
    """RSS 2.0 only: the other dialects have no guid (RDF, 0.91) or must have one (Atom)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A correction: from ``at`` on, entry ``number`` reads like this; ``None`` changes nothing."""

    number: int
    at: datetime
    title: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One entry as a feed shows it; ``link`` is absolute, ``page`` the same but relative."""

    number: int
    """From 1, in the order of publication."""
    title: str
    text: str
    page: str
    link: str
    guid: str | None
    published_at: datetime
    updated_at: datetime
    """When it was last corrected, else when it was published."""
    author: str | None
    categories: tuple[str, ...]
    attachment: Attachment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """A made-up publisher. Its stories come round in order, told apart by the entry's number."""

    title: str
    home: str
    """Absolute, with a trailing slash; the base of its links."""
    description: str
    language: str
    stories: tuple[Story, ...]

    def notice(self, number: int, *, published_at: datetime, edits: Iterable[Edit] = ()) -> Notice:
        """Entry ``number`` with the edits of that number applied in order of their instants."""
        story = self.stories[(number - 1) % len(self.stories)]
        page = _numbered(story.page, number)
        link = urljoin(self.home, page)
        fresh = Notice(
            number=number,
            title=_numbered(story.title, number),
            text=_numbered(story.text, number),
            page=page,
            link=link,
            guid=f"{self.home}#{number}" if story.has_guid else None,
            published_at=published_at,
            updated_at=published_at,
            author=story.author,
            categories=story.categories,
            attachment=story.attachment,
        )
        return _edited(fresh, [edit for edit in edits if edit.number == number])


def _edited(notice: Notice, edits: list[Edit]) -> Notice:
    """``notice`` after these edits."""
    for edit in sorted(edits, key=lambda edit: edit.at):
        notice = replace(
            notice,
            title=edit.title if edit.title is not None else notice.title,
            text=edit.text if edit.text is not None else notice.text,
            updated_at=max(edit.at, notice.updated_at),
        )
    return notice


def _numbered(text: str, number: int) -> str:
    return text.replace("{n}", str(number))
