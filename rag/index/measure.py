"""What a build costs: seconds by stage, and memory at its peak."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import psutil

_EVERY = 0.5  # seconds


class Stopwatch:
    """Adds up seconds by stage; a stage may be entered again and again."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._start = time.monotonic()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - start

    def report(self) -> dict[str, float]:
        """By stage, and the whole as "total"; to the millisecond."""
        return {name: round(taken, 3) for name, taken in {**self.seconds, "total": time.monotonic() - self._start}.items()}


class PeakMemory:
    """Resident memory of this process and of all below it, sampled twice a second while the context lasts.

    The sum counts pages that they share more than once, so it errs to the high side.
    """

    def __init__(self) -> None:
        self._highest = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="peak-memory", daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        self._thread.join(timeout=5.0)

    @property
    def bytes(self) -> int:
        """The highest sample, or this process's own mark where the kernel keeps one and that is higher."""
        return max(self._highest, _own_peak())

    def _watch(self) -> None:
        own = psutil.Process()
        while True:
            total = 0
            for process in (own, *own.children(recursive=True)):
                try:
                    total += process.memory_info().rss
                except psutil.Error:  # it ended meanwhile
                    continue
            self._highest = max(self._highest, total)
            if self._done.wait(_EVERY):
                return


def _own_peak() -> int:
    """VmHWM, which unlike getrusage does not inherit the parent's; 0 where there is no /proc."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
