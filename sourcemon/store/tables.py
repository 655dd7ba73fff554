"""The tables. Rows stay inside this room; each table, or group of columns, has one writer.

========================  =====================================
sources                   :mod:`sourcemon.store.sources`
poll_states, poll_runs    :mod:`sourcemon.store.polls`
poll_states, claim part   :mod:`sourcemon.store.claims`
items, item_contents      :mod:`sourcemon.store.items`
health_states             :mod:`sourcemon.store.health`
========================  =====================================

Constraints and indexes are named here and built by the migrations; a test holds both against
each other.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    Numeric,
    Text,
    UniqueConstraint,
    text,
)
from sqlmodel import Field, SQLModel

from sourcemon.store.columns import UtcDateTime, json_column

_BIG = BigInteger().with_variant(Integer, "sqlite")
"""64 bits on both; SQLite numbers rows only in a column declared INTEGER."""


def _instant(*, nullable: bool = True) -> Any:  # noqa: ANN401 - sqlmodel.Field is typed Any
    return Field(default=None, sa_column=Column(UtcDateTime(), nullable=nullable))


def _text(*, nullable: bool = True) -> Any:  # noqa: ANN401 - sqlmodel.Field is typed Any
    return Field(default=None, sa_column=Column(Text(), nullable=nullable))


def _json() -> Any:  # noqa: ANN401 - sqlmodel.Field is typed Any
    return Field(default=None, sa_column=Column(json_column(), nullable=True))


def _id() -> Any:  # noqa: ANN401 - sqlmodel.Field is typed Any
    return Field(default=None, sa_column=Column(_BIG, primary_key=True))


def _reference(table: str, *, is_key: bool) -> Any:  # noqa: ANN401 - sqlmodel.Field is typed Any
    target = ForeignKey(f"{table}.id", ondelete="CASCADE")
    column = Column(_BIG, target, primary_key=is_key, autoincrement=False, nullable=False)
    return Field(sa_column=column)


class SourceRow(SQLModel, table=True):
    """One source's configuration, and nothing else."""

    __tablename__ = "sources"
    __table_args__: ClassVar = (
        CheckConstraint("kind IN ('feed')", name="sources_kind_known"),
        CheckConstraint("interval_s >= 10", name="sources_interval_positive"),
        UniqueConstraint("kind", "url_hash", name="sources_url_once"),
    )

    id: int | None = _id()
    kind: str = _text(nullable=False)
    url: str = _text(nullable=False)
    url_hash: str = _text(nullable=False)
    """Of the comparable URL: a URL may be longer than an index entry."""
    name: str = _text(nullable=False)
    interval_s: int
    enabled: bool = True
    created_at: datetime = _instant(nullable=False)


class PollStateRow(SQLModel, table=True):
    """What polling remembers of one source; ``next_poll_at`` is a cache for the due index."""

    __tablename__ = "poll_states"
    __table_args__: ClassVar = (
        CheckConstraint("status IN ('idle', 'failed', 'gone')", name="poll_states_status_known"),
        CheckConstraint("consecutive_failures >= 0", name="poll_states_failures_positive"),
        CheckConstraint("retry_attempt >= 0", name="poll_states_attempt_positive"),
        CheckConstraint("reopens >= 0", name="poll_states_reopens_positive"),
        CheckConstraint(
            "(claim_token IS NULL) = (claim_expires_at IS NULL)", name="poll_states_claim_whole"
        ),
        Index(
            "poll_states_due",
            "next_poll_at",
            "source_id",
            sqlite_where=text("status = 'idle'"),
            postgresql_where=text("status = 'idle'"),
        ),
    )

    source_id: int = _reference("sources", is_key=True)
    status: str = _text(nullable=False)
    etag: str | None = _text()
    last_modified: str | None = _text()
    body_hash: str | None = _text()
    cadence_due_at: datetime | None = _instant()
    cadence_because: str | None = _text()
    poll_floor_until: datetime | None = _instant()
    poll_floor_because: str | None = _text()
    retry_not_before_at: datetime | None = _instant()
    retry_because: str | None = _text()
    backoff_until: datetime | None = _instant()
    backoff_because: str | None = _text()
    circuit_until: datetime | None = _instant()
    circuit_because: str | None = _text()
    circuit_opened_at: datetime | None = _instant()
    reopens: int = 0
    retry_attempt: int = 0
    retry_category: str | None = _text()
    consecutive_failures: int = 0
    last_polled_at: datetime | None = _instant()
    last_success_at: datetime | None = _instant()
    last_error: str | None = _text()
    next_poll_at: datetime = _instant(nullable=False)
    claim_token: str | None = _text()
    claim_expires_at: datetime | None = _instant()
    hint_until: datetime | None = _instant()


