"""How far work is, for whoever waits for it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TypeAlias

from ._layouts import shown_bytes

Progress: TypeAlias = bool | Callable[[int, int], object] | None
"""A function that is called with the bytes that are done and with all; True for a line on stderr; False or None for nothing."""

PATIENCE = 1.0
"""Seconds before a line is printed: shorter work prints none."""

EVERY = 0.2
"""Seconds between two states of the line."""


class Meter:
    """Counts bytes that threads are done with, and says so.

    A function is called at the beginning, with 0, and whenever something is done, by one thread at a time; the last call has
    all bytes. What it raises ends the work.
    """

    def __init__(self, op: str, progress: Progress, total: int = 0) -> None:
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise TypeError(
                f"{op}: `progress` is True, or a function of the bytes that are done and of all, not a value of type"
                f" {type(progress).__name__}"
            )
        self.op, self.total, self.done = op, total, 0
        self.say: Callable[[int, int], object] | None = self._print if progress is True else progress or None
        self._lock = threading.Lock()
        self._begun = self._printed = time.monotonic()
        self._width = 0

    def begin(self) -> None:
        """Nothing is done yet."""
        if self.say is not None:
            self.say(0, self.total)

    def add(self, count: int) -> None:
        """So many bytes more are done."""
        if self.say is None or not count:
            return
        with self._lock:
            self.done += count
            self.say(self.done, self.total)

    def _print(self, done: int, total: int) -> None:
        now = time.monotonic()
        seconds = now - self._begun
        if seconds < PATIENCE or (done < total and now - self._printed < EVERY):
            return
        self._printed = now
        percent = 100 * done // total if total else 100
        line = f"{self.op}: {shown_bytes(done)} of {shown_bytes(total)}, {percent} %, {seconds:.0f} s"
        print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(line)

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            print(file=sys.stderr, flush=True)
