"""How a source stands with its next poll, in one word and in one sentence."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sourcemon.cli.instants import exact, not_before
from sourcemon.core.overviews import SourceOverview
from sourcemon.core.poll_state import PollStatus
from sourcemon.core.schedule import Objection


class Standing(StrEnum):
    """Whether a source is polled next by itself, now or later, or only once somebody acts."""

    DUE = "due"
    WAITING = "waiting"
    POLLING = "polling"
    """A worker holds it at this moment."""
    SWITCHED_OFF = "switched_off"
    FAILED = "failed"
    GONE = "gone"

    @property
    def waits_for_operator(self) -> bool:
        """Whether time alone will not bring the next poll."""
        return self in {Standing.SWITCHED_OFF, Standing.FAILED, Standing.GONE}

    @property
    def words(self) -> str:
        """It, for a person."""
        return _WORDS.get(self, self.value.replace("_", " "))

    @property
    def style(self) -> str:
        """Its colour."""
        return _STYLES[self]


_WORDS = {Standing.DUE: "due now", Standing.POLLING: "being polled"}
_STYLES = {
    Standing.DUE: "green",
    Standing.WAITING: "",
    Standing.POLLING: "cyan",
    Standing.SWITCHED_OFF: "dim",
    Standing.FAILED: "red",
    Standing.GONE: "red",
}


def standing_of(overview: SourceOverview, now: datetime) -> Standing:
    """How the source stands at ``now``; what needs a person comes before what time mends."""
    if not overview.source.enabled:
        return Standing.SWITCHED_OFF
    if overview.state.status is not PollStatus.IDLE:
        return Standing(overview.state.status.value)
    if overview.claimed_until is not None and overview.claimed_until > now:
        return Standing.POLLING
    return Standing.DUE if overview.state.schedule.is_due(now) else Standing.WAITING


def reason_of(objection: Objection) -> str:
    """An objection by its name and in its words."""
    return f"{objection.name}: {objection.because}"


def trouble_of(overview: SourceOverview) -> str:
    """What somebody must act upon: why the source failed or is gone, and the command that helps."""
    enable = f"`sourcemon enable {overview.source.id}`"
    if not overview.source.enabled:
        return f"{enable} switches it on"
    said = overview.state.last_error or "no reason was recorded"
    return f"{said}; {enable} to try again"


def sentence_of(overview: SourceOverview, now: datetime) -> str:
    """When the source is polled next and what decides it, as a sentence without its full stop."""
    standing = standing_of(overview, now)
    binding = overview.state.schedule.binding()
    if standing.waits_for_operator:
        return f"No next poll — {standing.words}: {trouble_of(overview)}"
    if standing is Standing.POLLING and overview.claimed_until is not None:
        return f"Being polled now, by a worker that may until {exact(overview.claimed_until)}"
    if standing is Standing.WAITING and binding is not None:
        return f"Next poll {not_before(binding.until)} — {reason_of(binding)}"
    if overview.state.last_polled_at is None:
        return "Never polled: due now"
    if binding is None:
        return "Due now — nothing speaks against a poll"
    return f"Due now — {reason_of(binding)}, passed {exact(binding.until)}"
