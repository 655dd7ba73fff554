"""The oracle for "never early": which requests came before an instant the site had asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sourcemon.replay.access import Access
from sourcemon.replay.asks import Ask, AskKind

_Scope = tuple[AskKind, str, str]


@dataclass(frozen=True, slots=True)
class EarlyRequest:
    """A request, the latest ask that it violated, and the answer that had made this ask."""

    request: Access
    ask: Ask
    asked_by: Access

    @property
    def by(self) -> timedelta:
        """How much too early it came; always positive."""
        return self.ask.until - self.request.at

    def __str__(self) -> str:
        when = f"{self.request.path} at {self.request.at.isoformat()}"
        return f"{when}, {self.by} before the {self.ask.kind} of {self.ask.because}"


def early_requests(accesses: Sequence[Access]) -> Iterator[EarlyRequest]:
    """The early ones among ``accesses``, which stand in order of arrival.

    An ask counts against requests that began after its answer had ended: before that nobody could
    know it. A later answer never takes an earlier ask back. A stop binds its path; a floor binds
    its path and query, since the next page of a walk is no next poll.
    """
    heard: dict[_Scope, tuple[Ask, Access]] = {}
    asking = [access for access in accesses if access.ended_s is not None and access.asks]
    unheard = sorted(asking, key=_ended_s, reverse=True)
    for request in accesses:
        while unheard and _ended_s(unheard[-1]) <= request.began_s:
            _hear(heard, unheard.pop())
        binding = _latest(heard, request)
        if binding is not None and request.at < binding[0].until:
            yield EarlyRequest(request, *binding)


def _hear(heard: dict[_Scope, tuple[Ask, Access]], answer: Access) -> None:
    """Enter the asks of an answer; of one scope the latest instant stays."""
    for ask in answer.asks:
        scope = _scope(ask.kind, answer)
        if scope not in heard or ask.until > heard[scope][0].until:
            heard[scope] = (ask, answer)


def _latest(heard: dict[_Scope, tuple[Ask, Access]], request: Access) -> tuple[Ask, Access] | None:
    """The ask with the latest instant among those that bind ``request``."""
    scopes = [_scope(kind, request) for kind in AskKind]
    binding = [heard[scope] for scope in scopes if scope in heard]
    return max(binding, key=lambda pair: pair[0].until, default=None)


def _scope(kind: AskKind, access: Access) -> _Scope:
    return (kind, access.path, access.query if kind is AskKind.FLOOR else "")


def _ended_s(access: Access) -> float:
    return float("inf") if access.ended_s is None else access.ended_s
