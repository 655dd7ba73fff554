"""Being asked to stop: Ctrl-C, SIGTERM, or the end of the terminal."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

_Handler = Callable[[int, FrameType | None], object] | int | None


class StopRequests:
    """While the block runs, a signal is noted, and the second one is a ``KeyboardInterrupt``.

    Whoever watches looks at :attr:`asked`; further signals after the second do nothing.
    """

    def __init__(self) -> None:
        self._count = 0
        self._before: dict[signal.Signals, _Handler] = {}

    @property
    def asked(self) -> bool:
        """Whether somebody asked."""
        return self._count > 0

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # A program under nohup is told to outlive its terminal.
            if number is signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN:
                continue
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._count += 1
        if self._count == 2:
            raise KeyboardInterrupt
