"""The settings in force, or one clear line about what is wrong with them."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable

from pydantic import ValidationError
from pydantic_settings import SettingsError

from sourcemon.errors import BadSetting
from sourcemon.settings.fields import PREFIX, Settings
from sourcemon.settings.files import config_file, file_content

_KEPT_QUIET = frozenset({"contact", "database_url"})
"""What is never repeated in a message: it may hold an address or a password."""
_NOT_SETTINGS = ("config", "credential_", "test_", "corpus")
"""Beginnings of variables of ours that name something else."""


def load() -> Settings:
    """The settings as they stand now.

    Raises:
        BadSetting: one is out of range or unknown, or the file cannot be read; the message names
            it and what is allowed.
    """
    _refuse_unknown()
    try:
        return Settings()
    except ValidationError as error:
        raise BadSetting(_told(error)) from None
    except UnicodeDecodeError:
        raise BadSetting(".env is not UTF-8 text; save it as such") from None
    except SettingsError as error:
        name = re.findall(r'field "(\w+)"', str(error))
        variable = f"{PREFIX}{name[0].upper()}" if name else "a setting"
        raise BadSetting(
            f"{variable}, or a part of it, cannot be read: lists and tables are written as JSON,"
            """ e.g. SOURCEMON_HTTP__ALLOWED_NETWORKS='["127.0.0.0/8"]'"""
        ) from None


def _refuse_unknown() -> None:
    """Refuse what looks like a setting and is none: a misspelt one would be ignored silently.

    Raises:
        BadSetting: the first unknown name, with the known one that comes nearest.
    """
    known = set(Settings.model_fields)
    for name in sorted(os.environ):
        own = name.removeprefix(PREFIX).lower()
        if not name.startswith(PREFIX) or own.startswith(_NOT_SETTINGS):
            continue
        if own.partition("__")[0] not in known:
            raise BadSetting(f"{name} is no setting{_nearest(own, known, PREFIX)}")
    for key in file_content():
        if key not in known:
            raise BadSetting(f"{config_file()}: {key} is no setting{_nearest(key, known)}")


def _nearest(name: str, known: Iterable[str], prefix: str = "") -> str:
    near = difflib.get_close_matches(name, known, n=1)
    shown = f"{prefix}{near[0].upper()}" if near and prefix else "".join(near)
    return f"; did you mean {shown}?" if near else ""


def _told(error: ValidationError) -> str:
    """Each wrong setting on one line: its variable, what is wrong, and what was given."""
    lines = []
    for problem in error.errors(include_url=False):
        name = PREFIX + "__".join(str(part) for part in problem["loc"]).upper()
        is_quiet = not _KEPT_QUIET.isdisjoint(problem["loc"])
        given = "" if is_quiet else f" (given: {problem['input']!r})"
        lines.append(f"{name}: {problem['msg']}{given}"[:300])
    return "; ".join(lines)
