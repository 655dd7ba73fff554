"""Each setting in force, and where its value comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dotenv import dotenv_values
from pydantic import BaseModel

from sourcemon.settings.fields import PREFIX, Settings
from sourcemon.settings.files import config_file, file_content


@dataclass(frozen=True, slots=True)
class Effective:
    """One setting as it is in force: its variable, its value, and where that comes from."""

    variable: str
    value: object
    origin: str


def effective(chosen: Settings) -> tuple[Effective, ...]:
    """Every setting in force with its origin, in the order of their declaration."""
    given = {"environment": set(os.environ), ".env": set(dotenv_values(".env"))}
    file = str(config_file())
    return tuple(
        Effective(_variable(path), value, _origin(path, given, file))
        for path, value in _leaves(chosen, ())
    )


def _leaves(part: BaseModel, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """The path and value of every setting below ``part``."""
    for name in type(part).model_fields:
        value = getattr(part, name)
        if isinstance(value, BaseModel):
            yield from _leaves(value, (*path, name))
        else:
            yield (*path, name), value


def _origin(path: tuple[str, ...], given: Mapping[str, set[str]], file: str) -> str:
    """Where a setting comes from: the first that names it, or a section that it is in."""
    names = {_variable(path[: depth + 1]) for depth in range(len(path))}
    for origin, variables in given.items():
        if names & {variable.upper() for variable in variables}:
            return origin
    content: object = file_content()
    for name in path:
        if not isinstance(content, dict) or name not in content:
            return "default"
        content = content[name]
    return file


def _variable(path: tuple[str, ...]) -> str:
    return PREFIX + "__".join(path).upper()
