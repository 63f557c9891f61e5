"""One question against one generation, top to bottom: what it asks for, both retrievers side by side, fusion, ranking, the results."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from rag.errors import FootnoteError, RetrievalError
from rag.index.generation import Generation
from rag.protocols import Embedder
from rag.retrieval.candidates import Candidates, Fusing, Stage
from rag.retrieval.explain import Explaining, explanation_of
from rag.retrieval.groups import one_list
from rag.retrieval.lists import Lists, ranked_lists
from rag.retrieval.query import understand
from rag.retrieval.query_filters import Group, joined
from rag.retrieval.query_vectors import QueryVectors
from rag.retrieval.ranking import Ranked
from rag.retrieval.search import Search, Words
from rag.retrieval.signals import CODE
from rag.source.permalink import permalink
from rag.types import Filters, Repository, Retrieval, SearchResult

log = logging.getLogger(__name__)
T = TypeVar("T")

_ALL = 1_000_000  # results: as many as there are candidates
SPARSE_ONLY = "The index is still being built: this was found by words alone; in a while it is searched by meaning as well."


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """`top_k`: results where no limit is asked for. `candidates`: how many each retriever brings. `fusion`: "linear" or "rrf", see
    rag.retrieval.fusion; `rrf_k`: of the latter. `timeout`: seconds for one question, its embedding included.
    """

    top_k: int = 10
    candidates: int = 100
    fusion: Literal["linear", "rrf"] = "linear"
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
        stage: Stage = "ranked",
        group: Group = "",
    ) -> Retrieval:
        """The best chunks for a question. Finding nothing is an empty `results`; whatever fails is an error.

        `limit`: most results, `top_k` if None. `min_score`: least cosine similarity, -1 to 1, of every result; what only BM25 found is
        compared by its own vector. `stage`: whose order counts. `group`: "code" or "prose" for one of the two alone; only the stage
        "ranked" tells them apart. While the dense part is being built, or where another model wrote it, "fused" and "ranked" go by words
        alone and say so in `notices`; "dense" and `min_score` are errors then. `explain`: a line a candidate. Filters that the question
        itself holds ("lang:go") hold where `filters` is silent.
        `seconds`: "sparse" beside "embed" and "dense" (of a server, both in one), then "rank", and "retrieve" for the whole as it was
        waited for.

        Raises: RetrievalError, IndexCorrupt, ModelError.
        """
        started = time.perf_counter()
        wanted = self._checked(question, generation, limit, min_score, stage)
        query = understand(question)
        search = Search(query, generation, joined(filters, query.filters), max(self._settings.candidates, wanted), {})
        by_words_for_now = stage in ("fused", "ranked") and generation.dense is None and not generation.mismatch
        by_meaning = generation.dense is not None and (stage != "sparse" or min_score is not None)
        try:
            async with asyncio.timeout(self._settings.timeout):
                search, allowed = await asyncio.to_thread(search.narrowed, filters)
                sparse: Words | None
                if search.in_one_request and stage in ("fused", "ranked"):
                    sparse, (vector, dense) = await asyncio.to_thread(search.both, self._query_vectors, allowed)
                else:
                    sparse, (vector, dense) = await asyncio.gather(
                        asyncio.to_thread(search.sparse, allowed) if stage != "dense" else _value(None),
                        asyncio.to_thread(search.dense, self._query_vectors, search=stage != "sparse")
                        if by_meaning
                        else _value((None, None)),
                    )

                def rank() -> tuple[tuple[SearchResult, ...], tuple[str, ...], Lists]:
                    with search.clocked("rank"):
                        candidates = Candidates(sparse, dense, vector, generation.vectors, self._fusing(query.symbol))
                        if stage == "ranked":
                            most = wanted if min_score is None and not explain else _ALL
                            lists = ranked_lists(query, candidates, generation, allowed, group or query.group, most)
                        else:
                            lists = Lists([Ranked(row, score) for row, score in candidates.ranked(stage)])
                        ranked = [*lists.leading, *lists.others]
                        similarities = candidates.similarities([result.row for result in ranked])
                        leading, others = (_similar(results, similarities, min_score) for results in (lists.leading, lists.others))
                        kept = one_list(leading, others, wanted)
                        results = _results(kept, candidates, similarities, stage, generation, repository)
                        explaining = Explaining(stage, candidates, similarities, generation.chunks, min_score)
                        return results, explanation_of(explaining, ranked, kept) if explain else (), lists

                results, explanation, lists = await asyncio.to_thread(rank)
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
            candidates={
                name: len(found) for name, found in (("sparse", sparse.found if sparse else None), ("dense", dense)) if found is not None
            },
            notices=(*generation.info.notices, *search.notices, *((SPARSE_ONLY,) if by_words_for_now else ())),
            explanation=explanation,
            leads=lists.leads,
            confidence=lists.confidence,
        )

    def _fusing(self, symbol: str) -> Fusing:
        return Fusing(self._settings.rrf_k if self._settings.fusion == "rrf" else 0, CODE.sparse_of_symbol if symbol else CODE.sparse)

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


def _similar(results: Sequence[Ranked], similarities: Mapping[int, float], min_score: float | None) -> list[Ranked]:
    return [result for result in results if min_score is None or similarities.get(result.row, -math.inf) >= min_score]


def _results(
    kept: Sequence[Ranked],
    candidates: Candidates,
    similarities: Mapping[int, float],
    stage: Stage,
    generation: Generation,
    repository: Repository,
) -> tuple[SearchResult, ...]:
    chunks = generation.chunks.get([result.row for result in kept])
    commit = generation.info.commit
    return tuple(
        SearchResult(
            rank=rank,
            chunk=chunk,
            score=result.score,
            scores=candidates.scores(result.row, similarities.get(result.row)) | ({"ranked": result.score} if stage == "ranked" else {}),
            permalink=permalink(repository, commit, chunk.path, chunk.start_line, chunk.end_line),
        )
        for rank, (result, chunk) in enumerate(zip(kept, chunks, strict=True), 1)
    )


async def _value(value: T) -> T:
    return value
