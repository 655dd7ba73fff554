"""Where Prefect's API is, and who answers there. Starts nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.settings import (
    PREFECT_API_REQUEST_TIMEOUT,
    PREFECT_API_URL,
    PREFECT_CLIENT_MAX_RETRIES,
    get_current_settings,
    temporary_settings,
)

from sourcemon.errors import Refused

DEFAULT_URL = "http://127.0.0.1:4200/api"
"""Where the API is looked for, and served, while ``PREFECT_API_URL`` is not set anywhere."""
ANSWERS_WITHIN_S = 5.0


class Answer(Enum):
    """Who is at an address."""

    PREFECT = auto()
    NOBODY = auto()
    SOMEBODY_ELSE = auto()


@dataclass(frozen=True, slots=True)
class Place:
    """An address of Prefect's API, as ``http://127.0.0.1:4200/api``."""

    url: str

    @property
    def ui_url(self) -> str:
        """Where a person looks."""
        return self.url.removesuffix("/api")

    @property
    def host(self) -> str:
        """The host without brackets, a numeric one where it is ``localhost``."""
        host = urlsplit(self.url).hostname or ""
        return "127.0.0.1" if host == "localhost" else host

    @property
    def port(self) -> int:
        """The port, that of the scheme if none is named."""
        parts = urlsplit(self.url)
        return parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def can_be_ours(self) -> bool:
        """Whether a server started on this machine would answer there: plain HTTP on loopback."""
        parts = urlsplit(self.url)
        return parts.scheme == "http" and parts.path == "/api" and _is_loopback(self.host)


def wanted_place() -> Place:
    """The address in ``PREFECT_API_URL``, from the environment or Prefect's profile, or the usual.

    Raises:
        Refused: it is no address.
    """
    url = (get_current_settings().api.url or DEFAULT_URL).rstrip("/")
    place = Place(url)
    try:
        is_address = bool(urlsplit(url).scheme in {"http", "https"} and place.host and place.port)
    except ValueError:
        is_address = False
    if not is_address:
        raise Refused(f"PREFECT_API_URL: {url!r} is no address; the usual one is {DEFAULT_URL}")
    return place


def answer_at(place: Place, *, within_s: float = ANSWERS_WITHIN_S) -> Answer:
    """Who answers there, asked once."""
    if _is_loopback(place.host) and not _listens(place, within_s=within_s):
        return Answer.NOBODY  # known at once; Prefect's client would try for seconds
    try:
        with client_at(place, within_s=within_s) as client:
            healthy = client.request("GET", "/health").json()
    except (httpx.ConnectError, httpx.ConnectTimeout):
        return Answer.NOBODY
    except (httpx.HTTPError, ValueError):
        return Answer.SOMEBODY_ELSE
    return Answer.PREFECT if healthy is True else Answer.SOMEBODY_ELSE


def require_answer(place: Place) -> bool:
    """Whether a Prefect server answers there; ``False`` means that one may be started there.

    Raises:
        Refused: something else has the address, or nobody answers at one that is not ours.
    """
    match answer_at(place):
        case Answer.PREFECT:
            return True
        case Answer.SOMEBODY_ELSE:
            raise Refused(
                f"what answers at {place.url} is no Prefect server: set PREFECT_API_URL to another"
                f" address, e.g. http://127.0.0.1:{place.port + 1}/api"
            )
        case Answer.NOBODY if not place.can_be_ours:
            raise Refused(
                f"no Prefect server answers at {place.url}: start it, or unset PREFECT_API_URL to"
                " have one started on this machine"
            )
    return False


@contextmanager
def client_at(place: Place, *, within_s: float = ANSWERS_WITHIN_S) -> Iterator[SyncPrefectClient]:
    """A client that asks there, each question once and not for long."""
    chosen = {
        PREFECT_API_URL: place.url,
        PREFECT_CLIENT_MAX_RETRIES: 0,
        PREFECT_API_REQUEST_TIMEOUT: within_s,
    }
    with temporary_settings(chosen), get_client(sync_client=True) as client:
        yield client


def _listens(place: Place, *, within_s: float) -> bool:
    try:
        socket.create_connection((place.host, place.port), within_s).close()
    except OSError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
