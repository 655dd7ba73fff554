"""What our processes say, kept in files of bounded size, and counted."""

from __future__ import annotations

import logging
import re
import threading
from collections import deque
from logging.handlers import RotatingFileHandler
from pathlib import Path

_BYTES = 5_000_000
_OLD_FILES = 3
_LAST_LINES = 8
_ACCESS = re.compile(r'"[A-Z]+ \S+ HTTP/[\d.]+" (?P<status>\d{3})\b')
"""A request in the log of a Prefect server."""
_ERROR = re.compile(r"\| (?:ERROR|CRITICAL) +\|")
BUSY = 503
"""The status by which a Prefect server says that its database is busy; its clients ask again."""


class Logbook:
    """One log file, and the counts of what is written to it. Safe to use from any thread."""

    def __init__(self, file: Path) -> None:
        """Open the file for appending; it is renamed when it reaches 5 MB, three are kept."""
        self.file = file
        self._lock = threading.Lock()
        self._handler = RotatingFileHandler(file, maxBytes=_BYTES, backupCount=_OLD_FILES)
        self._requests = self._busy = self._errors = 0
        self._last: deque[str] = deque(maxlen=_LAST_LINES)

    @property
    def requests(self) -> int:
        """How many requests a server reported."""
        return self._requests

    @property
    def busy(self) -> int:
        """How many of them it could not answer because its database was busy."""
        return self._busy

    @property
    def errors(self) -> int:
        """How many lines tell of an error."""
        return self._errors

    @property
    def last_lines(self) -> tuple[str, ...]:
        """The newest lines that were kept, the oldest of them first."""
        return tuple(self._last)

    def hear(self, line: str) -> None:
        """Count a line, and keep it unless it reports a request that was answered."""
        access = _ACCESS.search(line)
        with self._lock:
            if access is not None:
                self._requests += 1
                self._busy += int(access["status"]) == BUSY
            self._errors += bool(_ERROR.search(line))
        if access is None or int(access["status"]) >= 500:
            self._last.append(line)
            self._handler.handle(logging.makeLogRecord({"msg": line.rstrip()}))

    def close(self) -> None:
        """Close the file."""
        self._handler.close()
