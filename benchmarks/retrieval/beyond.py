"""Two rows that are no ranking: questions that belong to another repository, and how long a question takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from benchmarks.retrieval.rows import FINAL, SHOWN, Cell, Result, asked_as
from rag.errors import FootnoteError
from rag.evaluation.datasets import Question
from rag.evaluation.indexes import EvalIndexes, groups_of
from rag.evaluation.report import EvalReport
from rag.evaluation.runner import BY_WORDS, confidence_of
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings

LOST = 0.05  # share of answerable questions that a threshold may lose
SEED = 4
CHUNKS = 50_000
TIMED, WARM = 300, 20  # questions


async def foreign(
    report: EvalReport, indexes: EvalIndexes, settings: RetrievalSettings, tell: Callable[[str], None], target: float = 8.0
) -> Result:
    """Asks each repository of `report` as many questions about others as its own set has. At the threshold that loses 5 % of all answerable
    questions: how many of the foreign ones, in %, are let through. One threshold for all repositories, as users have one.

    Judged by what retrieval says of its confidence, where it says nothing by the best cosine similarity.
    """
    stages = [stage for stage in SHOWN if stage not in BY_WORDS]
    asked = list(report.asked)
    retrievers = {column: (stage, Retriever(indexes.embedder, own)) for column in stages for stage, own in [asked_as(column, settings)]}
    strange: dict[str, list[float]] = {stage: [] for stage in stages}
    repositories = 0
    for group in groups_of(asked, root=False):
        others = [question for question in asked if question.repository != group.repository]
        if not others:
            continue
        drawn = Random(f"{SEED} {group.repository}").sample(others, min(len(group.questions), len(others)))
        tell(f"foreign: {group.repository}")
        try:
            async with indexes.open(group, dense=True) as (generation, repository, _):
                repositories += 1
                for question in drawn:
                    for column, (stage, retriever) in retrievers.items():
                        found = await retriever.retrieve(question.text, generation, repository, limit=10, stage=stage)
                        strange[column].append(confidence_of(found) or 0.0)
        except FootnoteError as error:
            tell(f"foreign: {group.repository} was left out: {error}")
    cells = []
    for column in SHOWN:
        own_scores = [outcome.confidence or 0.0 for outcome in report.of(column)] if column in stages else []
        cells.append(Cell(column, 100 * let_through(own_scores, strange[column]) if own_scores and strange[column] else None))
    asked_foreign = len(strange[FINAL]) if FINAL in strange else 0
    name = "foreign questions let through at 5 % of answerable lost"
    note = f"{asked_foreign} foreign questions beside {len(asked)} of their own"
    return Result(name, tuple(cells), "10 %", target, asked_foreign, repositories, at_most=True, unit="%", note=note)


def let_through(own: Sequence[float], strange: Sequence[float], lost: float = LOST) -> float:
    """The share of `strange` at or above the threshold below which `lost` of `own` lie."""
    threshold = np.sort(np.asarray(own, dtype=np.float64))[int(lost * len(own))]
    return float(np.mean(np.asarray(strange, dtype=np.float64) >= threshold))


async def latency(
    questions: Sequence[Question], largest: Question, indexes: EvalIndexes, settings: RetrievalSettings, tell: Callable[[str], None]
) -> list[Result]:
    """p50 and p99 of questions asked one after another of the largest index, each text new to the retriever, so embedded."""
    texts = list(dict.fromkeys(question.text for question in questions))
    Random(SEED).shuffle(texts)
    texts = texts[: WARM + TIMED]
    (group,) = groups_of([largest], root=False)
    taken: dict[str, list[float]] = {}
    async with indexes.open(group, dense=True) as (generation, repository, indexed):
        for column in SHOWN:
            tell(f"latency: {column}")
            stage, own = asked_as(column, settings)
            retriever = Retriever(indexes.embedder, own)
            for number, text in enumerate(texts):
                started = time.perf_counter()
                await retriever.retrieve(text, generation, repository, limit=10, stage=stage)
                if number >= min(WARM, len(texts) // 2):
                    taken.setdefault(column, []).append(1000 * (time.perf_counter() - started))
        chunks = indexed.chunks
    count = len(taken[FINAL])
    short = "" if chunks >= CHUNKS else f"; no index here has {CHUNKS:,}"
    note = f"{count} questions to {group.repository}, {chunks:,} chunks{short}"
    return [
        Result(
            f"query {name}, embedding included",
            tuple(Cell(stage, float(np.percentile(taken[stage], at))) for stage in SHOWN),
            "–",
            target,
            count,
            1,
            at_most=True,
            unit="ms",
            note=note,
        )
        for name, at, target in (("p50", 50, 15.0), ("p99", 99, 60.0))
    ]
