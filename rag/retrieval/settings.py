"""How retrieval is set, and what it refuses to begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag.errors import RetrievalError
from rag.index.generation import Generation
from rag.retrieval.candidates import Stage


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """`top_k`: results where no limit is asked for. `candidates`: how many each retriever brings. `fusion`: "linear" or "rrf", see
    rag.retrieval.fusion; `rrf_k`: of the latter. `timeout`: seconds for one question, its embedding included. `fold`: whether results
    with nearly the same text become one; `mmr`: λ of maximal marginal relevance, 1 for the order as it is; see rag.retrieval.diversity.
    """

    top_k: int = 10
    candidates: int = 100
    fusion: Literal["linear", "rrf"] = "linear"
    rrf_k: int = 60
    timeout: float = 30.0
    fold: bool = True
    mmr: float = 1.0


def refuse_what_cannot_be_searched(question: str, generation: Generation, wanted: int, min_score: float | None, stage: Stage) -> None:
    """`wanted`: results. Raises: RetrievalError."""
    if not question.strip():
        raise RetrievalError("The question is empty.", "Ask something.")
    if wanted < 1:
        raise RetrievalError(f"A search for {wanted} results cannot be made.", "Ask for at least one.")
    if min_score is not None and not -1 <= min_score <= 1:
        raise RetrievalError(f"The least score {min_score:g} is no cosine similarity.", "Give a number from -1 to 1.")
    if generation.dense is None and (stage == "dense" or min_score is not None):
        name = generation.info.repository
        if generation.mismatch:
            raise RetrievalError(
                f"{name} cannot be searched by meaning: {generation.mismatch}",
                f"Index it again: footnote index {name}. Or search by words alone and without a least score.",
            )
        raise RetrievalError(
            f"{name} cannot be searched by meaning yet: that part of its index is still being built.",
            "Wait until it stands, or search by words alone and without a least score.",
        )
