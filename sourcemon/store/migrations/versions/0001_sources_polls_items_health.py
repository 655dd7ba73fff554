"""The first tables: sources, the state and history of their polls, items, grades."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from sourcemon.store.columns import UtcDateTime, json_column

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create every table of this revision."""
    _sources()
    _poll_states()
    _poll_runs()
    _items()
    _health_states()


def _sources() -> None:
    op.create_table(
        "sources",
        sa.Column("id", _BIG, primary_key=True),
        _text("kind", nullable=False),
        _text("url", nullable=False),
        _text("url_hash", nullable=False),
        _text("name", nullable=False),
        sa.Column("interval_s", sa.Integer, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        _instant("created_at", nullable=False),
        sa.CheckConstraint("kind IN ('feed')", name="sources_kind_known"),
        sa.CheckConstraint("interval_s >= 10", name="sources_interval_positive"),
        sa.UniqueConstraint("kind", "url_hash", name="sources_url_once"),
    )


def _poll_states() -> None:
    op.create_table(
        "poll_states",
        _reference("source_id", "sources", primary_key=True),
        _text("status", nullable=False),
        _text("etag"),
        _text("last_modified"),
        _text("body_hash"),
        _instant("cadence_due_at"),
        _text("cadence_because"),
        _instant("poll_floor_until"),
        _text("poll_floor_because"),
        _instant("retry_not_before_at"),
        _text("retry_because"),
        _instant("backoff_until"),
        _text("backoff_because"),
        _instant("circuit_until"),
        _text("circuit_because"),
        _instant("circuit_opened_at"),
        sa.Column("reopens", sa.Integer, nullable=False),
        sa.Column("retry_attempt", sa.Integer, nullable=False),
        _text("retry_category"),
        sa.Column("consecutive_failures", sa.Integer, nullable=False),
        _instant("last_polled_at"),
        _instant("last_success_at"),
        _text("last_error"),
        _instant("next_poll_at", nullable=False),
        _text("claim_token"),
        _instant("claim_expires_at"),
        _instant("hint_until"),
        sa.CheckConstraint("status IN ('idle', 'failed', 'gone')", name="poll_states_status_known"),
        sa.CheckConstraint("consecutive_failures >= 0", name="poll_states_failures_positive"),
        sa.CheckConstraint("retry_attempt >= 0", name="poll_states_attempt_positive"),
        sa.CheckConstraint("reopens >= 0", name="poll_states_reopens_positive"),
        sa.CheckConstraint(
            "(claim_token IS NULL) = (claim_expires_at IS NULL)", name="poll_states_claim_whole"
        ),
    )
    idle = sa.text("status = 'idle'")
    op.create_index(
        "poll_states_due",
        "poll_states",
        ["next_poll_at", "source_id"],
        sqlite_where=idle,
        postgresql_where=idle,
    )


def _poll_runs() -> None:
    counts = ("created", "updated", "unchanged", "duplicate", "quarantined", "ignored", "failed")
    op.create_table(
        "poll_runs",
        sa.Column("id", _BIG, primary_key=True),
        _reference("source_id", "sources"),
        _text("status", nullable=False),
        sa.Column("forced", sa.Boolean, nullable=False),
        _instant("started_at", nullable=False),
        _instant("finished_at"),
        sa.Column("duration_ms", sa.Integer),
        sa.Column("http_status", sa.Integer),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("pages_fetched", sa.Integer, nullable=False),
        sa.Column("entries_seen", sa.Integer, nullable=False),
        *[sa.Column(name, sa.Integer, nullable=False) for name in counts],
        _text("stop_reason"),
        _text("error_category"),
        _text("error"),
        sa.Column("decision", json_column()),
        sa.CheckConstraint(
            "status IN ('running', 'completed', 'not_modified', 'deferred', 'failed')",
            name="poll_runs_status_known",
        ),
        sa.CheckConstraint(
            f"entries_seen = {' + '.join(counts)}", name="poll_runs_counters_add_up"
        ),
    )
    op.create_index("poll_runs_by_source", "poll_runs", ["source_id", "started_at", "id"])
    op.create_index("poll_runs_by_time", "poll_runs", ["started_at", "id"])


def _items() -> None:
    op.create_table(
        "items",
        sa.Column("id", _BIG, primary_key=True),
        _reference("source_id", "sources"),
        _text("key", nullable=False),
        _text("key_hash", nullable=False),
        _text("content_hash", nullable=False),
        _text("guid"),
        _text("url"),
        _text("title"),
        _text("author"),
        _instant("published_at"),
        _instant("updated_at"),
        _text("image"),
        _text("language"),
        _text("comments_url"),
        _instant("first_seen_at", nullable=False),
        _instant("last_seen_at", nullable=False),
        sa.UniqueConstraint("source_id", "key_hash", name="items_once_per_source"),
    )
    op.create_index("items_by_source", "items", ["source_id", "id"])
    op.create_table(
        "item_contents",
        _reference("item_id", "items", primary_key=True),
        _text("summary"),
        _text("content"),
        sa.Column("categories", json_column()),
        sa.Column("enclosures", json_column()),
    )


def _health_states() -> None:
    op.create_table(
        "health_states",
        _reference("source_id", "sources", primary_key=True),
        _text("grade"),
        _instant("grade_changed_at"),
        sa.Column("rolling_success_rate", sa.Numeric(5, 4)),
        sa.CheckConstraint(
            "grade IN ('working', 'improving', 'declining', 'failing')",
            name="health_states_grade_known",
        ),
        sa.CheckConstraint(
            "rolling_success_rate >= 0 AND rolling_success_rate <= 1",
            name="health_states_rate_is_share",
        ),
    )


def _text(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, nullable=nullable)


def _instant(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, UtcDateTime(), nullable=nullable)


def _reference(name: str, table: str, *, primary_key: bool = False) -> sa.Column[Any]:
    target = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(
        name, _BIG, target, primary_key=primary_key, autoincrement=False, nullable=False
    )
