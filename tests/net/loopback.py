"""A server on loopback that says byte for byte what a script says; for tests of the wire."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

Script = Callable[["Exchange"], None]
TLS_HANDSHAKE = b"\x16\x03"


class Exchange:
    """One connection of a client: the request it sent, and the means to answer."""

    def __init__(self, sock: socket.socket, *, stopped: threading.Event) -> None:
        self._sock = sock
        self._stopped = stopped
        self.head = self._read_head()

    @property
    def path(self) -> str:
        """The target of the request line."""
        return self.head.split(b" ", 2)[1].decode()

    def header(self, name: str) -> bytes | None:
        """The value of a request header, as it came."""
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b": ")
            if key.lower() == name.lower().encode():
                return value
        return None

    def send(self, data: bytes) -> None:
        """Send ``data``; a client that is gone is no error."""
        with contextlib.suppress(OSError):
            self._sock.sendall(data)

    def answer(self, body: bytes = b"", *, status: str = "200 OK", headers: str = "") -> None:
        """Send a whole response with its length; ``headers`` are lines with their ends."""
        self.send(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode())
        self.send(body)

    def drip(self, pieces: Iterable[bytes], *, every_s: float) -> None:
        """Send the pieces with a pause after each, until the client is gone or the server stops."""
        for piece in pieces:
            try:
                self._sock.sendall(piece)
            except OSError:
                return
            if self._stopped.wait(every_s):
                return

    def hang(self) -> None:
        """Say nothing until the client hangs up or the server stops."""
        self._sock.settimeout(0.05)
        while not self._stopped.is_set():
            try:
                if not self._sock.recv(1024):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    def reset(self) -> None:
        """Break the connection so that the client sees a reset."""
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._sock.close()

    def _read_head(self) -> bytes:
        head = b""
        while b"\r\n\r\n" not in head and not head.startswith(TLS_HANDSHAKE):
            data = self._sock.recv(65_536)
            if not data:
                break
            head += data
        return head


class Loopback:
    """The server: each connection is one exchange in a thread of its own."""

    def __init__(self, script: Script, *, tls: ssl.SSLContext | None = None) -> None:
        self._script = script
        self._tls = tls
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self.heads: list[bytes] = []
        """The requests that came, each up to its empty line."""

    @property
    def address(self) -> str:
        """``address:port``, as a resolver map wants it."""
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=5)

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._start(lambda sock=sock: self._serve(sock))  # type: ignore[misc]

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.closing(sock):
            sock.settimeout(5)
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_side=True)
            with contextlib.closing(sock):
                exchange = Exchange(sock, stopped=self._stopped)
                self.heads.append(exchange.head)
                self._script(exchange)
