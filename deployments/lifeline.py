"""How a process of ours ends with the one that started it, even if that one was killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

_GRACE_S = 10.0


def hold() -> None:
    """End this process, as SIGTERM does, once nobody holds the other end of its standard input.

    If it has not ended ten seconds later it is ended all the same.
    """
    threading.Thread(target=_wait, daemon=True, name="lifeline").start()


def _wait() -> None:
    lifeline = sys.stdin.fileno()
    # Not by way of sys.stdin: its lock would be held when the interpreter shuts down.
    while os.read(lifeline, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_GRACE_S)
    os._exit(1)
