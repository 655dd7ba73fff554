"""Connections to checked addresses: the one place that opens a socket to the world."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, zip_longest

import httpcore

from sourcemon.core.replies import FetchLimits
from sourcemon.net.deadline import Deadline
from sourcemon.net.guard import AddressGuard
from sourcemon.net.lookups import Destination, is_address, look_up
from sourcemon.net.streams import BoundedStream, reason_of

MOST_ADDRESSES = 8
"""Addresses of one name that are tried; a name with hundreds makes no port scan of us."""
_FAIR_TRY_S = 1.0

Dial = Callable[[str, int, float], socket.socket]


class AddressRefused(httpcore.ConnectError):
    """The guard permits none of the addresses."""


class LookUpFailed(httpcore.ConnectError):
    """The name has no address."""


class LookUpTimeout(httpcore.ConnectTimeout):
    """The name was not looked up in time."""


def dial(address: str, port: int, timeout_s: float) -> socket.socket:
    """A connected socket to a numeric address; nothing is looked up.

    Raises:
        OSError: no connection; ``TimeoutError`` when ``timeout_s`` passed.
    """
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(timeout_s)
        sock.connect((address, port))
    except BaseException:
        sock.close()
        raise
    return sock


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedBackend(httpcore.NetworkBackend):
    """Looks a name up once, checks every answer and dials the very addresses that passed.

    A second look-up never happens, so a name that changes its answer gains nothing. Names in
    ``names`` are neither looked up nor checked: the operator wrote them.
    """

    guard: AddressGuard
    limits: FetchLimits
    names: Mapping[str, Destination]
    look_up: Callable[..., Sequence[str]] = look_up
    dial: Dial = dial

    def connect(self, host: str, port: int, deadline: Deadline) -> BoundedStream:
        """A connection to ``host``, good until ``deadline``.

        The look-up may take ``limits.read_timeout``, connecting ``limits.connect_timeout``.

        Raises:
            AddressRefused: no address of ``host`` may be connected to.
            LookUpFailed: it has none.
            httpcore.ConnectTimeout: looking up or connecting took too long.
            httpcore.ConnectError: every permitted address refused.
        """
        known = self.names.get(host.lower().rstrip("."))
        if known is not None:
            addresses: Sequence[str] = (known.address,)
            port = known.port or port
        else:
            addresses = self._permitted(host, port, deadline)
        sock = self._first_connection(addresses, port, deadline)
        return BoundedStream(sock, deadline=deadline, head_bytes=self.limits.max_header_bytes)

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> BoundedStream:
        """As :meth:`connect`, for httpcore: the whole use of the connection is one fetch."""
        return self.connect(host, port, Deadline.after(self.limits.total_timeout))

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> BoundedStream:
        """Never connects.

        Raises:
            AddressRefused: always.
        """
        raise AddressRefused(f"{path!r} is a socket of this machine")

    def _permitted(self, host: str, port: int, deadline: Deadline) -> tuple[str, ...]:
        """The addresses of ``host`` that the guard permits, families in turn, eight at most.

        Raises:
            AddressRefused: none is permitted.
            LookUpFailed, LookUpTimeout: as :meth:`_addresses`.
        """
        verdicts = [
            (address, self.guard.refusal(address))
            for address in self._addresses(host, port, deadline)
        ]
        permitted = [address for address, refusal in verdicts if refusal is None]
        if not permitted:
            raise AddressRefused("; ".join(refusal for _, refusal in verdicts[:3] if refusal))
        return _in_turn(permitted)[:MOST_ADDRESSES]

    def _addresses(self, host: str, port: int, deadline: Deadline) -> Sequence[str]:
        """Every address of ``host``, at least one.

        Raises:
            LookUpFailed: there is none.
            LookUpTimeout: the resolver did not answer in time.
        """
        if is_address(host):
            return (host,)
        patience = deadline.at_most(self.limits.read_timeout.total_seconds())
        try:
            answers = self.look_up(host, port, timeout_s=patience)
        except TimeoutError as problem:
            raise LookUpTimeout(f"no answer within {max(patience, 0):.3g} s") from problem
        except OSError as problem:
            raise LookUpFailed(reason_of(problem)) from problem
        except UnicodeError as problem:
            raise LookUpFailed("the text is no host name") from problem
        if not answers:
            raise LookUpFailed("the name has no address")
        return answers

    def _first_connection(
        self, addresses: Sequence[str], port: int, deadline: Deadline
    ) -> socket.socket:
        """The first connection that one of the addresses accepts, each given a fair try.

        Raises:
            httpcore.ConnectTimeout: one of them did not answer and no other did better.
            httpcore.ConnectError: all refused.
        """
        timeout = self.limits.connect_timeout.total_seconds()
        budget = Deadline.after(timedelta(seconds=deadline.at_most(timeout)))
        problems: list[OSError] = []
        for tried, address in enumerate(addresses):
            left = budget.left_s()
            if left <= 0:
                problems.append(TimeoutError())
                break
            patience = max(left / (len(addresses) - tried), min(left, _FAIR_TRY_S))
            try:
                return self.dial(address, port, patience)
            except OSError as problem:
                problems.append(problem)
        raise _connect_problem(problems, deadline, timeout)


def _connect_problem(
    problems: Sequence[OSError], deadline: Deadline, timeout_s: float
) -> httpcore.ConnectTimeout | httpcore.ConnectError:
    """One exception for all the attempts: a timeout says more than a refusal beside it."""
    if any(isinstance(problem, TimeoutError) for problem in problems):
        return httpcore.ConnectTimeout(deadline.lateness(timeout_s))
    return httpcore.ConnectError("; ".join(dict.fromkeys(map(reason_of, problems))))


def _in_turn(addresses: Sequence[str]) -> tuple[str, ...]:
    """The addresses with IPv6 and IPv4 taking turns, the resolver's first choice first.

    A dead IPv6 route must not eat the whole patience (RFC 8305 section 4).
    """
    first = [a for a in addresses if (":" in a) == (":" in addresses[0])]
    second = [a for a in addresses if a not in first]
    return tuple(a for a in chain.from_iterable(zip_longest(first, second)) if a is not None)
