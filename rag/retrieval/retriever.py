"""One question against one generation, top to bottom: both retrievers side by side, fusion, the results."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from rag.errors import FootnoteError, RetrievalError
from rag.index.generation import Generation
from rag.protocols import Embedder
from rag.retrieval.candidates import Candidates, Stage, fuse
from rag.retrieval.explain import explanation_of
from rag.retrieval.query_vectors import QueryVectors
from rag.retrieval.search import Found, Search
from rag.source.permalink import permalink
from rag.types import Filters, Repository, Retrieval, SearchResult

log = logging.getLogger(__name__)
T = TypeVar("T")

SPARSE_ONLY = "The index is still being built: this was found by words alone; in a while it is searched by meaning as well."


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """`top_k`: results where no limit is asked for. `candidates`: how many each retriever brings. `rrf_k`: see rag.retrieval.fusion.
    `timeout`: seconds for one question, its embedding included.
    """

    top_k: int = 10
    candidates: int = 100
    rrf_k: int = 60
    timeout: float = 30.0


class Retriever:
    """Searches any generation; by meaning where its vectors came from the embedder's model. One serves many questions at once."""

    def __init__(self, embedder: Embedder, settings: RetrievalSettings) -> None:
        self._settings = settings
        self._query_vectors = QueryVectors(embedder)

    async def retrieve(
        self,
        question: str,
        generation: Generation,
        repository: Repository,
        *,
        limit: int | None = None,
        filters: Filters = Filters(),
        min_score: float | None = None,
        explain: bool = False,
        stage: Literal["sparse", "dense", "fused"] = "fused",
    ) -> Retrieval:
        """The best chunks for a question. Finding nothing is an empty `results`; whatever fails is an error.

        `limit`: most results, `top_k` if None. `min_score`: least cosine similarity, -1 to 1, of every result; what only BM25 found is
        compared by its own vector. `stage`: whose order counts. While the dense part is being built, or where another model wrote it,
        "fused" ranks by words alone and says so in `notices`; "dense" and `min_score` are errors then. `explain`: a line a candidate.
        `seconds`: "sparse" beside "embed" and "dense", then "rank", and "retrieve" for the whole as it was waited for.

        Raises: RetrievalError, IndexCorrupt, ModelError.
        """
        started = time.perf_counter()
        wanted = self._checked(question, generation, limit, min_score, stage)
        search = Search(question, generation, filters, max(self._settings.candidates, wanted), {})
        by_words_for_now = stage == "fused" and generation.dense is None and not generation.mismatch
        by_meaning = generation.dense is not None and (stage != "sparse" or min_score is not None)
        try:
            async with asyncio.timeout(self._settings.timeout):
                sparse: Found | None
                if stage == "fused" and search.in_one_request:
                    sparse, (vector, dense) = await asyncio.to_thread(search.both, self._query_vectors)
                else:
                    sparse, (vector, dense) = await asyncio.gather(
                        asyncio.to_thread(search.sparse) if stage != "dense" else _value(None),
                        asyncio.to_thread(search.dense, self._query_vectors, search=stage != "sparse")
                        if by_meaning
                        else _value((None, None)),
                    )

                def rank() -> tuple[tuple[SearchResult, ...], tuple[str, ...]]:
                    with search.clocked("rank"):
                        candidates = fuse(sparse, dense, vector, generation.vectors, self._settings.rrf_k)
                        ranked = candidates.ranked(stage)
                        kept = [(row, score) for row, score in ranked if _similar(candidates, row, min_score)][:wanted]
                        results = _results(kept, candidates, generation, repository)
                        return results, explanation_of(candidates, ranked, kept, generation.chunks, min_score) if explain else ()

                results, explanation = await asyncio.to_thread(rank)
        except FootnoteError:
            raise
        except TimeoutError as error:
            raise RetrievalError(
                f"The search in {repository.name} took more than {self._settings.timeout:g} seconds.",
                "Try again; if it happens often, raise the retrieval timeout or lower the number of candidates.",
            ) from error
        except Exception as error:  # whatever numpy, onnxruntime or a store raise: never told as "nothing found"
            log.exception("A search in %s failed.", repository.name)
            raise RetrievalError(
                f"The search in {repository.name} failed ({type(error).__name__}).", "Try again; if it stays, index the repository again."
            ) from error
        search.seconds["retrieve"] = time.perf_counter() - started
        return Retrieval(
            results=results,
            index=generation.info,
            seconds=search.seconds,
            candidates={name: len(found) for name, found in (("sparse", sparse), ("dense", dense)) if found is not None},
            notices=(*generation.info.notices, *search.notices, *((SPARSE_ONLY,) if by_words_for_now else ())),
            explanation=explanation,
        )

    def _checked(self, question: str, generation: Generation, limit: int | None, min_score: float | None, stage: Stage) -> int:
        """How many results are wanted. Raises: RetrievalError for what cannot be searched."""
        if not question.strip():
            raise RetrievalError("The question is empty.", "Ask something.")
        wanted = self._settings.top_k if limit is None else limit
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
        return wanted


def _similar(candidates: Candidates, row: int, min_score: float | None) -> bool:
    return min_score is None or candidates.similarities.get(row, -math.inf) >= min_score


def _results(
    kept: Sequence[tuple[int, float]], candidates: Candidates, generation: Generation, repository: Repository
) -> tuple[SearchResult, ...]:
    chunks = generation.chunks.get([row for row, _ in kept])
    commit = generation.info.commit
    return tuple(
        SearchResult(
            rank=rank,
            chunk=chunk,
            score=score,
            scores=candidates.scores(row),
            permalink=permalink(repository, commit, chunk.path, chunk.start_line, chunk.end_line),
        )
        for rank, ((row, score), chunk) in enumerate(zip(kept, chunks, strict=True), 1)
    )


async def _value(value: T) -> T:
    return value