class PollRunRow(SQLModel, table=True):
    """One poll that sent a request."""

    __tablename__ = "poll_runs"
    __table_args__: ClassVar = (
        CheckConstraint(
            "status IN ('running', 'completed', 'not_modified', 'deferred', 'failed')",
            name="poll_runs_status_known",
        ),
        CheckConstraint(
            "entries_seen = created + updated + unchanged + duplicate"
            " + quarantined + ignored + failed",
            name="poll_runs_counters_add_up",
        ),
        Index("poll_runs_by_source", "source_id", "started_at", "id"),
        Index("poll_runs_by_time", "started_at", "id"),
    )

    id: int | None = _id()
    source_id: int = _reference("sources", is_key=False)
    status: str = _text(nullable=False)
    forced: bool
    started_at: datetime = _instant(nullable=False)
    finished_at: datetime | None = _instant()
    duration_ms: int | None = None
    http_status: int | None = None
    bytes: int = 0
    pages_fetched: int = 0
    entries_seen: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicate: int = 0
    quarantined: int = 0
    ignored: int = 0
    failed: int = 0
    stop_reason: str | None = _text()
    error_category: str | None = _text()
    error: str | None = _text()
    decision: dict[str, Any] | None = _json()


class ItemRow(SQLModel, table=True):
    """One item: an entry as we keep it, known by ``key_hash`` within its source."""

    __tablename__ = "items"
    __table_args__: ClassVar = (
        UniqueConstraint("source_id", "key_hash", name="items_once_per_source"),
        Index("items_by_source", "source_id", "id"),
    )

    id: int | None = _id()
    source_id: int = _reference("sources", is_key=False)
    key: str = _text(nullable=False)
    key_hash: str = _text(nullable=False)
    content_hash: str = _text(nullable=False)
    guid: str | None = _text()
    url: str | None = _text()
    title: str | None = _text()
    author: str | None = _text()
    published_at: datetime | None = _instant()
    updated_at: datetime | None = _instant()
    image: str | None = _text()
    language: str | None = _text()
    comments_url: str | None = _text()
    first_seen_at: datetime = _instant(nullable=False)
    last_seen_at: datetime = _instant(nullable=False)


class ItemContentRow(SQLModel, table=True):
    """The long parts of an item, apart so that lists stay light."""

    __tablename__ = "item_contents"

    item_id: int = _reference("items", is_key=True)
    summary: str | None = _text()
    content: str | None = _text()
    categories: list[str] | None = _json()
    enclosures: list[dict[str, Any]] | None = _json()


class HealthStateRow(SQLModel, table=True):
    """The grade of one source, for people."""

    __tablename__ = "health_states"
    __table_args__: ClassVar = (
        CheckConstraint(
            "grade IN ('working', 'improving', 'declining', 'failing')",
            name="health_states_grade_known",
        ),
        CheckConstraint(
            "rolling_success_rate >= 0 AND rolling_success_rate <= 1",
            name="health_states_rate_is_share",
        ),
    )

    source_id: int = _reference("sources", is_key=True)
    grade: str | None = _text()
    grade_changed_at: datetime | None = _instant()
    rolling_success_rate: Decimal | None = Field(
        default=None, sa_column=Column(Numeric(5, 4), nullable=True)
    )
