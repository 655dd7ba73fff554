"""A socket whose every wait is bounded by the deadline of the fetch it serves."""

from __future__ import annotations

import contextlib
import socket
import ssl
import time

import httpcore

from sourcemon.net.deadline import Deadline

_H11_BUFFER = 100_000
"""h11 gives up at 102 400 buffered bytes with a less clear error; stay below it."""
_SHORTEST_WAIT_S = 0.001
_SLICE_S = 0.5
"""The longest wait after which a stop is looked for."""


class HeadTooLarge(httpcore.RemoteProtocolError):
    """The response's head is longer than the limit."""


class BoundedStream(httpcore.NetworkStream):
    """Bytes of one connection, for one response; used by one thread at a time.

    No wait ends after the deadline, so a byte now and then does not prolong a fetch. Until
    :meth:`head_is_complete` is called, at most ``head_bytes`` are accepted, informational
    responses included.
    """

    def __init__(self, sock: socket.socket, *, deadline: Deadline, head_bytes: int) -> None:
        self._sock = sock
        self._deadline = deadline
        self._head_left: int | None = min(head_bytes, _H11_BUFFER)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Up to ``max_bytes``; none at the end of the connection.

        Raises:
            Stopped: the process is to end.
            httpcore.ReadTimeout: silence for ``timeout`` seconds, or the deadline has passed.
            HeadTooLarge: all bytes of the head are used up and it is not complete.
            httpcore.ReadError: the connection broke.
        """
        try:
            data = self._received(max_bytes, timeout)
        except TimeoutError as problem:
            raise httpcore.ReadTimeout(self._deadline.lateness(timeout)) from problem
        except OSError as problem:
            raise httpcore.ReadError(reason_of(problem)) from problem
        if self._head_left is not None:
            self._head_left -= len(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of ``buffer``.

        Raises:
            httpcore.WriteTimeout: no progress for ``timeout`` seconds, or the deadline has passed.
            httpcore.WriteError: the connection broke.
        """
        rest = memoryview(buffer)
        while rest:
            self._wait_at_most(timeout, httpcore.WriteTimeout)
            try:
                rest = rest[self._sock.send(rest) :]
            except TimeoutError as problem:
                raise httpcore.WriteTimeout(self._deadline.lateness(timeout)) from problem
            except OSError as problem:
                raise httpcore.WriteError(reason_of(problem)) from problem

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> BoundedStream:
        """This connection under TLS; it is closed when the handshake fails.

        Raises:
            httpcore.ConnectTimeout: the handshake took too long.
            httpcore.ConnectError: it failed; the cause is an ``ssl.SSLError`` when TLS said so.
        """
        try:
            self._wait_at_most(timeout, httpcore.ConnectTimeout)
            self._sock = ssl_context.wrap_socket(self._sock, server_hostname=server_hostname)
        except TimeoutError as problem:
            self.close()
            raise httpcore.ConnectTimeout(self._deadline.lateness(timeout)) from problem
        except OSError as problem:
            self.close()
            raise httpcore.ConnectError(reason_of(problem)) from problem
        except BaseException:
            self.close()
            raise
        return self

    def head_is_complete(self) -> None:
        """From here on bytes belong to the body, which has its own limit."""
        self._head_left = None

    def close(self) -> None:
        """Close the connection; never fails."""
        with contextlib.suppress(OSError):
            self._sock.close()

    def _received(self, max_bytes: int, timeout: float | None) -> bytes:
        """The next bytes, waited for in slices, so that a stop is noticed.

        Raises:
            Stopped: the process is to end.
            TimeoutError: silence for ``timeout`` seconds, or the deadline has passed.
            OSError: the connection broke.
        """
        silent_until = time.monotonic() + self._deadline.at_most(timeout)
        while (left := silent_until - time.monotonic()) > 0:
            self._deadline.require_going_on()
            self._sock.settimeout(max(min(left, _SLICE_S), _SHORTEST_WAIT_S))
            with contextlib.suppress(TimeoutError):
                return self._sock.recv(self._room(max_bytes))
        raise TimeoutError

    def _room(self, max_bytes: int) -> int:
        """How many bytes may be taken now.

        Raises:
            HeadTooLarge: none.
        """
        if self._head_left is None:
            return max_bytes
        if self._head_left <= 0:
            raise HeadTooLarge("the response's head exceeds the limit")
        return min(max_bytes, self._head_left)

    def _wait_at_most(self, timeout: float | None, late: type[httpcore.TimeoutException]) -> None:
        """Set the socket's patience.

        Raises:
            httpcore.TimeoutException: of the kind ``late``, when the deadline has passed.
        """
        patience = self._deadline.at_most(timeout)
        if patience <= 0:
            raise late(self._deadline.lateness(timeout))
        self._sock.settimeout(max(patience, _SHORTEST_WAIT_S))


def reason_of(problem: OSError) -> str:
    """What went wrong, without the number or the place in the source of a library."""
    if isinstance(problem, ssl.SSLCertVerificationError):
        return problem.verify_message
    if isinstance(problem, ssl.SSLError) and problem.reason:
        return problem.reason.lower().replace("_", " ")
    return problem.strerror or str(problem) or type(problem).__name__
