"""Column types that hold the same value on both databases."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import JSON, DateTime, Dialect
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An instant: aware in, aware UTC out, to the microsecond; a naive one is a mistake of ours."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """``value`` in UTC; SQLite keeps text without a zone, which then sorts by time."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a naive instant cannot be stored: {value}")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The stored instant, aware, in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def json_column() -> JSON:
    """The column type for JSON values: ``jsonb`` on PostgreSQL, text on SQLite."""
    return JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
