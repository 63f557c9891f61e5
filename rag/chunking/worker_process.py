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
    """A started worker. Raises: WorkerDied, TimeoutError if it does not come up within a minute."""

    def __init__(self, tokenizer_file: Path, settings: ChunkingSettings, *, timeout: float, memory_bytes: int) -> None:
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
        self._inbox = bytearray()
        self._searched = 0
        assert self._process.stdout is not None  # noqa: S101 - a pipe was asked for
        self._output = self._process.stdout.fileno()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        order = {"tokenizer": str(tokenizer_file), "memory_bytes": memory_bytes, "timeout": timeout}
        try:
            self.send(json.dumps(order | {"settings": dataclasses.asdict(settings)}).encode() + b"\n")
            self.receive(_START_SECONDS)
        except BaseException:
            self.end()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, line: bytes) -> None:
        self._outbox.put(line)

    def receive(self, timeout: float) -> bytes:
        """The next line, without its end. Raises: TimeoutError, WorkerDied."""
        deadline = time.monotonic() + timeout
        while (end := self._inbox.find(b"\n", self._searched)) < 0:
            self._searched = len(self._inbox)
            if not self._selector.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            data = os.read(self._output, 1 << 20)
            if not data:
                raise self._death()
            self._inbox += data
        line = bytes(self._inbox[:end])
        del self._inbox[: end + 1]
        self._searched = 0
        return line

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
        self._selector.close()
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
