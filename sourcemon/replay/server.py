"""The HTTP server under the replay site: threads, connections, a clean end. No content."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer
from typing import cast

from sourcemon.core.replies import Headers
from sourcemon.replay.access import Access
from sourcemon.replay.access_log import AccessLog
from sourcemon.replay.answers import Answer, Gate, Request, http_date
from sourcemon.replay.asks import asks_of
from sourcemon.replay.delivery import Delivery

Script = Callable[[Request], Answer]
"""From a GET to its answer; called from many threads at once."""

_METHOD_NOT_ALLOWED = Answer(status=405, headers=Headers((("Allow", "GET"),)))


class SiteServer(TCPServer):
    """One daemon thread per connection; :meth:`close` ends them all and waits for them."""

    allow_reuse_address = True
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        *,
        script: Script,
        log: AccessLog,
        now: Callable[[], datetime],
    ) -> None:
        super().__init__(address, Conversation)
        self.script = script
        self.log = log
        self.now = now
        self._lock = threading.Lock()
        self._is_closing = False
        self._connections: dict[threading.Thread, socket.socket] = {}
        self._gates: list[Gate] = []

    def pass_gate(self, gate: Gate) -> None:
        """Return once the gate is released, by the test or by :meth:`close`."""
        with self._lock:
            self._gates.append(gate)
            is_closing = self._is_closing
        if is_closing:
            gate.release.set()
        gate.entered.set()
        gate.release.wait()

    def close(self) -> None:
        """Stop accepting, cut every connection, release every gate, wait for the threads.

        ``serve_forever`` must be running in another thread.
        """
        self.shutdown()
        self.server_close()
        with self._lock:
            self._is_closing = True
            connections = dict(self._connections)
            gates = list(self._gates)
        for connection in connections.values():
            # The thread may have closed it a moment ago.
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        # Only now, so that a held answer finds its connection cut and is not sent after all.
        for gate in gates:
            gate.release.set()
        for thread in connections:
            thread.join()

    def process_request(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        """Give the connection a thread of its own, known to :meth:`close` before it starts."""
        connection = cast("socket.socket", request)  # only a UDP server's is something else
        thread = threading.Thread(
            target=self._converse,
            args=(connection, client_address),
            daemon=True,
            name="replay-client",
        )
        with self._lock:
            self._connections[thread] = connection
        thread.start()

    def handle_error(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        """Print a fault in a script, as the base class does; a client that leaves is no fault."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def _converse(self, connection: socket.socket, client_address: object) -> None:
        try:
            self.finish_request(connection, client_address)
        except Exception:  # noqa: BLE001 - the outermost ring of this thread, as in socketserver
            self.handle_error(connection, client_address)
        finally:
            self.shutdown_request(connection)
            with self._lock:
                del self._connections[threading.current_thread()]


class Conversation(BaseHTTPRequestHandler):
    """The requests of one connection, one after the other, each entered in the log."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: SiteServer

    def do_GET(self) -> None:
        """Answer as the script says."""
        self._exchange(self.server.script)

    def do_other(self) -> None:
        """Answer 405 and close: a body that may follow is not read."""
        self.close_connection = True
        self._exchange(lambda _: _METHOD_NOT_ALLOWED)

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_other  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base names it
        """Nothing: the access log is the record."""

    def date_time_string(self, timestamp: float | None = None) -> str:
        """The site's ``Date`` on the base class's own answers to malformed requests."""
        return http_date(self.server.now())

    def _exchange(self, script: Script) -> None:
        headers = Headers(tuple(self.headers.items()))
        access = self.server.log.begin(
            method=self.command, target=self.path, headers=headers, at=self.server.now()
        )
        try:
            answer = _dated(script(_request(access, headers)), access.at)
            if answer.gate is not None:
                self.server.pass_gate(answer.gate)
            self._deliver(answer, access)
        finally:
            # Already entered, with its bytes, unless the script or the delivery failed early.
            self.server.log.end(access.serial, body_bytes=0)

    def _deliver(self, answer: Answer, access: Access) -> None:
        log = self.server.log
        delivery = Delivery(self.connection, answer)
        asks = asks_of(answer.status, answer.headers, at=access.at)
        self.close_connection |= answer.withheld > 0 or answer.silence is not None
        try:
            delivery.run(
                before_head=lambda: log.answering(access.serial, status=answer.status, asks=asks),
                before_last_byte=lambda: log.end(access.serial, body_bytes=delivery.body_bytes),
            )
        finally:
            log.end(access.serial, body_bytes=delivery.body_bytes)


def _request(access: Access, headers: Headers) -> Request:
    return Request(
        path=access.path,
        query=access.query,
        headers=headers,
        at=access.at,
        serial=access.serial,
    )


def _dated(answer: Answer, at: datetime) -> Answer:
    """The answer with ``Date`` and ``Server``, unless the script set its own."""
    for name, value in (("Date", http_date(at)), ("Server", "sourcemon-replay")):
        if answer.headers.get(name) is None:
            answer = answer.with_header(name, value)
    return answer
