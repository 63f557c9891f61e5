"""Work in parts, on the thread that asks and on others that are free: for numpy and onnxruntime, which let threads compute at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Generic, TypeVar

T = TypeVar("T")

_THREADS = min(4, os.cpu_count() or 1)  # at most; memory gives no more


class Beside(Generic[T]):
    """Runs a function on another thread from now on, or where none is free on the one that first asks for its `result`: nothing waits for
    a thread, and one may ask for the result of another that was begun before it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._asking = threading.Lock()
        self._future: Future[T] = _pool().submit(function)

    def result(self) -> T:
        """What it returned. Threads may ask at once. Raises: what it raised."""
        with self._asking:
            if self._future.cancel():
                self._future = Future()
                try:
                    self._future.set_result(self._function())
                except BaseException as error:
                    self._future.set_exception(error)
        return self._future.result()


def spread(work: Callable[[T], object], parts: Sequence[T]) -> None:
    """Calls `work` with each of the parts, a part at a time on each thread. Raises: what one of them raised."""
    left = iter(parts)

    def take() -> None:
        for part in left:
            work(part)

    others = [Beside(take) for _ in range(min(_THREADS, len(parts)) - 1)]
    take()
    for other in others:
        other.result()  # one that has not begun finds nothing left


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="beside")
