"""Settings to the dependencies of operations: built at first use, replaced by ``use``."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator

from sourcemon import __version__, settings
from sourcemon.clock import SystemClock
from sourcemon.core.cadence import CadencePolicy
from sourcemon.core.health import HealthPolicy
from sourcemon.core.replies import FetchLimits
from sourcemon.errors import BadSetting
from sourcemon.net.client import HttpClient
from sourcemon.net.deadline import stoppable
from sourcemon.net.guard import AddressGuard
from sourcemon.operations.deps import Clock, Deps, Policies
from sourcemon.settings import Settings, seconds
from sourcemon.store import migrations
from sourcemon.store.session import Database

__all__ = [
    "build",
    "deps",
    "deps_on_a_pool",
    "fetch_limits",
    "policies",
    "stoppable",
    "use",
    "user_agent",
]

_SPARE_CONNECTIONS = 4
"""Database connections beyond one for each thread."""


class _Wired:
    """The dependencies in force in this process."""

    lock = threading.RLock()
    deps: Deps | None = None


def deps() -> Deps:
    """The dependencies in force, built from the settings when first asked for.

    Raises:
        BadSetting: a setting is missing or out of range.
        DatabaseBehind: the database's schema is not this program's.
        DatabaseUnavailable: the database cannot be reached.
    """
    with _Wired.lock:
        if _Wired.deps is None:
            _Wired.deps = build(settings.load())
        return _Wired.deps


def deps_on_a_pool() -> Deps:
    """The dependencies in force, where a worker's disk is no place to keep anything.

    Raises:
        BadSetting: no database is set.
    """
    with _Wired.lock:
        if _Wired.deps is None and settings.load().is_embedded:
            raise BadSetting(
                "SOURCEMON_DATABASE_URL is not set: on a work pool the embedded file would be lost"
                " with its worker; name a PostgreSQL database for all workers"
            )
        return deps()


@contextlib.contextmanager
def use(replacement: Deps) -> Iterator[Deps]:
    """Put other dependencies in force for the whole process until the block ends."""
    with _Wired.lock:
        before, _Wired.deps = _Wired.deps, replacement
    try:
        yield replacement
    finally:
        with _Wired.lock:
            _Wired.deps = before


def build(chosen: Settings, *, clock: Clock | None = None) -> Deps:
    """Dependencies for these settings, on the machine's clock unless another one is given.

    The embedded database is brought to the newest schema; a database that was set by somebody is
    only checked.

    Raises:
        BadSetting: the database URL is none.
        DatabaseBehind: the database's schema is not this program's.
        DatabaseUnavailable: the database cannot be reached.
    """
    clock = clock or SystemClock()
    logging.getLogger("httpcore").setLevel(logging.WARNING)  # its DEBUG lines hold whole headers
    url = chosen.effective_database_url
    if chosen.is_embedded:
        migrations.upgrade(url)
    else:
        migrations.require_current(url)
    try:
        http = _http_client(chosen, clock)
    except ValueError as problem:
        raise BadSetting(f"SOURCEMON_HTTP__RESOLVER: {problem}") from None
    return Deps(
        database=Database(url, pool_size=chosen.polling.threads + _SPARE_CONNECTIONS),
        http=http,
        clock=clock,
        policies=policies(chosen),
    )


def _http_client(chosen: Settings, clock: Clock) -> HttpClient:
    """The way to the network under these settings.

    Raises:
        ValueError: the resolver's map names no address.
    """
    return HttpClient(
        user_agent=user_agent(chosen.contact),
        limits=fetch_limits(chosen),
        guard=AddressGuard(allowed=chosen.http.allowed_networks),
        now=clock.now,
        resolver=chosen.http.resolver,
    )


def user_agent(contact: str | None) -> str:
    """How we call ourselves; without a contact no server beyond this machine is asked."""
    return f"sourcemon/{__version__} (+{contact})" if contact else f"sourcemon/{__version__}"


def fetch_limits(chosen: Settings) -> FetchLimits:
    """The caps of a fetch as the operator set them."""
    http = chosen.http
    return FetchLimits(
        max_body_bytes=http.max_body_bytes,
        max_header_bytes=http.max_header_bytes,
        max_redirects=http.max_redirects,
        connect_timeout=seconds(http.connect_timeout_s),
        read_timeout=seconds(http.read_timeout_s),
        total_timeout=seconds(http.total_timeout_s),
    )


def policies(chosen: Settings) -> Policies:
    """The policies as the operator set them."""
    polling = chosen.polling
    return Policies(
        cadence=CadencePolicy(
            jitter=polling.jitter,
            ceiling_with_validators=seconds(polling.ceiling_with_validators_s),
            ceiling_without=seconds(polling.ceiling_without_validators_s),
        ),
        health=HealthPolicy(
            window_size=chosen.health.window_size,
            healthy_threshold=chosen.health.healthy_threshold,
            auto_pause_threshold=chosen.health.auto_pause_threshold,
        ),
        default_interval=seconds(polling.default_interval_s),
        claim_lease=seconds(polling.claim_lease_s),
        threads=polling.threads,
        max_in_flight=polling.max_in_flight,
        contact=chosen.contact,
    )
