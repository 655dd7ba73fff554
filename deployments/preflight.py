"""What must be right before anything is started: settings, database, contact, the address."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from deployments import environments
from deployments.prefect_api import Place, require_answer, wanted_place
from sourcemon import settings, wiring
from sourcemon.errors import Refused
from sourcemon.operations import listing
from sourcemon.operations.check_schedule import require_contact
from sourcemon.operations.deps import Deps


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What the stack stands on."""

    deps: Deps
    place: Place
    server_is_ours: bool
    """Whether nobody answers at ``place``, so that a server is to be started there."""
    logs: Path
    """A folder that can be written to."""


def checked() -> Checked:
    """Everything checked, nothing started.

    Raises:
        Refused: a setting, the database's schema or the address will not do; what and why.
        DatabaseUnavailable: the database cannot be reached.
    """
    with ExitStack() as undone:
        deps = wiring.build(settings.load())
        undone.callback(deps.close)
        _require_contact(deps)
        place = wanted_place()
        found = Checked(
            deps=deps,
            place=place,
            server_is_ours=not require_answer(place),
            logs=_made(environments.data_folder() / "logs"),
        )
        undone.pop_all()
    return found


def _require_contact(deps: Deps) -> None:
    """Refuse to begin what every tick would refuse: asking a public server without a contact."""
    if deps.policies.contact is None:
        for overview in listing.sources_of(deps):
            if overview.source.enabled:
                require_contact(overview.source.url, deps.policies)


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Refused(f"{folder} cannot be written to: {error.strerror}") from error
    return folder
