"""The parent's end of one worker: a process of its own, written to by a thread so that neither side waits for the other's pipe."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path

import rag
from rag.chunking.settings import ChunkingSettings

_START_SECONDS = 60.0
_TIMERS = {int(getattr(signal, name)) for name in ("SIGPROF", "SIGALRM") if hasattr(signal, name)}
# Not the parent's: nothing secret reaches a process that parses hostile files. One thread, since threads cost address space.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV")
_SET = {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2", "PYTHONHASHSEED": "0"}


class WorkerDied(Exception):
    """The worker ended before it answered."""


class WorkerOutOfTime(WorkerDied):
    """The worker was ended by its own timer."""


class WorkerProcess:
    """A worker, which may be sent to at once; `wait_until_ready` before anything is received."""

    def __init__(self, tokenizer_file: Path, settings: ChunkingSettings, *, timeout: float, memory_bytes: int) -> None:
        """Starts it and does not wait. Raises: OSError."""
        root = str(Path(rag.__file__).resolve().parent.parent)
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | _SET
        environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([root, *(path for path in sys.path if path)]))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rag.chunking.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            bufsize=0,
        )
        self._outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write, name="chunking-writer", daemon=True)
        self._writer.start()
        self._begun = bytearray()  # of a line whose end has not come
        self._lines: deque[bytes] = deque()
        self._silent = self._ready = False
        assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
        self._output = self._process.stdout.fileno()
        order = {"tokenizer": str(tokenizer_file), "memory_bytes": memory_bytes, "timeout": timeout}
        self.send(json.dumps(order | {"settings": dataclasses.asdict(settings)}).encode() + b"\n")

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, line: bytes) -> None:
        self._outbox.put(line)

    @property
    def answered(self) -> int:
        """Answers that have come and were not received yet, as far as was looked."""
        return max(0, len(self._lines) - (not self._ready))

    def wait_until_ready(self) -> None:
        """Raises: WorkerDied, TimeoutError if it has not come up within a minute."""
        if not self._ready:
            self.receive(_START_SECONDS)
            self._ready = True

    def receive(self, timeout: float, beside: Sequence[WorkerProcess] = ()) -> bytes:
        """The next line, without its end. What those `beside` say meanwhile is taken in, so that they need not wait with it.

        Raises: TimeoutError, WorkerDied.
        """
        deadline = time.monotonic() + timeout
        while not self._lines:
            if self._silent:
                raise self._death()
            collect((self, *beside), deadline - time.monotonic())
            if not self._lines and not self._silent and time.monotonic() >= deadline:
                raise TimeoutError
        return self._lines.popleft()

    def take_in(self) -> None:
        """Reads what there is; only where there is something."""
        data = os.read(self._output, 1 << 20)
        if not data:
            self._silent = True
            return
        *ended, rest = data.split(b"\n")
        for line in ended:
            self._lines.append(bytes(self._begun) + line)
            self._begun.clear()
        self._begun += rest

    @property
    def readable(self) -> int | None:
        """Where to wait for what it says; None once that has ended."""
        return None if self._silent else self._output

    def _death(self) -> WorkerDied:
        with contextlib.suppress(subprocess.TimeoutExpired):
            if -self._process.wait(timeout=5) in _TIMERS:
                return WorkerOutOfTime()
        return WorkerDied()

    def end(self) -> None:
        """Kills the worker and waits until it is gone. May be called twice."""
        self._process.kill()
        self._process.wait()
        self._outbox.put(None)
        self._writer.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _write(self) -> None:
        pipe = self._process.stdin
        while pipe is not None and (line := self._outbox.get()) is not None:
            try:
                view = memoryview(line)
                while view:
                    view = view[pipe.write(view) or 0 :]
            except (OSError, ValueError):
                return


def collect(workers: Iterable[WorkerProcess], timeout: float) -> None:
    """Takes in what the workers have said; waits up to `timeout` seconds until one says something."""
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            if worker.readable is not None:
                selector.register(worker.readable, selectors.EVENT_READ, worker)
        for key, _ in selector.select(max(0.0, timeout)) if selector.get_map() else ():
            key.data.take_in()
