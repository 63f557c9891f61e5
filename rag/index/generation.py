"""A generation opened for reading, and the one that a repository's pointer names.

Readers pin what they open: a shared flock on the generation's `pin` file, held until it is closed, across processes. A build deletes only
what nobody has pinned, and never changes a file of a published part. Where the current generation is damaged, the one before it is read,
and says so.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rag.errors import ConfigurationError, FootnoteError, IndexCorrupt, IndexMismatch, NotIndexed
from rag.index.chunk_table import ChunkTable
from rag.index.dense_part import open_dense, swept
from rag.index.files import corrupt, tree_bytes, verify
from rag.index.forms import Forms
from rag.index.history import HISTORY, HistoryFile
from rag.index.layout import Layout, Pointer
from rag.index.locks import Pin, build_lock
from rag.index.manifest import Manifest, model_mismatch, read_manifest
from rag.index.scan import Scan
from rag.index.sparse import SparseIndex
from rag.index.standing import described, read_published, standing_in, verify_published
from rag.protocols import DenseBackend, DenseStore, Vector
from rag.types import EmbeddingSpec, GenerationInfo

logger = logging.getLogger(__name__)

CHEAP = 256 << 20  # bytes; larger files are compared by size alone when opened
_TRIES = 20
_NONE = HistoryFile(Path("/dev/null"))


@dataclass(frozen=True, slots=True)
class Generation:
    """One complete index. `chunks`, `sparse`, `stems` and `dense` count the same rows. `stems`: BM25 again, over terms without their
    endings (rag.index.stems). `vectors`: (n, d) float32 unit rows, mapped from disk; `scan`: what compares a question with all of them.

    `dense`, `vectors` and `scan` are None while only the sparse part stands, and for good where another model wrote them: `mismatch` then
    names both models. What a reader must be told is in `info.notices`. `history`: who changed what when, which may arrive last, or never.
    """

    info: GenerationInfo
    manifest: Manifest
    chunks: ChunkTable
    sparse: SparseIndex
    stems: SparseIndex
    dense: DenseStore | None
    vectors: Vector | None
    mismatch: str = ""
    history: HistoryFile = _NONE
    scan: Scan | None = None

    @property
    def forms(self) -> Forms:
        """Both forms of the terms, as a server holds them."""
        return Forms(self.sparse, self.stems)


class _Opened:
    """A generation in memory with its pin, shared by its readers; closed when it is retired and the last of them is done.

    `pointer`: what it was opened for, which may name another where that is damaged.
    """

    def __init__(self, generation: Generation, pin: Pin, pointer: Pointer) -> None:
        self.generation = generation
        self.pointer = pointer
        self.readers = 0
        self.retired = False
        self._pin = pin

    def close(self) -> None:
        if self.generation.dense is not None:
            self.generation.dense.close()
        self._pin.release()


class RepositoryIndex:
    """One repository's index. Threads may share it."""

    def __init__(self, directory: Path, backend: DenseBackend, expected: EmbeddingSpec, *, named: bool = True) -> None:
        """`named`: whether names of authors may be told."""
        self.layout = Layout(directory)
        self._named = named
        self._backend = backend
        self._expected = expected
        self._lock = threading.RLock()
        self._opened: _Opened | None = None

    @contextmanager
    def open(self) -> Iterator[Generation]:
        """The current generation, pinned while the context lasts. The first open reads and checks it, which takes a while on a large index:
        on an event loop use `opened`.

        A pointer that moved, or a dense part that arrived, is seen by the next call. Vectors of another model are not opened, and where
        the current generation is damaged the one before it is: `info.notices` says so.
        Raises: NotIndexed, IndexMismatch (format), IndexCorrupt where the one before it cannot be read either.
        """
        opened, generation = self._acquire()
        try:
            yield generation
        finally:
            self._release(opened)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Generation]:
        """`open` for an event loop: reading happens in a thread."""
        acquiring = asyncio.ensure_future(asyncio.to_thread(self._acquire))
        try:
            opened, generation = await asyncio.shield(acquiring)
        except asyncio.CancelledError:
            # The thread cannot be stopped: whatever it opens is given back.
            acquiring.add_done_callback(self._give_back)
            raise
        try:
            yield generation
        finally:
            self._release(opened)

    def info(self) -> GenerationInfo | None:
        """What answers, without opening it: only the sizes of its files are looked at. None before the first build.

        Raises: IndexMismatch (format), IndexCorrupt.
        """
        for attempt in range(_TRIES):
            pointer = self.layout.current()
            if pointer is None:
                return None
            opened = self._opened
            if opened is not None and opened.pointer == pointer and opened.generation.info.generation == pointer.previous:
                return opened.generation.info  # damage that a look at the sizes may not see
            try:
                return self._looked_at(pointer.generation)
            except IndexCorrupt:
                # Two builds may have come and gone since the pointer was read.
                if attempt < _TRIES - 1 and self.layout.current() != pointer:
                    continue
                try:
                    if pointer.previous:
                        return standing_in(self._looked_at(pointer.previous))
                except (IndexCorrupt, IndexMismatch):
                    logger.debug("%s: the generation before is no better", self.layout.directory.name)
                raise
        return None

    def fits(self, recipe: str) -> bool:
        """Whether the current generation is whole, as far as sizes tell, and made by this recipe (rag.index.recipe)."""
        try:
            pointer = self.layout.current()
            if pointer is None:
                return False
            directory = self.layout.generation(pointer.generation)
            manifest = read_published(directory)
            verify_published(directory, manifest, up_to=0)
        except FootnoteError:
            return False
        return manifest.recipe == recipe and manifest.dense is not None

    def has_history(self) -> bool:
        """Whether the current generation has one beside it, readable or not."""
        try:
            pointer = self.layout.current()
        except IndexCorrupt:
            return False
        return pointer is not None and (self.layout.generation(pointer.generation) / HISTORY).is_file()

    def size_bytes(self) -> int:
        """Bytes on disk of the mirror and all generations."""
        return tree_bytes(self.layout.directory)

    def close(self) -> None:
        """Lets go of the current generation; readers that still have it open keep it until they are done."""
        with self._lock:
            self._retire()

    def remove(self) -> None:
        """Deletes the index and the mirror. Readers in flight finish on what they have open. Raises: BuildRunning."""
        if not self.layout.directory.is_dir():
            return
        with build_lock(self.layout.directory, self.layout.directory.name):
            self.layout.withdraw()
            self.close()
            shutil.rmtree(self.layout.directory)
        swept(self._backend)

    def _acquire(self) -> tuple[_Opened, Generation]:
        with self._lock:
            opened = self._refresh()
            opened.readers += 1
            return opened, opened.generation

    def _release(self, opened: _Opened) -> None:
        with self._lock:
            opened.readers -= 1
            if opened.retired and not opened.readers:
                opened.close()

    def _give_back(self, acquiring: asyncio.Future[tuple[_Opened, Generation]]) -> None:
        if not acquiring.cancelled() and acquiring.exception() is None:
            self._release(acquiring.result()[0])

    def _retire(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.retired = True
            if not opened.readers:
                opened.close()

    def _looked_at(self, name: str) -> GenerationInfo:
        directory = self.layout.generation(name)
        manifest = read_published(directory)
        verify_published(directory, manifest, up_to=0)
        return described(manifest, self._expected)

    def _refresh(self) -> _Opened:
        for _ in range(_TRIES):
            pointer = self.layout.current()
            if pointer is None:
                self._retire()
                name = self.layout.directory.name
                raise NotIndexed(f"{name} is not indexed yet.", f"Index it first: footnote index {name}")
            if self._opened is not None and self._opened.pointer == pointer and self._is_complete(self._opened):
                return self._opened
            opened = self._open_current(pointer)
            if opened is not None:
                self._retire()
                self._opened = opened
                return opened
        raise corrupt(self.layout.directory, "changes faster than it can be opened")

    def _is_complete(self, opened: _Opened) -> bool:
        """Whether it holds all that stands by now; a dense part that arrived is added. False where that part is damaged."""
        generation = opened.generation
        directory = self.layout.generation(generation.info.generation)
        if generation.dense is None and not generation.mismatch and (directory / "dense").is_dir():
            try:
                opened.generation = self._with_dense(generation, directory)
            except IndexCorrupt:
                return False
        return True

    def _open_current(self, pointer: Pointer) -> _Opened | None:
        """What the pointer names, or where that is damaged the generation before it. None if the pointer moved meanwhile."""
        try:
            return self._open(pointer.generation, pointer)
        except IndexCorrupt as damage:
            if self.layout.current() != pointer:
                return None
            opened = None
            try:
                if pointer.previous:
                    opened = self._open(pointer.previous, pointer)
            except (IndexCorrupt, IndexMismatch) as worse:
                logger.warning("%s: the generation before cannot be read either: %s", self.layout.directory.name, worse.problem)
            if opened is None:
                if self.layout.current() != pointer:
                    return None
                raise
            info = standing_in(opened.generation.info)
            opened.generation = replace(opened.generation, info=info)
            logger.warning("%s %s", damage.problem, info.notices[0])
            return opened

    def _open(self, name: str, pointer: Pointer) -> _Opened:
        directory = self.layout.generation(name)
        try:
            pin = Pin(directory / "pin")
        except FileNotFoundError:
            raise corrupt(directory, "is missing, though its repository's pointer names it") from None
        try:
            return _Opened(self._load(directory), pin, pointer)
        except BaseException:
            pin.release()
            raise

    def _load(self, directory: Path) -> Generation:
        manifest = read_manifest(directory / "sparse" / "manifest.json")
        verify(directory / "sparse", manifest.files, up_to=CHEAP)
        chunks = ChunkTable.open(directory / "sparse" / "chunks")
        sparse, stems = (SparseIndex.open(directory / "sparse" / form) for form in ("bm25", "stems"))
        if len(chunks) != manifest.chunks:
            raise corrupt(directory, f"holds {len(chunks):,} chunks where {manifest.chunks:,} were written")
        mismatch = model_mismatch(manifest, self._expected)
        history = HistoryFile(directory, named=self._named)
        generation = Generation(described(manifest, self._expected), manifest, chunks, sparse, stems, None, None, mismatch, history)
        return self._with_dense(generation, directory) if not mismatch and (directory / "dense").is_dir() else generation

    def _with_dense(self, generation: Generation, directory: Path) -> Generation:
        name, pointer = self.layout.directory.name, self.layout.current()
        current_of = name if pointer is not None and pointer.generation == directory.name else ""
        part, store, vectors = open_dense(
            directory / "dense", self._backend, generation.chunks, generation.forms, up_to=CHEAP, current_of=current_of
        )
        info = replace(generation.info, dense_ready=True)
        manifest = replace(generation.manifest, dense=part)
        return replace(generation, info=info, manifest=manifest, dense=store, vectors=vectors, scan=Scan(vectors))


class Indexes:
    """Every repository's index under one data directory. Threads may share it."""

    def __init__(self, data_dir: Path, backend: DenseBackend, expected: EmbeddingSpec, *, named: bool = True) -> None:
        """`named`: whether names of authors may be told."""
        self._directory = data_dir / "repositories"
        self._named = named
        self._backend = backend
        self._expected = expected
        self._lock = threading.Lock()
        self._indexes: dict[str, RepositoryIndex] = {}

    def for_name(self, name: str) -> RepositoryIndex:
        """The index of this repository, whether it was built yet or not. Raises: ConfigurationError for a name that is no name."""
        directory = repository_directory(self._directory.parent, name)
        with self._lock:
            if name not in self._indexes:
                self._indexes[name] = RepositoryIndex(directory, self._backend, self._expected, named=self._named)
            return self._indexes[name]

    def names(self) -> list[str]:
        """Repositories that have an index, sorted."""
        if not self._directory.is_dir():
            return []
        return sorted(entry.name for entry in self._directory.iterdir() if (entry / "current").is_file())

    def close(self) -> None:
        with self._lock:
            for index in self._indexes.values():
                index.close()
            self._indexes.clear()


def repository_directory(data_dir: Path, name: str) -> Path:
    """Raises: ConfigurationError for a name that would lead elsewhere."""
    if not name or name.startswith(".") or "/" in name or "\\" in name or "\0" in name:
        raise ConfigurationError(f"{name!r} cannot be a repository's name.", "Use letters, digits, dots, dashes and underscores.")
    return data_dir / "repositories" / name
