"""What a person sees of work that takes its time: progress, on a terminal, after two seconds."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from sourcemon.cli.texts import harmless

_SHOWN_AFTER_S = 2.0


class Patience:
    """Progress on stderr that shows late, hides while something is printed, and leaves no trace.

    Where stderr is no terminal it does nothing. :meth:`tell` may be called at any time.
    """

    def __init__(self, console: Console, *, shown_after_s: float = _SHOWN_AFTER_S) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.completed}/{task.total}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("", total=None)
        self._lock = threading.RLock()
        self._is_late = self._is_over = False
        self._timer = threading.Timer(shown_after_s, self._show)
        self._timer.daemon = True
        self._is_wanted = console.is_terminal

    def __enter__(self) -> Self:
        if self._is_wanted:
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._is_late:
                self._progress.stop()

    def tell(self, doing: str, *, of: int) -> None:
        """What is being done, and how much there is of it."""
        self._progress.update(self._task, description=harmless(doing), total=of)

    def advance(self) -> None:
        """One more of it is done."""
        self._progress.advance(self._task)

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """While something else is printed, out of its way."""
        with self._lock:
            if self._is_late:
                self._progress.stop()
            yield
            if self._is_late:
                self._progress.start()

    def _show(self) -> None:
        with self._lock:
            if not self._is_over:
                self._is_late = True
                self._progress.start()
