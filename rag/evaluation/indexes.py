"""The indexes that an evaluation asks: one a repository, commit and folder, kept for the next run, the longest unused deleted first.

Each is made by the build that users get. Only the embedding model's own texts cost time a second time, and the cache knows them.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import shutil
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from rag.chunking import ChunkingSettings
from rag.embedding.lazy import LazyEmbedder
from rag.embedding.models import EmbeddingSettings, describe
from rag.errors import EvaluationError, FootnoteError
from rag.evaluation.blanking import blanked_clone
from rag.evaluation.clones import find_clone
from rag.evaluation.datasets import Label, Question
from rag.evaluation.report import Indexed
from rag.index.build_process import run_build
from rag.index.dense import default_backend
from rag.index.files import tree_bytes
from rag.index.generation import Generation, Indexes, RepositoryIndex
from rag.index.jobs import BuildEvent, BuildJob
from rag.index.recipe import recipe_of, scope_of
from rag.index.standing import read_published
from rag.source.mirror import Mirror
from rag.types import EmbeddingSpec, Repository

logger = logging.getLogger(__name__)

MOST_BYTES = 20 << 30  # of all indexes of one model
_USED = "used"  # a file in an index's directory whose time says when it was last asked


@dataclass(frozen=True, slots=True)
class Group:
    """Questions about one repository at one commit below one folder. `blank`: words of the questions are not in the index."""

    repository: str
    commit: str
    root: str
    questions: list[Question] = field(default_factory=list)
    blank: bool = False

    @property
    def name(self) -> str:
        """A repository's name that tells the groups apart: readable in front, unique behind."""
        parts = [self.repository, self.commit, self.root]
        if self.blank:
            parts += sorted(f"{label}\0{question.text}" for question in self.questions for label in question.blank)
        key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:10]
        return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', self.repository).strip('.-')[:40]}-{key}"


def groups_of(questions: Sequence[Question], *, root: bool, blank: bool = False) -> list[Group]:
    """The questions by what must be indexed for them, in order of appearance."""
    groups: dict[tuple[str, str, str], Group] = {}
    for question in questions:
        key = (question.repository, question.commit, question.index_root if root else "")
        groups.setdefault(key, Group(*key, blank=blank)).questions.append(question)
    return list(groups.values())


def _history_of(group: Group) -> Literal["names", "none"]:
    """What of the history the group's index keeps. The copy whose words are blanked has none."""
    return "none" if group.blank else "names"


def home_of(data_dir: Path, spec: EmbeddingSpec) -> Path:
    """Where the indexes of a model lie: those of the packaged one in `data_dir` itself, so that judging another rebuilds none of them."""
    if spec == describe(EmbeddingSettings()):
        return data_dir
    digest = hashlib.sha256(repr(sorted(asdict(spec).items())).encode()).hexdigest()[:16]
    return data_dir / "other-models" / digest


