"""A local web site that plays scripted feeds on a clock of the caller's choice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from types import TracebackType
from typing import Self

from sourcemon.core.replies import Headers
from sourcemon.replay.access_log import AccessLog
from sourcemon.replay.answers import Answer, Feed, Request
from sourcemon.replay.server import SiteServer

_STOP_CHECK_S = 0.01
"""How long the accepting thread may take to notice that it is to stop."""

_NOT_FOUND = Answer(
    status=404,
    headers=Headers((("Content-Type", "text/plain; charset=utf-8"),)),
    body=b"No feed of that name is played here.\n",
)


class ReplaySite:
    """Feeds behind a real HTTP/1.1 server on loopback; content, ``Date`` and log are on ``now``.

    It plays what its feeds say and judges nothing; :attr:`log` is judged by whoever reads it.
    Unknown paths get 404, methods other than GET 405.
    """

    def __init__(
        self,
        feeds: Iterable[Feed],
        *,
        now: Callable[[], datetime],
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        """Prepare the site; nothing listens before :meth:`start`.

        Raises:
            ValueError: two feeds have one path, a path lacks its slash, the host is not loopback.
        """
        if not host.startswith("127."):
            raise ValueError(f"the replay site listens on IPv4 loopback only, not on {host!r}")
        self._feeds = _by_path(feeds)
        self._now = now
        self._address = (host, port)
        self._server: SiteServer | None = None
        self._accepting: threading.Thread | None = None
        self.log = AccessLog()

    def start(self) -> Self:
        """Listen and serve in daemon threads; with port 0 the system picks a free one.

        Raises:
            RuntimeError: it is running already.
            OSError: the port is taken.
        """
        if self._server is not None:
            raise RuntimeError("the replay site is running already")
        self._server = SiteServer(self._address, script=self._answer, log=self.log, now=self._now)
        self._accepting = threading.Thread(
            target=self._server.serve_forever,
            args=(_STOP_CHECK_S,),
            daemon=True,
            name="replay-site",
        )
        self._accepting.start()
        return self

    def stop(self) -> None:
        """Cut every connection, release every held answer, and return when no thread is left.

        Without effect when it is not running. It may be started again; the log goes on.
        """
        if self._server is None or self._accepting is None:
            return
        self._server.close()
        self._accepting.join()
        self._server = self._accepting = None

    def url(self, path: str) -> str:
        """The absolute URL of a path, played or not.

        Raises:
            RuntimeError: the site is not running, so it has no port.
        """
        if self._server is None:
            raise RuntimeError("the replay site is not running")
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}{_checked(path)}"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _answer(self, request: Request) -> Answer:
        feed = self._feeds.get(request.path)
        return _NOT_FOUND if feed is None else feed.answer(request)


def _by_path(feeds: Iterable[Feed]) -> dict[str, Feed]:
    """The feeds under their paths.

    Raises:
        ValueError: as :class:`ReplaySite`.
    """
    found: dict[str, Feed] = {}
    for feed in feeds:
        if _checked(feed.path) in found:
            raise ValueError(f"two feeds have the path {feed.path!r}")
        found[feed.path] = feed
    return found


def _checked(path: str) -> str:
    """``path`` itself.

    Raises:
        ValueError: it does not begin with a slash.
    """
    if not path.startswith("/"):
        raise ValueError(f"a path begins with a slash: {path!r}")
    return path
