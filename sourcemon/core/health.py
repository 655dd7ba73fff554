"""How reliable is a source? A grade for people, from its newest attempts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from itertools import takewhile


class Grade(StrEnum):
    """What a person is told about a source's reliability."""

    WORKING = "working"
    IMPROVING = "improving"
    DECLINING = "declining"
    FAILING = "failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthPolicy:
    """Thresholds of the grade; rates are shares of successes, 0..1."""

    window_size: int = 20
    healthy_threshold: Decimal = Decimal("0.8")
    auto_pause_threshold: Decimal = Decimal("0.2")


@dataclass(frozen=True, slots=True)
class Window:
    """The newest attempts that say something about the source, newest first: did each succeed?"""

    successes: tuple[bool, ...]

    @property
    def rate(self) -> Decimal | None:
        """The share of successes to four decimals, or ``None`` for an empty window."""
        if not self.successes:
            return None
        share = Decimal(sum(self.successes)) / len(self.successes)
        return share.quantize(Decimal("0.0001"), ROUND_HALF_UP)

    def newest(self, outcome: bool) -> int:  # noqa: FBT001 - the argument is the thing counted
        """How many of the newest attempts in a row came to ``outcome``."""
        return len(list(takewhile(lambda success: success is outcome, self.successes)))


Rule = Callable[[Window, HealthPolicy], Grade | None]


def failing(window: Window, policy: HealthPolicy) -> Grade | None:
    """A full window below the pause threshold: one failure is never a verdict."""
    full = len(window.successes) >= policy.window_size
    below = window.rate is not None and window.rate < policy.auto_pause_threshold
    return Grade.FAILING if full and below else None


def declining(window: Window, _policy: HealthPolicy) -> Grade | None:
    """The newest three or more failed."""
    return Grade.DECLINING if window.newest(outcome=False) >= 3 else None


def improving(window: Window, _policy: HealthPolicy) -> Grade | None:
    """The newest two or more succeeded, with a failure behind them."""
    recovered = window.newest(outcome=True) >= 2 and not all(window.successes)
    return Grade.IMPROVING if recovered else None


def working(window: Window, policy: HealthPolicy) -> Grade | None:
    """The rate is healthy."""
    healthy = window.rate is not None and window.rate >= policy.healthy_threshold
    return Grade.WORKING if healthy else None


RULES: Sequence[Rule] = (failing, declining, improving, working)
"""In order of priority: the first that speaks decides."""


def grade(window: Window, policy: HealthPolicy) -> Grade | None:
    """The grade of a window, ``declining`` where no rule speaks, ``None`` for an empty window."""
    if not window.successes:
        return None
    spoken = (rule(window, policy) for rule in RULES)
    return next((found for found in spoken if found is not None), Grade.DECLINING)
