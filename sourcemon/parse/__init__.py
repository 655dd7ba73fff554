"""Bytes to values: feeds, dates. Pure functions; what cannot be read is a value, no exception."""
