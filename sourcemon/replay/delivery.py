"""An answer onto a socket: head, body, waits, tears. No decision about what to answer."""

from __future__ import annotations

import selectors
import socket
import struct
from collections.abc import Callable
from http import HTTPStatus

from sourcemon.replay.answers import Answer, Silence

_LINGER_ZERO = struct.pack("ii", 1, 0)


class ClientLeft(ConnectionError):
    """The client, or the site on its way down, closed before the answer was whole."""


class Delivery:
    """One answer on its way out of one connection; what to answer was decided elsewhere."""

    def __init__(self, connection: socket.socket, answer: Answer) -> None:
        self._connection = connection
        self._answer = answer
        self._head = _head(answer)
        self._sent = 0

    @property
    def body_bytes(self) -> int:
        """How many bytes of the body have left so far."""
        return max(0, self._sent - len(self._head))

    def run(self, *, before_head: Callable[[], None], before_last_byte: Callable[[], None]) -> None:
        """Send the answer, as fast and as whole as it wants to be sent.

        Each callback comes before the bytes it speaks of: whoever has read the bytes finds what
        the callback has recorded. A silent answer calls neither.

        Raises:
            ConnectionError: the client left, or the site is stopping.
        """
        if self._answer.silence is not None:
            self._keep_silent(self._answer.silence)
            return
        if self._answer.delay_s or self._answer.gate:
            self._pause(self._answer.delay_s)
        before_head()
        *pieces, last = self._pieces()
        for piece in pieces:
            self._send(piece)
            self._pause(self._answer.pace.pause_s if self._answer.pace else 0.0)
        self._send(last[:-1])
        self._sent += 1
        before_last_byte()
        self._connection.sendall(last[-1:])

    def _pieces(self) -> list[bytes]:
        """Head and body as they leave: in one piece, or the head and then the paced body."""
        body = self._answer.body[: len(self._answer.body) - self._answer.withheld]
        if self._answer.pace is None:
            return [self._head + body]
        size = self._answer.pace.size
        return [self._head, *(body[i : i + size] for i in range(0, len(body), size))]

    def _send(self, piece: bytes) -> None:
        self._connection.sendall(piece)
        self._sent += len(piece)

    def _pause(self, seconds: float) -> None:
        """Let time pass, perhaps none, while the client waits.

        Raises:
            ClientLeft: it did not wait, or the site is stopping.
        """
        if self._hears_something(seconds):
            raise ClientLeft

    def _keep_silent(self, silence: Silence) -> None:
        if silence is Silence.HANGS:
            self._hears_something(None)
            return
        # Closing with a linger time of zero sends a reset; a shutdown before it would say goodbye.
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        self._connection.close()

    def _hears_something(self, timeout_s: float | None) -> bool:
        """Whether anything arrives in time. A client that waits sends nothing, so it is the end."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._connection, selectors.EVENT_READ)
            return bool(selector.select(timeout_s))


def _head(answer: Answer) -> bytes:
    """Status line and fields; ``Content-Length`` counts what is promised, not what is sent."""
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = "Unheard Of"
    fields = list(answer.headers.fields)
    # 304 has no body, and a length in it would be that of the 200 (RFC 9110 section 8.6).
    if answer.headers.get("content-length") is None and answer.status != HTTPStatus.NOT_MODIFIED:
        fields.append(("Content-Length", str(len(answer.body))))
    lines = [f"HTTP/1.1 {answer.status} {phrase}", *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")
