"""Asks labelled questions of real repositories, stage by stage: `footnote eval`.

Each repository is indexed once at each commit that a question names, by the same build that users get, and kept in the evaluation's
data directory: a second run finds the index standing, and embeds nothing twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from rag.chunking import ChunkingSettings
from rag.embedding.lazy import LazyEmbedder
from rag.embedding.models import EmbeddingSettings, describe
from rag.errors import EvaluationError, FootnoteError
from rag.evaluation.clones import find_clone
from rag.evaluation.datasets import Question, read_questions
from rag.evaluation.grep import WordCounts
from rag.evaluation.metrics import Place, score
from rag.evaluation.report import EvalReport, Indexed, LeftOut, Outcome, rankings_file, write_rankings
from rag.index.build_process import run_build
from rag.index.dense import default_backend
from rag.index.generation import Generation, Indexes
from rag.index.jobs import BuildEvent, BuildJob
from rag.retrieval.candidates import Stage
from rag.retrieval.retriever import RetrievalSettings, Retriever
from rag.source.mirror import Mirror
from rag.types import Document, Repository

logger = logging.getLogger(__name__)

STAGES = ("grep", "sparse", "dense", "fused", "ranked")
RANKED = 50  # results of a question


@dataclass(frozen=True, slots=True)
class EvalProgress:
    """`step`: what is done to `repository`: "index" (with the build's own stage in `message`) or "ask". `done`, `total`: questions."""

    repository: str
    step: str
    done: int
    total: int
    message: str = ""


@dataclass(frozen=True, slots=True)
class _Group:
    """Questions about one repository at one commit below one folder."""

    repository: str
    commit: str
    root: str
    questions: list[Question] = field(default_factory=list)

    @property
    def name(self) -> str:
        """A repository's name that tells the groups apart: readable in front, unique behind."""
        key = hashlib.sha256(f"{self.repository}\0{self.commit}\0{self.root}".encode()).hexdigest()[:10]
        return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', self.repository).strip('.-')[:40]}-{key}"


async def evaluate(
    questions: Path,
    repos: Path,
    *,
    data_dir: Path,
    root: bool = False,
    stages: Sequence[str] = STAGES,
    rankings: Path | None = None,
    embedding: EmbeddingSettings = EmbeddingSettings(),
    chunking: ChunkingSettings = ChunkingSettings(),
    retrieval: RetrievalSettings = RetrievalSettings(),
    only: Collection[str] = (),
    on_progress: Callable[[EvalProgress], None] = lambda progress: None,
) -> EvalReport:
    """Asks every question of a file (or those about the repositories in `only`) at each stage.

    `repos`: clones, see `find_clone`. `data_dir`: of the evaluation, not the one that serves. `root`: index only each question's
    `index_root`. `rankings`: where the first 50 results of each question go, see `rankings_file`. A repository without a clone, a
    commit that its clone lacks and a build that fails leave their questions out; the report names them. Only "dense", "fused" and
    "ranked" make an index embed its chunks, and "grep" needs no index at all.

    Raises: EvaluationError (questions, stages, `repos`), ModelError.
    """
    unknown = [stage for stage in stages if stage not in STAGES]
    if unknown or not stages:
        raise EvaluationError(f"There is no stage {', '.join(map(repr, unknown)) or 'given'}.", f"Choose from {', '.join(STAGES)}.")
    if not await asyncio.to_thread(repos.is_dir):
        raise EvaluationError(f"{repos} is not a directory.", "Give a directory of clones, named owner+name, owner/name or name.")
    read = await asyncio.to_thread(read_questions, questions)
    wanted = [question for question in read if not only or question.repository in only]
    if not wanted:
        raise EvaluationError(f"{questions} asks nothing about {', '.join(sorted(only))}.", "Repositories are named owner/name.")
    evaluation = _Evaluation(repos, data_dir, tuple(stages), embedding, chunking, retrieval, on_progress, len(wanted))
    try:
        for group in _groups(wanted, root):
            await evaluation.run(group)
    finally:
        evaluation.close()
    report = evaluation.report(wanted)
    if rankings is not None:
        for stage in report.stages:
            of_stage = [outcome for outcome in report.outcomes if outcome.stage == stage]
            await asyncio.to_thread(write_rankings, rankings_file(rankings, stage, report.stages), of_stage)
    return report


def _groups(questions: Sequence[Question], root: bool) -> list[_Group]:
    groups: dict[tuple[str, str, str], _Group] = {}
    for question in questions:
        key = (question.repository, question.commit, question.index_root if root else "")
        groups.setdefault(key, _Group(*key)).questions.append(question)
    return list(groups.values())


class _Evaluation:
    def __init__(
        self,
        repos: Path,
        data_dir: Path,
        stages: tuple[str, ...],
        embedding: EmbeddingSettings,
        chunking: ChunkingSettings,
        retrieval: RetrievalSettings,
        on_progress: Callable[[EvalProgress], None],
        total: int,
    ) -> None:
        self._repos = repos
        self._data_dir = data_dir
        self._stages = stages
        self._embedding = embedding
        self._chunking = chunking
        self._tell = on_progress
        self._total = total
        self._done = 0
        self._indexes = Indexes(data_dir, default_backend(), describe(embedding))
        self._embedder = LazyEmbedder(embedding, data_dir / "models")
        self._retriever = Retriever(self._embedder, retrieval)
        self._outcomes: list[Outcome] = []
        self._left_out: list[LeftOut] = []
        self._indexed: list[Indexed] = []

    async def run(self, group: _Group) -> None:
        try:
            mirror, clone = await asyncio.to_thread(self._find, group)
            if "grep" in self._stages:
                await self._grep(group, mirror)
            if set(self._stages) - {"grep"}:
                await self._retrieve(group, clone)
        except FootnoteError as error:
            # Half a group would be in some stages' means and not in others'.
            ids = {question.id for question in group.questions}
            self._outcomes = [outcome for outcome in self._outcomes if outcome.question.id not in ids]
            self._left_out.append(LeftOut(group.repository, group.commit, len(group.questions), str(error)))
            logger.warning("%s was left out: %s", group.repository, type(error).__name__)
        self._done += len(group.questions)

    def report(self, questions: Sequence[Question]) -> EvalReport:
        order = {question.id: number for number, question in enumerate(questions)}
        outcomes = sorted(self._outcomes, key=lambda o: (self._stages.index(o.stage), order[o.question.id]))
        return EvalReport(len(questions), self._stages, tuple(outcomes), tuple(self._left_out), tuple(self._indexed))

    def close(self) -> None:
        self._indexes.close()

    def _find(self, group: _Group) -> tuple[Mirror, Path]:
        clone = find_clone(self._repos, group.repository)
        if clone is None:
            raise EvaluationError("there is no clone of it.", f"Clone it into {self._repos}.")
        mirror = Mirror.existing(clone)
        mirror.resolve(group.commit)
        return mirror, clone

    async def _grep(self, group: _Group, mirror: Mirror) -> None:
        self._tell(EvalProgress(group.repository, "index", self._done, self._total, "count words"))

        def count() -> WordCounts:
            found = mirror.documents(group.commit, root=group.root)
            return WordCounts(document for document in found if isinstance(document, Document))

        words = await asyncio.to_thread(count)
        for question in group.questions:
            started = time.perf_counter()
            places = await asyncio.to_thread(words.search, question.text, RANKED)
            self._keep(question, "grep", places, time.perf_counter() - started)

    async def _retrieve(self, group: _Group, clone: Path) -> None:
        repository = Repository(group.name, str(clone))
        async with self._index(group, repository) as generation:
            for number, question in enumerate(group.questions):
                self._tell(EvalProgress(group.repository, "ask", self._done + number, self._total))
                for stage in self._stages:
                    if stage != "grep":
                        await self._ask(question, stage, generation, repository)

    async def _ask(self, question: Question, stage: str, generation: Generation, repository: Repository) -> None:
        started = time.perf_counter()
        found = await self._retriever.retrieve(question.text, generation, repository, limit=RANKED, stage=cast(Stage, stage))
        seconds = time.perf_counter() - started
        places = [Place(r.chunk.path, r.chunk.start_line, r.chunk.end_line, r.score) for r in found.results]
        self._keep(question, stage, places, seconds)

    def _keep(self, question: Question, stage: str, places: Sequence[Place], seconds: float) -> None:
        files, lines = (score(places, question.relevant, lines=level) for level in (False, True))
        self._outcomes.append(Outcome(question, stage, tuple(places), files, lines, seconds))

    @asynccontextmanager
    async def _index(self, group: _Group, repository: Repository) -> AsyncIterator[Generation]:
        """Brings the group's index up to what its stages need, and opens it."""
        job = BuildJob(
            repository,
            self._data_dir,
            self._embedding,
            self._chunking,
            commit=group.commit,
            root=group.root,
            source_git_dir=repository.source,
        )
        started = time.monotonic()
        dense = bool({"dense", "fused", "ranked"} & set(self._stages))
        built = await self._build(job, group.repository, dense=dense)
        seconds = time.monotonic() - started
        if dense:
            await asyncio.to_thread(self._embedder.load)  # not within the first question's time
        index = self._indexes.for_name(group.name)
        try:
            async with index.opened() as generation:
                info = generation.info
                self._indexed.append(Indexed(group.repository, group.commit, group.root, info.documents, info.chunks, built, seconds))
                yield generation
        finally:
            index.close()  # one index in memory at a time

    async def _build(self, job: BuildJob, name: str, *, dense: bool) -> bool:
        """Runs the build to its end, or where nobody needs vectors until its sparse part can be asked. Whether anything was built."""
        sparse_ready = asyncio.Event()

        def on_event(event: BuildEvent) -> None:
            if event.stage == "sparse_ready":
                sparse_ready.set()
            message = f"{event.stage} {event.done:,}/{event.total:,}" if event.total else event.stage
            self._tell(EvalProgress(name, "index", self._done, self._total, message))

        build = asyncio.create_task(run_build(job, on_event))
        enough = asyncio.create_task(sparse_ready.wait())
        try:
            await asyncio.wait({build} if dense else {build, enough}, return_when=asyncio.FIRST_COMPLETED)
            return not build.result().unchanged if build.done() else True
        finally:
            enough.cancel()
            build.cancel()
            await asyncio.gather(build, enough, return_exceptions=True)
