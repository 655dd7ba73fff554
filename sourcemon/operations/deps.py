"""What operations are given: the database, the way to the network, the clock, and the policies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from sourcemon.core.cadence import CadencePolicy
from sourcemon.core.health import HealthPolicy
from sourcemon.core.replies import Reply, RequestPlan, Response
from sourcemon.store.session import Database


class Clock(Protocol):
    """The reader of time and chance."""

    def now(self) -> datetime:
        """This instant, aware, in UTC."""

    def roll(self) -> float:
        """A random number, 0 <= roll < 1."""

    def token(self) -> str:
        """A text that nobody else has."""

    def lease_instant(self) -> datetime | None:
        """The instant by which claims are judged; ``None`` leaves it to the database's clock."""


class Fetcher(Protocol):
    """The way to the network: one request, one reply, no exception for what the world does."""

    def fetch(self, plan: RequestPlan, *, heard: Callable[[Response], None]) -> Reply:
        """What came of asking; ``heard`` is given the answer's head before its body is read."""

    def close(self) -> None:
        """Let go of every connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The numbers behind the rules, as the operator set them."""

    cadence: CadencePolicy = CadencePolicy()
    health: HealthPolicy = HealthPolicy()
    default_interval: timedelta = timedelta(minutes=30)
    claim_lease: timedelta = timedelta(minutes=5)
    """Longer than the longest single step of a poll, so that only the dead lose a claim."""
    threads: int = 16
    """How many polls one process has under way at most."""
    max_in_flight: int = 32
    """How many polls the whole fleet has under way at most, over all processes."""
    contact: str | None = None
    """Who answers for our requests: named in the User-Agent, required beyond this machine."""


class CrashPoint(StrEnum):
    """Where a poll may be killed in a test, each after the transaction that its name tells."""

    CLAIMED = "claimed"
    ANNOUNCED = "announced"
    """The run row is open and the request is about to be sent."""
    HINTED = "hinted"
    """The reply has come and what the server asks of us is stored."""
    PERSISTED = "persisted"
    BEFORE_VERDICT = "before_verdict"


def pass_by(_point: CrashPoint) -> None:
    """Go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """Everything an operation may touch; shared by the threads of a process."""

    database: Database
    http: Fetcher
    clock: Clock
    policies: Policies
    reached: Callable[[CrashPoint], None] = pass_by
    """Called at each crash point; outside tests it does nothing."""

    def close(self) -> None:
        """Let go of the network and the database; nothing works afterwards."""
        self.http.close()
        self.database.close()
