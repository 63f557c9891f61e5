"""Builds one generation: read, cut, count terms, embed, publish. Runs in a process of its own (`build_process`).

A generation is written beside what is read and published by renames and one pointer. A first build publishes its sparse part before it
embeds anything; a rebuild, for another model too, swaps the pointer only when both parts stand.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rag.chunking import CHUNKER_VERSION, IsolatedChunker
from rag.embedding.models import EmbeddingSettings, describe, tokenizer_file
from rag.errors import BuildFailed, IndexCorrupt, IndexMismatch, StoreUnavailable
from rag.index.chunk_table import ChunkTable
from rag.index.corpus import ENTRIES, Corpus, check_loss, check_whole, read_corpus, read_entries, recorded, write_entries
from rag.index.dense import default_backend
from rag.index.dense_part import published, swept, write_dense
from rag.index.files import check_room, checksums, corrupt, full_disk_is_named, sync_directory, sync_tree
from rag.index.forms import Forms
from rag.index.generation import CHEAP, repository_directory
from rag.index.history_pass import HistoryPass
from rag.index.jobs import BuildEvent, BuildJob, BuildReport
from rag.index.layout import Layout, Pointer, new_generation
from rag.index.locks import build_lock
from rag.index.manifest import Manifest, write_manifest
from rag.index.measure import PeakMemory, Stopwatch
from rag.index.recipe import fitted, recipe_of, scope_of
from rag.index.sparse import SparseIndex
from rag.index.standing import read_published, verify_published
from rag.index.stems import stem
from rag.index.vectors import embed_to_file
from rag.protocols import DenseBackend, ServedBackend
from rag.source.mirror import Mirror
from rag.types import EmbeddingSpec

__all__ = ["BuildEvent", "BuildJob", "BuildReport", "build"]

logger = logging.getLogger(__name__)

_SPARE = 100_000_000  # bytes that a build leaves free, and needs to begin at all
_SAMPLE = 97  # every so manieth chunk is read back


def build(
    job: BuildJob, on_event: Callable[[BuildEvent], None], token: str = "", backend: DenseBackend | None = None, workers: int = 1
) -> BuildReport:
    """Brings the repository's index up to date and says what that took. Blocks, for minutes on a large repository.

    `token`: for cloning over https. `workers`: how many processes parse side by side; the index is the same with any number.
    Raises: BuildRunning, DiskFull, BuildFailed, EmptyRepository, SourceError, ModelError; whatever happens, the index that stood before
    keeps answering and nothing half-written stays (after a kill, until the next build).
    """
    name = job.repository.name
    directory = repository_directory(job.data_dir, name)
    with build_lock(directory, name), full_disk_is_named(directory, f"Indexing {name}"), PeakMemory() as memory:
        return _Build(job, Layout(directory), on_event, token, backend or default_backend(job.threads), memory, workers).run()


class _Build:
    def __init__(
        self,
        job: BuildJob,
        layout: Layout,
        on_event: Callable[[BuildEvent], None],
        token: str,
        backend: DenseBackend,
        memory: PeakMemory,
        workers: int,
    ) -> None:
        self._job = job
        self._layout = layout
        self._tell = on_event
        self._token = token
        self._backend = backend
        self._memory = memory
        self._workers = workers
        self._watch = Stopwatch()
        self._history = HistoryPass(job, layout, on_event, self._watch)
        self._embedding: EmbeddingSettings = replace(job.embedding, threads=job.threads) if job.threads else job.embedding

    def run(self) -> BuildReport:
        pointer, former, kept = self._former()
        self._layout.clean(pointer)
        swept(self._backend)
        check_room(self._layout.directory, _SPARE, f"Indexing {self._job.repository.name}")
        spec = describe(self._embedding)
        chunking = fitted(self._job.chunking, spec)
        scope = scope_of(self._job.repository, self._job.root)
        with IsolatedChunker(tokenizer_file(self._embedding), chunking, workers=self._workers) as chunker:
            if former is None:  # they come up while git clones
                chunker.start()
            mirror, commit, branch = self._source()
            recipe = recipe_of(spec, chunking, scope)
            current = former if pointer is not None and former is not None and former.generation == pointer.generation else None
            if current is not None and not self._job.force and current.dense and (current.commit, current.recipe) == (commit, recipe):
                self._history.renew(current)
                return self._report(current, branch, unchanged=True)
            corpus, fallbacks = self._read(mirror, commit, chunker)
        check_whole(self._job.repository.name, corpus)
        if former is not None and not self._job.force:
            self._compare(former, spec, scope, corpus)
        self._preflight(corpus, spec)
        built_at = datetime.now(UTC)
        manifest = Manifest(
            repository=self._job.repository.name,
            generation=new_generation(built_at, commit),
            commit=commit,
            branch=branch,
            built_at=built_at,
            chunker=CHUNKER_VERSION,
            embedding=spec,
            recipe=recipe,
            scope=scope,
            documents=corpus.documents,
            document_bytes=corpus.chars,
            tree_files=len(corpus.entries),
            chunks=len(corpus.chunks),
            skipped=recorded(corpus.skipped),
            fallbacks=recorded(fallbacks),
            redactions=corpus.redactions,
            files={},
        )
        try:
            return self._write(manifest, corpus, kept, early=former is None or former.dense is None)
        except BaseException:
            shutil.rmtree(self._layout.partial(manifest.generation), ignore_errors=True)
            shutil.rmtree(self._layout.generation(manifest.generation) / "dense.partial", ignore_errors=True)
            raise

    def _former(self) -> tuple[Pointer | None, Manifest | None, str]:
        """The pointer; what answers now, whole and unaltered, None where nothing does; and which generation is kept beside the new one."""
        try:
            pointer = self._layout.current()
        except IndexCorrupt as error:
            logger.warning("%s: building anew: %s", self._job.repository.name, error.problem)
            return None, None, ""
        for name in filter(None, (pointer.generation, pointer.previous) if pointer else ()):
            try:
                manifest = read_published(self._layout.generation(name))
                verify_published(self._layout.generation(name), manifest, up_to=CHEAP)
            except IndexMismatch:
                return pointer, None, name
            except IndexCorrupt as error:
                logger.warning("%s: building anew: %s", self._job.repository.name, error.problem)
            else:
                return pointer, manifest, name
        return pointer, None, ""

    def _source(self) -> tuple[Mirror, str, str]:
        """The place to read from, the full commit and its branch."""
        job = self._job
        self._tell(BuildEvent("clone", 0, 0))
        with self._watch.stage("clone"):
            if job.source_git_dir:
                mirror = Mirror.existing(Path(job.source_git_dir))
                head = None if job.commit else mirror.head(job.repository.branch)
            else:
                mirror = Mirror(self._layout.mirror, token=self._token, private_hosts=job.private_hosts)
                head = mirror.sync(job.repository, lambda message: self._tell(BuildEvent("clone", 0, 0, message)))
            if job.commit:
                return mirror, mirror.resolve(job.commit), job.repository.branch
            assert head is not None  # noqa: S101
            return mirror, head.commit, head.branch

    def _read(self, mirror: Mirror, commit: str, chunker: IsolatedChunker) -> tuple[Corpus, dict[str, int]]:
        job = self._job
        self._tell(BuildEvent("read", 0, 0))
        found = mirror.documents(commit, include=job.repository.include, exclude=job.repository.exclude, root=job.root)

        def on_document(documents: int, chunks: int) -> None:
            self._tell(BuildEvent("chunk", documents, 0, f"{chunks:,} chunks"))

        corpus = read_corpus(found, chunker.chunk_many, self._watch, on_document, chunker.fallen)
        self._tell(BuildEvent("chunk", corpus.documents, corpus.documents, f"{len(corpus.chunks):,} chunks"))
        return corpus, dict(chunker.fallbacks)

    def _compare(self, former: Manifest, spec: EmbeddingSpec, scope: str, corpus: Corpus) -> None:
        """Only builds that were asked the same can be compared."""
        if (former.scope, former.chunker, former.embedding.window) != (scope, CHUNKER_VERSION, spec.window):
            return
        try:
            entries = read_entries(self._layout.generation(former.generation) / "sparse" / ENTRIES)
        except IndexCorrupt as error:
            logger.warning("%s: cannot be compared with the former build: %s", former.repository, error.problem)
            return
        check_loss(former.repository, entries, corpus.entries)

    def _preflight(self, corpus: Corpus, spec: EmbeddingSpec) -> None:
        """Chunks and their terms take about three times the text; vectors are kept twice and optimised into a third copy."""
        needed = 3 * corpus.chars + 3 * 4 * spec.dimension * len(corpus.chunks) + _SPARE
        check_room(self._layout.directory, needed, f"Indexing {self._job.repository.name} ({len(corpus.chunks):,} chunks)")

    def _write(self, manifest: Manifest, corpus: Corpus, previous: str, *, early: bool) -> BuildReport:
        home = self._layout.partial(manifest.generation)
        with self._watch.stage("sparse"):
            self._tell(BuildEvent("sparse", 0, len(corpus.chunks)))
            manifest = write_sparse(home, manifest, corpus)
            self._tell(BuildEvent("sparse", len(corpus.chunks), len(corpus.chunks)))
        if early:
            home = self._publish(manifest, previous)
            self._tell(BuildEvent("sparse_ready", len(corpus.chunks), len(corpus.chunks)))
        try:
            embedded, reused = self._write_dense(home, corpus)
        except StoreUnavailable as error:
            raise BuildFailed(error.problem, f"{error.remedy} What was indexed before keeps answering.") from error
        paths = [entry.path for entry in corpus.entries]
        if not early:
            self._history.write(home, manifest.commit, paths, previous)
            self._publish(manifest, previous)
        published(self._backend, self._layout.generation(manifest.generation) / "dense", manifest.repository)
        if early:  # last: whoever waits for a first index waits to search it by meaning
            self._history.write(home, manifest.commit, paths, previous)
        self._layout.clean(Pointer(manifest.generation, previous))
        swept(self._backend)
        self._tell(BuildEvent("publish", 1, 1))
        return self._report(manifest, manifest.branch, embedded=embedded, reused=reused)

    def _write_dense(self, home: Path, corpus: Corpus) -> tuple[int, int]:
        if isinstance(self._backend, ServedBackend):  # before the long part
            self._backend.check()
        draft = home / "dense.partial"
        draft.mkdir()

        def on_progress(done: int, total: int) -> None:
            self._tell(BuildEvent("embed", done, total))

        vectors, embedded, reused = embed_to_file(
            draft / "vectors.npy", corpus.chunks, self._embedding, self._job.data_dir, self._watch, on_progress
        )
        with self._watch.stage("dense"):
            self._tell(BuildEvent("dense", 0, len(corpus.chunks)))
            sparse = Forms(*(SparseIndex.open(home / "sparse" / form) for form in ("bm25", "stems")))
            write_dense(draft, vectors, corpus.chunks, self._backend, datetime.now(UTC), sparse)
            sync_tree(draft)
            draft.rename(home / "dense")
            sync_directory(home)
            self._tell(BuildEvent("dense", len(corpus.chunks), len(corpus.chunks)))
        return embedded, reused

    def _publish(self, manifest: Manifest, previous: str) -> Path:
        with self._watch.stage("publish"):
            home = self._layout.promote(manifest.generation)
            self._layout.publish(manifest.generation, previous)
            return home

    def _report(self, manifest: Manifest, branch: str, *, embedded: int = 0, reused: int = 0, unchanged: bool = False) -> BuildReport:
        return BuildReport(
            repository=manifest.repository,
            commit=manifest.commit,
            branch=branch,
            generation=manifest.generation,
            documents=manifest.documents,
            chunks=manifest.chunks,
            embedded=embedded,
            reused=reused,
            skipped=manifest.skipped,
            fallbacks=manifest.fallbacks,
            seconds=self._watch.report(),
            peak_memory_bytes=self._memory.bytes,
            unchanged=unchanged,
            notices=tuple(self._history.notices),
        )


def write_sparse(home: Path, manifest: Manifest, corpus: Corpus) -> Manifest:
    """Everything but vectors, durable and read back. Returns the manifest with its checksums."""
    part = home / "sparse"
    forms = {"bm25": corpus.terms, "stems": corpus.terms.folded(stem)}
    for name in forms:
        (part / name).mkdir(parents=True)
    (home / "pin").touch()
    ChunkTable.write(part / "chunks", corpus.chunks)
    for name, counted in forms.items():
        SparseIndex.weighed(counted).save(part / name)
    write_entries(part / ENTRIES, corpus.entries)
    rows = range(0, len(corpus.chunks), _SAMPLE)
    table = ChunkTable.open(part / "chunks")
    if len(table) != len(corpus.chunks) or table.get(rows) != [corpus.chunks[row] for row in rows]:
        raise corrupt(part / "chunks", "does not hold the chunks that were written to it")
    for name in forms:
        if len(SparseIndex.open(part / name)) != len(corpus.chunks):
            raise corrupt(part / name, "does not hold the chunks that were written to it")
    manifest = replace(manifest, files=checksums(part))
    write_manifest(part / "manifest.json", manifest)
    sync_tree(home)
    return manifest
