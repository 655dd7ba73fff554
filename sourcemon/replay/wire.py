"""Behaviours of the connection: slow, dripping, torn, silent, held. All times are real seconds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Event

from sourcemon.replay.answers import Answer, Feed, Gate, Pace, Request, Silence
from sourcemon.replay.scripted import Altered, During, Fixed


def slow(feed: Feed, *, seconds: float) -> Feed:
    """An answer that begins ``seconds`` late."""
    return Altered(feed, lambda _, answer: replace(answer, delay_s=seconds))


def drip(feed: Feed, *, size: int, pause_s: float) -> Feed:
    """A body that leaves in pieces of ``size`` bytes, ``pause_s`` before each."""
    return Altered(feed, lambda _, answer: replace(answer, pace=Pace(size, pause_s)))


def torn(feed: Feed, *, withheld: int = 100) -> Feed:
    """A body that ends ``withheld`` bytes before its ``Content-Length``, or has none at all."""
    return Altered(
        feed, lambda _, answer: replace(answer, withheld=min(withheld, len(answer.body)))
    )


def silent(feed: Feed, *, from_: datetime | None = None, until: datetime | None = None) -> Feed:
    """A connection that is accepted and never answered inside the window."""
    return During(feed, Fixed(feed.path, Answer(status=0, silence=Silence.HANGS)), from_, until)


def resets(feed: Feed, *, from_: datetime | None = None, until: datetime | None = None) -> Feed:
    """A connection that is reset once the request has been read, inside the window."""
    return During(feed, Fixed(feed.path, Answer(status=0, silence=Silence.RESETS)), from_, until)


@dataclass(frozen=True, slots=True)
class Held:
    """A feed whose answers a test holds back until it sets ``release``.

    The answer is the one of the instant of arrival, ``Date`` included. A client that leaves in the
    meantime is noticed only after the release; stopping the site releases.
    """

    feed: Feed
    gate: Gate = field(default_factory=Gate)

    @property
    def path(self) -> str:
        """The path of the feed."""
        return self.feed.path

    @property
    def entered(self) -> Event:
        """Set when the first request is being held."""
        return self.gate.entered

    @property
    def release(self) -> Event:
        """To be set by the test; then this and all later answers pass."""
        return self.gate.release

    def answer(self, request: Request) -> Answer:
        """The feed's answer, held."""
        return replace(self.feed.answer(request), gate=self.gate)
