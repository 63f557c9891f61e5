"""How far an embedding model tells a question's own place from others: to judge a model before a repository is embedded with it.

A matching pair is a question and the chunks that meet one of its labels, a non-matching one the same question and as many chunks drawn from
files that no label names. A pair's similarity is that of its best chunk; equal numbers give both sides the same chances of a high one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from rag.embedding.cache import embed_with_cache, open_cache
from rag.embedding.models import EmbeddingSettings
from rag.errors import EvaluationError, FootnoteError, ModelError
from rag.evaluation.datasets import Label, Question
from rag.evaluation.indexes import EvalIndexes, groups_of
from rag.evaluation.metrics import Place, meets
from rag.evaluation.report import LeftOut
from rag.index.chunk_table import ChunkTable
from rag.protocols import Embedder, Vector
from rag.types import Chunk

logger = logging.getLogger(__name__)

OTHERS = 5  # non-matching pairs a question
MOST_CHUNKS = 5  # of one label: a file as a whole may have hundreds
_BARS = "▁▂▃▄▅▆▇█"
_LEAST, _MOST, _BINS = -0.2, 1.0, 24

Scores = NDArray[np.float64]
Embed = Callable[[Sequence[str]], Vector]


@dataclass(frozen=True, slots=True)
class GapReport:
    """Cosine similarities: `matching`, one a question and label; `others`, the rest. `auc`: how often a matching pair of a question
    is above a non-matching one of the same, ties half: 0.5 is chance. `pooled_auc`: the same over the pairs of all questions, which is what
    one threshold for all of them could reach."""

    model: str
    questions: int
    matching: Scores
    others: Scores
    auc: float
    pooled_auc: float
    left_out: tuple[LeftOut, ...] = field(default=())

    @property
    def gap(self) -> float:
        """Between the medians."""
        return float(np.median(self.matching) - np.median(self.others))

    @property
    def verdict(self) -> str:
        """In words. A measure for the limits: the packaged model reaches about 0.9 on short questions about code."""
        if self.auc >= 0.85:
            return "tells them apart well: worth an evaluation"
        if self.auc >= 0.75:
            return "tells them apart, but less well than the packaged model does on code: measure retrieval before using it"
        if self.auc >= 0.62:
            return "hardly tells them apart: words alone will do most of the work"
        return "does not tell them apart: do not use it for these repositories"


async def measure_gap(
    questions: Sequence[Question],
    repos: Path,
    *,
    data_dir: Path,
    embedding: EmbeddingSettings,
    root: bool = False,
    seed: int = 0,
    on_progress: Callable[[str], None] = lambda message: None,
) -> GapReport:
    """Embeds each question, its places and some others: no index is embedded as a whole. Arguments as those of `evaluate`.

    Raises: EvaluationError where no question has a place that is indexed; ModelError.
    """
    indexes = EvalIndexes(repos, data_dir, embedding=embedding, tell=lambda name, message: on_progress(f"{name}: {message}"))
    cache = await asyncio.to_thread(open_cache, indexes.embeddings)

    def embed(texts: Sequence[str]) -> Vector:
        return embed_with_cache(indexes.embedder, cache, texts)[0]

    pairs: list[tuple[Scores, Scores]] = []
    left_out: list[LeftOut] = []
    try:
        for group in groups_of(questions, root=root):
            try:
                async with indexes.open(group, dense=False) as (generation, _, _):
                    for question in group.questions:
                        on_progress(f"{group.repository}: {len(pairs)} questions")
                        random = Random(f"{seed} {question.id}")  # noqa: S311 - a draw, no secret
                        found = await asyncio.to_thread(_pairs, question, generation.chunks, indexes.embedder, embed, random)
                        if found is not None:
                            pairs.append(found)
            except ModelError:
                raise
            except FootnoteError as error:
                left_out.append(LeftOut(group.repository, group.commit, len(group.questions), str(error)))
    finally:
        indexes.close()
        if cache is not None:
            await asyncio.to_thread(cache.close)
    if not pairs:
        raise EvaluationError("No question has a place that is indexed.", "Check --repos, and that the labels are of the commit.")
    matching, others = np.concatenate([own for own, _ in pairs]), np.concatenate([rest for _, rest in pairs])
    auc = float(np.mean([area(own, rest) for own, rest in pairs]))
    return GapReport(indexes.embedder.spec.model, len(pairs), matching, others, auc, area(matching, others), tuple(left_out))


def area(above: Scores, below: Scores) -> float:
    """The share of pairs (one of each) in which `above` is greater, ties half: the area under the ROC curve."""
    ordered = np.sort(below)
    less, less_or_equal = np.searchsorted(ordered, above, "left"), np.searchsorted(ordered, above, "right")
    return float((less + less_or_equal).sum() / (2 * len(above) * len(below)))


def _pairs(question: Question, chunks: ChunkTable, embedder: Embedder, embed: Embed, random: Random) -> tuple[Scores, Scores] | None:
    """Similarities of the question's matching and non-matching pairs; None where none of its places is indexed, or nothing else."""
    paths = {label.path for label in question.relevant}
    numbers = {number for number, path in enumerate(chunks.paths) if path in paths}
    of_path = chunks.path_numbers
    inside = np.flatnonzero(np.isin(of_path, sorted(numbers))).tolist()
    outside = np.flatnonzero(~np.isin(of_path, sorted(numbers))).tolist()
    own = dict(zip(inside, chunks.get(inside), strict=True))
    units = [rows for label in question.relevant if (rows := _meeting(label, own, random))]
    if not units or not outside:
        return None
    drawn = [[random.choice(outside) for _ in units[number % len(units)]] for number in range(OTHERS)]
    rows = sorted({row for unit in (*units, *drawn) for row in unit})
    vectors = embed([chunk.encoded_text for chunk in chunks.get(rows)])
    similar = dict(zip(rows, (vectors @ embedder.embed_query(question.text)).tolist(), strict=True))
    best = [np.array([max(similar[row] for row in unit) for unit in side]) for side in (units, drawn)]
    return best[0], best[1]


