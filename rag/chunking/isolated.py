"""A chunker whose parsing runs in a worker process with limits: a file that kills or outlasts its worker is cut by lines instead."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType, TracebackType

from rag.chunking.chunker import LanguageChunker
from rag.chunking.settings import ChunkingSettings
from rag.chunking.tokens import TokenizerCounter
from rag.chunking.wire import pack_document, unpack_chunks
from rag.chunking.worker_limits import WALL_FACTOR
from rag.chunking.worker_process import WorkerDied, WorkerOutOfTime, WorkerProcess, collect
from rag.errors import BuildFailed
from rag.types import Chunk, Document

log = logging.getLogger(__name__)

# Why a document was cut by lines although its language has a parser.
FALLBACKS: dict[str, str] = {
    "timeout": "its parser took longer than a file may take",
    "memory": "its parser wanted more memory than a file may take",
    "crash": "its parser crashed",
    "error": "its parser failed",
}

# For each worker, so that none waits while another is busy with a long one.
_AHEAD_DOCUMENTS = 64
_AHEAD_CHARS = 2_000_000


class _Lane:
    """A worker and the documents it was sent and whose chunks were not taken yet, oldest first."""

    def __init__(self, start: Callable[[], WorkerProcess]) -> None:
        self._start = start
        self.worker: WorkerProcess | None = None
        self.waiting: deque[Document] = deque()

    @property
    def load(self) -> int:
        """Characters that are still to be chunked."""
        return sum(len(document.text) for document in islice(self.waiting, self.worker.answered if self.worker else 0, None))

    def begin(self) -> None:
        """Starts the worker where there is none, with all that is waiting. Raises: OSError."""
        if self.worker is None:
            self.worker = self._start()
            for document in self.waiting:
                self.worker.send(pack_document(document))

    def add(self, document: Document) -> None:
        self.waiting.append(document)
        if self.worker is not None:
            self.worker.send(pack_document(document))

    def ready(self) -> WorkerProcess:
        """The worker once it listens. Raises: BuildFailed."""
        for attempt in (1, 2):
            try:
                self.begin()
                assert self.worker is not None  # noqa: S101
                self.worker.wait_until_ready()
                return self.worker
            except (WorkerDied, TimeoutError, OSError) as error:
                log.warning("The parsing process did not start (attempt %d): %s", attempt, type(error).__name__)
                self.end()
        raise BuildFailed(
            "The process that parses files could not be started.",
            "Check that memory is free and that `python -m rag.chunking.worker` starts with this interpreter.",
        )

    def end(self) -> None:
        """Ends the worker; what waits is sent to the next one."""
        if self.worker is not None:
            self.worker.end()
            self.worker = None


class IsolatedChunker:
    """Chunks as `make_chunker` does, each document parsed in a worker process of its own interpreter.

    `timeout`: seconds of processor time that one document may take (six times as long by the clock). `memory_bytes`: a worker's
    address space. `workers`: how many parse side by side; whatever the number, chunks and their order are the same. A context manager;
    workers start with the documents that need them, or with `start`, and are replaced whenever they died.
    `fallbacks`: reason (a key of FALLBACKS) -> documents cut by lines. `fallen`: path -> reason, of each of them; a live view, written
    before the document's chunks are given.
    Calls from several threads take turns.
    """

    def __init__(
        self, tokenizer_file: Path, settings: ChunkingSettings, *, timeout: float = 10.0, memory_bytes: int = 1 << 30, workers: int = 1
    ) -> None:
        """Raises: ValueError for fewer than one worker."""
        if workers < 1:
            raise ValueError(f"{workers} workers cannot parse anything")
        self._tokenizer_file = Path(tokenizer_file).resolve()
        self._settings = settings
        self._timeout = timeout
        self._memory_bytes = memory_bytes
        self._lanes = [_Lane(self._new_worker) for _ in range(workers)]
        self._order: deque[_Lane] = deque()  # which lane has the next document, and the one after it
        self._here: LanguageChunker | None = None
        self._fallbacks: Counter[str] = Counter()
        self._fallen: dict[str, str] = {}
        self.fallen: Mapping[str, str] = MappingProxyType(self._fallen)
        self._turn = threading.RLock()

    def __enter__(self) -> IsolatedChunker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def fallbacks(self) -> Mapping[str, int]:
        return MappingProxyType(dict(self._fallbacks))

    def start(self) -> None:
        """Starts all workers and does not wait for them: they come up while the caller does something else."""
        with self._turn, contextlib.suppress(OSError):  # whoever needs one will start it again and say what is wrong
            for lane in self._lanes:
                lane.begin()

    def close(self) -> None:
        """Ends the workers. The chunker may be used again."""
        with self._turn:
            for lane in self._lanes:
                lane.waiting.clear()
                lane.end()
            self._order.clear()

    def chunk(self, document: Document) -> list[Chunk]:
        """Raises: BuildFailed where no worker can be started."""
        return next(self.chunk_many([document]))[1]

    def chunk_many(self, documents: Iterable[Document]) -> Iterator[tuple[Document, list[Chunk]]]:
        """Each document with its chunks, in the order given. The workers are kept busy ahead of what is consumed, so prefer it to `chunk`
        where there are many; the iterator must be exhausted or closed before another call.

        Raises: BuildFailed where no worker can be started.
        """
        with self._turn:
            source = iter(documents)
            finished = False
            chars = 0
            try:
                while True:
                    while (
                        not finished and len(self._order) < _AHEAD_DOCUMENTS * len(self._lanes) and chars < _AHEAD_CHARS * len(self._lanes)
                    ):
                        document = next(source, None)
                        if document is None:
                            finished = True
                            break
                        chars += len(document.text)
                        self._send(document)
                    if not self._order:
                        return
                    lane = self._order[0]
                    document = lane.waiting[0]
                    chunks = self._answer(lane)
                    lane.waiting.popleft()
                    self._order.popleft()
                    chars -= len(document.text)
                    yield document, chunks
            finally:
                if self._order:  # left early: what is under way would answer a later question
                    self.close()

    def _send(self, document: Document) -> None:
        """To the worker that has least to do."""
        collect(self._running(), 0.0)
        lane = min(self._lanes, key=lambda lane: lane.load)
        lane.add(document)
        self._order.append(lane)
        with contextlib.suppress(OSError):  # tried again, and told, when its answer is waited for
            lane.begin()

    def _running(self) -> list[WorkerProcess]:
        return [lane.worker for lane in self._lanes if lane.worker is not None]

    def _new_worker(self) -> WorkerProcess:
        return WorkerProcess(self._tokenizer_file, self._settings, timeout=self._timeout, memory_bytes=self._memory_bytes)

    def _answer(self, lane: _Lane) -> list[Chunk]:
        """The chunks of the lane's oldest document."""
        document = lane.waiting[0]
        worker = lane.ready()
        try:
            line = worker.receive(self._timeout * WALL_FACTOR, [other for other in self._running() if other is not worker])
            if line.startswith(b"["):
                return unpack_chunks(document, line)
            reason = "memory" if line == b"memory" else "error"
        except (TimeoutError, WorkerOutOfTime):
            reason = "timeout"
        except WorkerDied:
            reason = "crash"
        except (ValueError, TypeError, KeyError, IndexError):
            reason = "error"
        if reason != "error":  # after running out of memory a process is not to be trusted either
            lane.end()
        self._fallbacks[reason] += 1
        self._fallen[document.path] = reason
        log.warning("A %s file of %d characters is cut by lines: its parser ended with %r", document.language, len(document.text), reason)
        return self._by_lines().chunk_by_lines(document)

    def _by_lines(self) -> LanguageChunker:
        if self._here is None:
            self._here = LanguageChunker(TokenizerCounter(self._tokenizer_file), self._settings)
        return self._here