class EvalIndexes:
    """Finds clones, builds and opens indexes, one in memory at a time. `standing_only`: builds none. `most_bytes`: see MOST_BYTES."""

    def __init__(
        self,
        repos: Path,
        data_dir: Path,
        *,
        embedding: EmbeddingSettings = EmbeddingSettings(),
        chunking: ChunkingSettings = ChunkingSettings(),
        standing_only: bool = False,
        most_bytes: int = MOST_BYTES,
        tell: Callable[[str, str], None] = lambda repository, message: None,
    ) -> None:
        self._repos = repos
        self._embedding = embedding
        self._chunking = chunking
        self._standing_only = standing_only
        self._most_bytes = most_bytes
        self._tell = tell
        spec = describe(embedding)
        self._spec = spec
        self._home = home_of(data_dir, spec)
        self._indexes = Indexes(self._home, default_backend(), spec)
        self.embedder = LazyEmbedder(embedding, self._home / "models")

    def close(self) -> None:
        self._indexes.close()

    @property
    def embeddings(self) -> Path:
        """The file of the cache that the builds share."""
        return self._home / "embeddings.sqlite"

    def source(self, group: Group) -> tuple[Path, str]:
        """The clone and the commit to read for the group, both of a copy where words are blanked. Raises: EvaluationError, SourceError."""
        clone = find_clone(self._repos, group.repository)
        if clone is None:
            raise EvaluationError("there is no clone of it.", f"Clone it into {self._repos}.")
        mirror = Mirror.existing(clone)
        commit = mirror.resolve(group.commit)
        if not group.blank:
            return clone, commit
        lines: dict[Label, list[str]] = {}
        for question in group.questions:
            for label in question.blank:
                lines.setdefault(label, []).append(question.text)
        return blanked_clone(mirror, clone, commit, lines, self._home / "blanked" / group.name)

    @asynccontextmanager
    async def open(self, group: Group, *, dense: bool) -> AsyncIterator[tuple[Generation, Repository, Indexed]]:
        """Brings the group's index up to what is needed, and opens it. `dense`: whether by meaning too.

        Raises: EvaluationError, SourceError, IndexingError, ModelError.
        """
        index = self._indexes.for_name(group.name)
        started = time.monotonic()
        built = False
        if not await asyncio.to_thread(self._stands, index, group, dense):
            built = await self._bring_up(group, dense)
        seconds = time.monotonic() - started
        if dense:
            await asyncio.to_thread(self.embedder.load)  # not within the first question's time
        await asyncio.to_thread((index.layout.directory / _USED).touch)
        try:
            async with index.opened() as generation:
                info = generation.info
                found = Indexed(group.repository, group.commit, group.root, info.documents, info.chunks, built, seconds)
                yield generation, Repository(group.name, ""), found
        finally:
            index.close()  # one index in memory at a time

    def _stands(self, index: RepositoryIndex, group: Group, dense: bool) -> bool:
        """Whether it was built of these settings by this code, as far as it is needed."""
        recipe = recipe_of(self._spec, self._chunking, scope_of(Repository(group.name, ""), group.root))
        if dense:
            return index.fits(recipe) and (self._standing_only or _history_of(group) == "none" or index.has_history())
        try:
            pointer = index.layout.current()
            return pointer is not None and read_published(index.layout.generation(pointer.generation)).recipe == recipe
        except FootnoteError:
            return False

    async def _bring_up(self, group: Group, dense: bool) -> bool:
        if self._standing_only:
            raise EvaluationError("its index does not stand.", "Leave out --standing to build it.")
        await asyncio.to_thread(self._make_room, group.name)
        clone, commit = await asyncio.to_thread(self.source, group)
        job = BuildJob(
            Repository(group.name, str(clone)),
            self._home,
            self._embedding,
            self._chunking,
            commit=commit,
            root=group.root,
            source_git_dir=str(clone),
            history=_history_of(group),
        )
        return await self._build(job, group.repository, dense=dense)

    async def _build(self, job: BuildJob, name: str, *, dense: bool) -> bool:
        """Runs the build to its end, or where nobody needs vectors until its sparse part can be asked. Whether anything was built."""
        sparse_ready = asyncio.Event()

        def on_event(event: BuildEvent) -> None:
            if event.stage == "sparse_ready":
                sparse_ready.set()
            self._tell(name, f"{event.stage} {event.done:,}/{event.total:,}" if event.total else event.stage)

        build = asyncio.create_task(run_build(job, on_event))
        enough = asyncio.create_task(sparse_ready.wait())
        try:
            await asyncio.wait({build} if dense else {build, enough}, return_when=asyncio.FIRST_COMPLETED)
            return not build.result().unchanged if build.done() else True
        finally:
            enough.cancel()
            build.cancel()
            await asyncio.gather(build, enough, return_exceptions=True)

    def _make_room(self, keep: str) -> None:
        """Deletes the indexes that were longest not asked until the rest is small enough."""
        sizes = {name: tree_bytes(self._indexes.for_name(name).layout.directory) for name in self._indexes.names()}
        excess = sum(sizes.values()) - self._most_bytes
        for name in sorted(sizes, key=self._last_used):
            if excess <= 0:
                return
            if name != keep:
                with suppress(FootnoteError):  # somebody builds it
                    self._indexes.for_name(name).remove()
                    shutil.rmtree(self._home / "blanked" / name, ignore_errors=True)
                    excess -= sizes[name]
                    logger.info("deleted the index %s of former evaluations: they take more than %d MB", name, self._most_bytes >> 20)

    def _last_used(self, name: str) -> float:
        directory = self._indexes.for_name(name).layout.directory
        for place in (directory / _USED, directory / "current"):
            with suppress(OSError):
                return place.stat().st_mtime
        return 0.0
