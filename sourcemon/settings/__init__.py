"""The operator's settings: what there is, what is in force, and where it comes from."""

from sourcemon.settings.fields import (
    HealthSettings,
    HttpSettings,
    PollingSettings,
    Settings,
    seconds,
)
from sourcemon.settings.files import config_file, default_database_file
from sourcemon.settings.loading import load
from sourcemon.settings.origins import Effective, effective

__all__ = [
    "Effective",
    "HealthSettings",
    "HttpSettings",
    "PollingSettings",
    "Settings",
    "config_file",
    "default_database_file",
    "effective",
    "load",
    "seconds",
]
