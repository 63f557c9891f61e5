"""Asks labelled questions of real repositories, stage by stage: `footnote eval`.

Each repository is indexed once at each commit that a question names, by the same build that users get, and kept in the evaluation's
data directory: a second run finds the index standing, and embeds nothing twice.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

from rag.chunking import ChunkingSettings
from rag.embedding.models import EmbeddingSettings
from rag.errors import EvaluationError, FootnoteError
from rag.evaluation.datasets import Question, in_half, read_all
from rag.evaluation.export import rankings_file, write_rankings
from rag.evaluation.grep import WordCounts
from rag.evaluation.indexes import MOST_BYTES, EvalIndexes, Group, groups_of
from rag.evaluation.metrics import Place, score
from rag.evaluation.report import EvalReport, Indexed, LeftOut, Outcome
from rag.index.generation import Generation
from rag.retrieval.candidates import Stage
from rag.retrieval.groups import in_one_list
from rag.retrieval.query_filters import Group as RankedGroup
from rag.retrieval.reranking.stage import Reranking
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.source.mirror import Mirror
from rag.types import Document, Filters, Repository, Retrieval

logger = logging.getLogger(__name__)

RERANKED = "reranked"  # only where there is a reranker
STAGES: tuple[str, ...] = ("grep", *(stage for stage in get_args(Stage) if stage != RERANKED))  # a stage of retrieval's appears by itself
ONE_LIST = frozenset({"sparse", "dense", "fused"})  # stages that know no groups
BY_WORDS = frozenset({"grep", "sparse"})  # stages that look at no vector
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
class EvalSettings:
    """How questions are asked. `data_dir`: of the evaluation, not the one that serves. `root`: index only each question's `index_root`.
    `blank`: in an index without the words that questions were made of. `filters`: which chunks may be found. `group`: "code" or "prose"
    where ranked results are to come from one of the two alone; else they are judged as one list. `standing_only`: build no index, leave
    out the questions that need one. `most_bytes`: of indexes kept for the next run.
    """

    data_dir: Path
    root: bool = False
    stages: Sequence[str] = STAGES
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    chunking: ChunkingSettings = field(default_factory=ChunkingSettings)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    blank: bool = False
    filters: Filters = field(default_factory=Filters)
    group: RankedGroup = ""
    standing_only: bool = False
    most_bytes: int = MOST_BYTES


def select(paths: Sequence[Path], *, only: Collection[str] = (), half: str = "") -> list[Question]:
    """The questions of some files: all, or those about the repositories in `only`, or in half "a" or "b" of all repositories.

    Raises: EvaluationError, where none is left too.
    """
    read = read_all(paths)
    wanted = [q for q in read if (not only or q.repository in only) and (not half or in_half(q.repository, half))]
    if not wanted:
        about = ", ".join(sorted(only)) or f"the repositories of half {half}"
        raise EvaluationError(f"{', '.join(map(str, paths))} asks nothing about {about}.", "Repositories are named owner/name.")
    return wanted


async def evaluate(
    questions: Sequence[Question],
    repos: Path,
    settings: EvalSettings,
    *,
    rankings: Path | None = None,
    on_progress: Callable[[EvalProgress], None] = lambda progress: None,
    reranking: Reranking | None = None,
) -> EvalReport:
    """Asks every question at each stage.

    `repos`: clones, see `find_clone`. `rankings`: where the first 50 results of each question go, see `rankings_file`. A repository
    without a clone, a commit that its clone lacks and a build that fails leave their questions out; the report names them. Stages that
    look at words alone make no index embed its chunks, and "grep" needs no index at all. `reranking`: for the stage "reranked"; where it
    fails at a question, the repository is left out, for the order that stands then is another stage's.

    Raises: EvaluationError (stages, `repos`), ModelError.
    """
    unknown = [stage for stage in settings.stages if stage not in (*STAGES, RERANKED)]
    if unknown or not settings.stages:
        raise EvaluationError(f"There is no stage {', '.join(map(repr, unknown)) or 'given'}.", f"Choose from {', '.join(STAGES)}.")
    if RERANKED in settings.stages and reranking is None:
        raise EvaluationError("There is no stage 'reranked': no reranker is configured.", "Set by in [rerank]; see docs/configuration.md.")
    if not await asyncio.to_thread(repos.is_dir):
        raise EvaluationError(f"{repos} is not a directory.", "Give a directory of clones, named owner+name, owner/name or name.")
    evaluation = _Evaluation(repos, settings, on_progress, len(questions), reranking)
    try:
        for group in groups_of(questions, root=settings.root, blank=settings.blank):
            await evaluation.run(group)
    finally:
        evaluation.close()
    report = evaluation.report(questions)
    if rankings is not None:
        for stage in report.stages:
            await asyncio.to_thread(write_rankings, rankings_file(rankings, stage, report.stages), report.of(stage))
    return report


class _Evaluation:
    def __init__(
        self, repos: Path, settings: EvalSettings, on_progress: Callable[[EvalProgress], None], total: int, reranking: Reranking | None
    ) -> None:
        self._settings = settings
        self._stages = tuple(settings.stages)
        self._tell = on_progress
        self._total = total
        self._done = 0
        self._indexes = EvalIndexes(
            repos,
            settings.data_dir,
            embedding=settings.embedding,
            chunking=settings.chunking,
            standing_only=settings.standing_only,
            most_bytes=settings.most_bytes,
            tell=lambda name, message: on_progress(EvalProgress(name, "index", self._done, total, message)),
        )
        self._retriever = Retriever(self._indexes.embedder, settings.retrieval, reranking)
        self._outcomes: list[Outcome] = []
        self._left_out: list[LeftOut] = []
        self._indexed: list[Indexed] = []

    async def run(self, group: Group) -> None:
        try:
            if "grep" in self._stages:
                await self._grep(group)
            if set(self._stages) - {"grep"}:
                await self._retrieve(group)
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
        left_out, indexed = tuple(self._left_out), tuple(self._indexed)
        return EvalReport(len(questions), self._stages, tuple(outcomes), left_out, indexed, self._settings.root)

    def close(self) -> None:
        self._indexes.close()

    async def _grep(self, group: Group) -> None:
        self._tell(EvalProgress(group.repository, "index", self._done, self._total, "count words"))

        def count() -> WordCounts:
            clone, commit = self._indexes.source(group)
            found = Mirror.existing(clone).documents(commit, root=group.root)
            return WordCounts(document for document in found if isinstance(document, Document))

        words = await asyncio.to_thread(count)
        for question in group.questions:
            started = time.perf_counter()
            places = await asyncio.to_thread(words.search, question.text, RANKED)
            self._keep(question, "grep", places, time.perf_counter() - started)

    async def _retrieve(self, group: Group) -> None:
        async with self._indexes.open(group, dense=bool(set(self._stages) - BY_WORDS)) as (generation, repository, indexed):
            self._indexed.append(indexed)
            for number, question in enumerate(group.questions):
                self._tell(EvalProgress(group.repository, "ask", self._done + number, self._total))
                for stage in self._stages:
                    if stage != "grep":
                        await self._ask(question, stage, generation, repository)

    async def _ask(self, question: Question, stage: str, generation: Generation, repository: Repository) -> None:
        started = time.perf_counter()
        found = await self._retriever.retrieve(
            question.text,
            generation,
            repository,
            limit=RANKED,
            stage=cast(Stage, stage),
            filters=self._settings.filters,
            group=self._settings.group,
        )
        seconds = time.perf_counter() - started
        if stage == RERANKED and found.results and not any("rerank" in result.scores for result in found.results):
            raise EvaluationError("The reranker failed at a question.", "footnote doctor tries it; the log says why.")
        results = found.results if stage in ONE_LIST else in_one_list(found.results, narrowly=found.narrowly)
        places = [Place(r.chunk.path, r.chunk.start_line, r.chunk.end_line, r.score) for r in results]
        self._keep(question, stage, places, seconds, confidence_of(found))

    def _keep(self, question: Question, stage: str, places: Sequence[Place], seconds: float, confidence: float | None = None) -> None:
        files, lines = (score(places, question.relevant, lines=level) for level in (False, True))
        self._outcomes.append(Outcome(question, stage, tuple(places), files, lines, seconds, confidence))


def confidence_of(found: Retrieval) -> float | None:
    """What retrieval says of how sure it is; where it says nothing the best cosine similarity of its results, None without any."""
    said: float | None = getattr(found, "confidence", None)
    similarities = [result.scores["similarity"] for result in found.results if "similarity" in result.scores]
    return said if said is not None else max(similarities, default=None)
