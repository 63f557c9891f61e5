"""A chunker whose parsing runs in a worker process with limits: a file that kills or outlasts its worker is cut by lines instead."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType

from rag.chunking.chunker import LanguageChunker
from rag.chunking.settings import ChunkingSettings
from rag.chunking.tokens import TokenizerCounter
from rag.chunking.wire import pack_document, unpack_chunks
from rag.chunking.worker_limits import WALL_FACTOR
from rag.chunking.worker_process import WorkerDied, WorkerOutOfTime, WorkerProcess
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

_AHEAD_DOCUMENTS = 32
_AHEAD_CHARS = 2_000_000


class IsolatedChunker:
    """Chunks as `make_chunker` does, each document parsed in a worker process of its own interpreter.

    `timeout`: seconds of processor time that one document may take (six times as long by the clock). `memory_bytes`: the worker's
    address space. A context manager; the worker starts with the first document and is replaced whenever it died.
    `fallbacks`: reason (a key of FALLBACKS) -> documents cut by lines. `fallen`: path -> reason, of each of them; a live view, written
    before the document's chunks are given.
    Calls from several threads take turns.
    """

    def __init__(self, tokenizer_file: Path, settings: ChunkingSettings, *, timeout: float = 10.0, memory_bytes: int = 1 << 30) -> None:
        """Raises: OSError, ValueError for an unusable tokenizer file."""
        self._tokenizer_file = Path(tokenizer_file).resolve()
        self._settings = settings
        self._timeout = timeout
        self._memory_bytes = memory_bytes
        self._here = LanguageChunker(TokenizerCounter(self._tokenizer_file), settings)
        self._worker: WorkerProcess | None = None
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

    def close(self) -> None:
        """Ends the worker. The chunker may be used again."""
        with self._turn:
            if self._worker is not None:
                self._worker.end()
                self._worker = None

    def chunk(self, document: Document) -> list[Chunk]:
        """Raises: BuildFailed where no worker can be started."""
        return next(self.chunk_many([document]))[1]

    def chunk_many(self, documents: Iterable[Document]) -> Iterator[tuple[Document, list[Chunk]]]:
        """Each document with its chunks, in the order given. The worker is kept busy ahead of what is consumed, so prefer it to `chunk`
        where there are many; the iterator must be exhausted or closed before another call.

        Raises: BuildFailed where no worker can be started.
        """
        with self._turn:
            waiting: deque[Document] = deque()
            finished = False
            source = iter(documents)
            try:
                chars = 0
                while True:
                    while not finished and len(waiting) < _AHEAD_DOCUMENTS and chars < _AHEAD_CHARS:
                        document = next(source, None)
                        if document is None:
                            finished = True
                            break
                        waiting.append(document)
                        chars += len(document.text)
                        self._running(waiting).send(pack_document(document))
                    if not waiting:
                        return
                    document = waiting[0]
                    chunks = self._answer(waiting)
                    waiting.popleft()
                    chars -= len(document.text)
                    yield document, chunks
            finally:
                if waiting:  # left early: what is under way would answer a later question
                    self.close()

    def _running(self, waiting: deque[Document]) -> WorkerProcess:
        """The worker; a new one is sent all that is waiting but the last, which the caller sends."""
        if self._worker is None:
            self._worker = self._start()
            for document in list(waiting)[:-1]:
                self._worker.send(pack_document(document))
        return self._worker

    def _start(self) -> WorkerProcess:
        for attempt in (1, 2):
            try:
                return WorkerProcess(self._tokenizer_file, self._settings, timeout=self._timeout, memory_bytes=self._memory_bytes)
            except (WorkerDied, TimeoutError, OSError) as error:
                log.warning("The parsing process did not start (attempt %d): %s", attempt, type(error).__name__)
        raise BuildFailed(
            "The process that parses files could not be started.",
            "Check that memory is free and that `python -m rag.chunking.worker` starts with this interpreter.",
        )

    def _answer(self, waiting: deque[Document]) -> list[Chunk]:
        document = waiting[0]
        if self._worker is None:  # died over the document before this one
            self._worker = self._start()
            for later in waiting:
                self._worker.send(pack_document(later))
        try:
            line = self._worker.receive(self._timeout * WALL_FACTOR)
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
            self._worker.end()
            self._worker = None
        self._fallbacks[reason] += 1
        self._fallen[document.path] = reason
        log.warning("A %s file of %d characters is cut by lines: its parser ended with %r", document.language, len(document.text), reason)
        return self._here.chunk_by_lines(document)
