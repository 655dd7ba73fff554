"""Notices to XML in four dialects. Deterministic: the same notices give the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from html import escape

from sourcemon.replay.answers import http_date
from sourcemon.replay.desks import Attachment, Desk, Notice

Writer = Callable[[Desk, Sequence[Notice], datetime | None], str]

_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
_CONTENT = 'xmlns:content="http://purl.org/rss/1.0/modules/content/"'
_RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'


def _rss(desk: Desk, notices: Sequence[Notice], changed_at: datetime | None) -> str:
    """RSS 2.0 with Dublin Core authors; the odd numbers have CDATA and ``content:encoded``."""
    built = _tag("lastBuildDate", http_date(changed_at)) if changed_at else ""
    items = "".join(_rss_item(desk, notice) for notice in notices)
    channel = f"{_about(desk)}{_tag('language', desk.language)}{built}{items}"
    return f'<rss version="2.0" {_DC} {_CONTENT}><channel>{channel}</channel></rss>'


def _rss_item(desk: Desk, notice: Notice) -> str:
    guid = f'<guid isPermaLink="false">{escape(notice.guid)}</guid>' if notice.guid else ""
    parts = (
        _tag("title", notice.title),
        _tag("link", notice.link),
        guid,
        _tag("pubDate", http_date(notice.published_at)),
        _tag("dc:creator", notice.author),
        *(_tag("category", name) for name in notice.categories),
        _rss_text(notice),
        _rss_enclosure(desk, notice.attachment),
    )
    return f"\n<item>{''.join(parts)}</item>"


def _rss_text(notice: Notice) -> str:
    """Both customs of the wild: escaped HTML, or a CDATA section and the text a second time."""
    if notice.number % 2 == 0:
        return _tag("description", notice.text)
    content = f"<content:encoded>{_cdata(notice.text)}</content:encoded>"
    return f"<description>{_cdata(notice.title)}</description>{content}"


def _rss_enclosure(desk: Desk, attachment: Attachment | None) -> str:
    if attachment is None:
        return ""
    url = escape(desk.home + attachment.name)
    return f'<enclosure url="{url}" length="{attachment.length}" type="{attachment.type}"/>'


def _atom(desk: Desk, notices: Sequence[Notice], changed_at: datetime | None) -> str:
    """Atom 1.0; links are relative to the ``xml:base`` of the feed."""
    updated = _tag("updated", changed_at.isoformat()) if changed_at else ""
    entries = "".join(_atom_entry(desk, notice) for notice in notices)
    attributes = f'xml:lang="{desk.language}" xml:base="{escape(desk.home)}"'
    head = f"{_tag('id', desk.home)}{_tag('title', desk.title)}{updated}"
    subtitle = _tag("subtitle", desk.description)
    link = '<link rel="alternate" type="text/html" href="./"/>'
    return (
        f'<feed xmlns="http://www.w3.org/2005/Atom" {attributes}>'
        f"{head}{subtitle}{link}{entries}</feed>"
    )


def _atom_entry(desk: Desk, notice: Notice) -> str:
    parts = (
        _tag("id", f"{desk.home}#{notice.number}"),
        _tag("title", notice.title),
        f'<link rel="alternate" href="{escape(notice.page)}"/>',
        _tag("published", notice.published_at.isoformat()),
        _tag("updated", notice.updated_at.isoformat()),
        f"<author>{_tag('name', notice.author or desk.title)}</author>",
        *(f'<category term="{escape(name)}"/>' for name in notice.categories),
        _atom_enclosure(notice.attachment),
        f'<content type="html">{escape(notice.text)}</content>',
    )
    return f"\n<entry>{''.join(parts)}</entry>"


def _atom_enclosure(attachment: Attachment | None) -> str:
    if attachment is None:
        return ""
    about = f'href="{escape(attachment.name)}" type="{attachment.type}"'
    return f'<link rel="enclosure" {about} length="{attachment.length}"/>'


def _rdf(desk: Desk, notices: Sequence[Notice], changed_at: datetime | None) -> str:
    """RSS 1.0: the channel lists the items, which stand beside it and are known by their link."""
    order = "".join(f'<rdf:li rdf:resource="{escape(notice.link)}"/>' for notice in notices)
    date = _tag("dc:date", changed_at.isoformat()) if changed_at else ""
    listed = f"<items><rdf:Seq>{order}</rdf:Seq></items>"
    channel = f'<channel rdf:about="{escape(desk.home)}">{_about(desk)}{date}{listed}</channel>'
    items = "".join(_rdf_item(notice) for notice in notices)
    return f'<rdf:RDF {_RDF} xmlns="http://purl.org/rss/1.0/" {_DC}>{channel}{items}</rdf:RDF>'


def _rdf_item(notice: Notice) -> str:
    parts = (
        _tag("title", notice.title),
        _tag("link", notice.link),
        _tag("dc:date", notice.published_at.isoformat()),
        _tag("dc:creator", notice.author),
        *(_tag("dc:subject", name) for name in notice.categories),
        _tag("description", notice.text),
    )
    return f'\n<item rdf:about="{escape(notice.link)}">{"".join(parts)}</item>'


def _rss_091(desk: Desk, notices: Sequence[Notice], changed_at: datetime | None) -> str:
    """RSS 0.91: title, link and description only; entries have neither guid nor date."""
    built = _tag("lastBuildDate", http_date(changed_at)) if changed_at else ""
    items = "".join(
        f"\n<item>{_tag('title', notice.title)}{_tag('link', notice.link)}"
        f"{_tag('description', notice.text)}</item>"
        for notice in notices
    )
    channel = f"{_about(desk)}{_tag('language', desk.language)}{built}{items}"
    return f'<rss version="0.91"><channel>{channel}</channel></rss>'


def _about(desk: Desk) -> str:
    title, link = _tag("title", desk.title), _tag("link", desk.home)
    return f"{title}{link}{_tag('description', desk.description)}"


def _tag(name: str, text: str | None) -> str:
    """An element with escaped text, or nothing for ``None``."""
    return "" if text is None else f"<{name}>{escape(text, quote=False)}</{name}>"


def _cdata(text: str) -> str:
    """A CDATA section, split where the text would end it."""
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


@dataclass(frozen=True, slots=True)
class _Dialect:
    media_type: str
    write: Writer


class Dialect(Enum):
    """A feed format: its media type and its writer."""

    RSS = _Dialect("application/rss+xml", _rss)
    ATOM = _Dialect("application/atom+xml", _atom)
    RDF = _Dialect("application/rdf+xml", _rdf)
    RSS_091 = _Dialect("text/xml", _rss_091)

    def document(
        self,
        desk: Desk,
        notices: Sequence[Notice],
        *,
        changed_at: datetime | None,
        encoding: str = "utf-8",
    ) -> bytes:
        """The feed in ``encoding``; characters it lacks become references."""
        text = self.value.write(desk, notices, changed_at)
        declared = f'<?xml version="1.0" encoding="{encoding}"?>\n{text}\n'
        return declared.encode(encoding, "xmlcharrefreplace")

    def content_type(self, encoding: str = "utf-8") -> str:
        """The value of ``Content-Type``."""
        return f"{self.value.media_type}; charset={encoding}"
