"""Source monitor: polls feeds and paginated APIs, never early, and says why."""

__version__ = "0.1.0"
