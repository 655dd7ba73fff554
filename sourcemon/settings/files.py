"""Where settings and the embedded database are looked for, and what the file says."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import platformdirs

from sourcemon.errors import BadSetting

CONFIG_NAME = "sourcemon.toml"
CONFIG_VARIABLE = "SOURCEMON_CONFIG"


def config_file() -> Path | None:
    """The configuration file in force: ``SOURCEMON_CONFIG``, else the nearest ``sourcemon.toml``.

    It is looked for in the current folder and those above it.

    Raises:
        BadSetting: ``SOURCEMON_CONFIG`` names no file.
    """
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        path = Path(named).expanduser().absolute()
        if not path.is_file():
            raise BadSetting(f"{CONFIG_VARIABLE} names {path}, which is no file")
        return path
    here = Path.cwd()
    candidates = (folder / CONFIG_NAME for folder in (here, *here.parents))
    return next((path for path in candidates if path.is_file()), None)


def default_database_file() -> Path:
    """The embedded database: beside ``sourcemon.toml``, else in the user's data folder."""
    config = config_file()
    folder = config.parent if config else platformdirs.user_data_path("sourcemon")
    return folder / "sourcemon.db"


def file_content() -> dict[str, object]:
    """The content of the configuration file, empty where there is none.

    Raises:
        BadSetting: it cannot be read or is no TOML.
    """
    path = config_file()
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadSetting(f"{path}: {error}") from None