def _meeting(label: Label, own: Mapping[int, Chunk], random: Random) -> list[int]:
    """Rows of chunks that meet a label, at most MOST_CHUNKS of them."""
    rows = [row for row, chunk in own.items() if meets(Place(chunk.path, chunk.start_line, chunk.end_line), label)]
    return rows if len(rows) <= MOST_CHUNKS else random.sample(rows, MOST_CHUNKS)


def render(report: GapReport) -> str:
    """Plain text: medians, a line of bars each on one scale, areas, and the verdict."""
    lines = [f"{report.model}: {report.questions} questions, cosine similarity from {_LEAST:g} to {_MOST:g}", ""]
    for name, values in (("matching", report.matching), ("non-matching", report.others)):
        low, middle, high = np.percentile(values, (10, 50, 90))
        lines.append(
            f"  {name:<13} {_bars(values)}  median {middle:.3f}, 10 % below {low:.3f}, 10 % above {high:.3f}  ({len(values):,} pairs)"
        )
    lines += [
        "",
        f"  gap of the medians {report.gap:.3f}",
        f"  AUC {report.auc:.3f} within a question, {report.pooled_auc:.3f} over all (0.5 is chance, 1 is perfect)",
        f"  It {report.verdict}.",
    ]
    if report.left_out:
        lines += ["", f"{sum(one.questions for one in report.left_out)} questions were left out:"]
        lines += [f"  {one.questions:>4}  {one.repository}: {one.reason}" for one in report.left_out]
    return "\n".join(lines) + "\n"


def _bars(values: Scores) -> str:
    counts, _ = np.histogram(np.clip(values, _LEAST, _MOST), bins=_BINS, range=(_LEAST, _MOST))
    most = max(int(counts.max()), 1)
    return "".join(" " if not count else _BARS[round(count / most * (len(_BARS) - 1))] for count in counts)
