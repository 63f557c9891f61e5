"""Values to log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from rag.answer_log import AnswerLog
from rag.answer_log.evaluations import EvalMean, EvalRun, EvalScore
from rag.types import Answer, Chunk, Citation, GenerationInfo, Kind, SearchResult

ASKED = datetime(2026, 3, 4, 5, 6, 1, tzinfo=UTC)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CHUNKS = (
    Chunk(
        "src/a.py",
        1,
        3,
        Kind.METHOD,
        "python",
        "def a(self):\n    pass\n    # é",
        "A.a",
        "A",
        ("a",),
        "def a(self)",
        "Does a.",
        "All of a.",
    ),
    Chunk("README.md", 10, 12, Kind.SECTION, "markdown", "# Use\n\nit", "Use"),
)
RESULTS = (
    SearchResult(
        1, CHUNKS[0], 0.031, {"fused": 0.031, "sparse": 7.25, "sparse_rank": 1, "similarity": 0.5, "dense_rank": 3}, "https://x/a#L1"
    ),
    SearchResult(2, CHUNKS[1], 0.016, {"fused": 0.016, "sparse": -0.25, "sparse_rank": 2}, ""),
)


def answer(answer_id: str = "a1", **changes: Any) -> Answer:
    values: dict[str, Any] = {
        "id": answer_id,
        "question": "What does a do?",
        "repository": "demo",
        "text": "It does a. [1]",
        "abstained": False,
        "citations": (Citation(1, "src/a.py", 1, 2, COMMIT, "https://x/a#L1-L2", CHUNKS[0].id),),
        "generator": "extractive",
        "index": GenerationInfo("demo", "g1", COMMIT, "main", datetime(2026, 3, 4, 2, tzinfo=UTC), 4, 9, True),
        "seconds": {"sparse": 0.002, "generate": 0.5},
        "dropped_citations": 2,
        "ungrounded": ("Nope",),
        "notices": ("The dense part is still being built.",),
        "prompt_tokens": 100,
        "completion_tokens": 20,
    }
    return Answer(**(values | changes))


async def ask(log: AnswerLog, answer_id: str = "a1", **changes: Any) -> None:
    values: dict[str, Any] = {
        "question": "What does a do?",
        "repository": "demo",
        "origin": "slack",
        "asker": "U1",
        "team": "T1",
        "channel": "C1",
        "thread": "1.0",
        "asked_at": ASKED,
    }
    await log.start(answer_id=answer_id, **(values | changes))


def evaluation(ndcg: float = 0.75, *, dataset: str = "concept", questions_hash: str = "0" * 16, scope: str = "whole") -> EvalRun:
    """A run of one data set at one stage."""
    means = tuple(
        EvalMean(dataset, questions_hash, "fused", level, 2, 2, ndcg, 0.9, 0.5, 0.7, ndcg - 0.1, ndcg + 0.1, 5.0)
        for level in ("files", "lines")
    )
    return EvalRun(0, ASKED, ASKED, ("concept.jsonl",), scope, {"version": "0.1.0"}, "a note", 2, 1, means)


SCORES = [EvalScore("q1", "concept", "o/one", "fused", 0.5, 0.25), EvalScore("q2", "concept", "o/two", "fused", 1.0, 1.0)]
