"""One question against one generation, top to bottom: what it asks for, both retrievers side by side, fusion, ranking, the results."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

from rag.errors import FootnoteError, RetrievalError
from rag.index.generation import Generation
from rag.protocols import Embedder, Vector
from rag.retrieval.candidates import Candidates, Fusing, Stage
from rag.retrieval.lists import Lists, ranked_lists
from rag.retrieval.query import understand
from rag.retrieval.query_filters import Group, joined
from rag.retrieval.query_vectors import QueryVectors
from rag.retrieval.ranking import Ranked
from rag.retrieval.results import Shown, shown
from rag.retrieval.search import Allowed, Found, Search, Words
from rag.retrieval.settings import RetrievalSettings, refuse_what_cannot_be_searched
from rag.retrieval.signals import CODE, fitting
from rag.types import Filters, Repository, Retrieval

log = logging.getLogger(__name__)
T = TypeVar("T")

_ALL = 1_000_000  # results: as many as there are candidates
SPARSE_ONLY = "The index is still being built: this was found by words alone; in a while it is searched by meaning as well."


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
        wanted = self._settings.top_k if limit is None else limit
        refuse_what_cannot_be_searched(question, generation, wanted, min_score, stage)
        query = understand(question)
        search = Search(query, generation, joined(filters, query.filters), max(self._settings.candidates, wanted), {})
        async with _told(repository.name, self._settings.timeout):
            search, allowed = await asyncio.to_thread(search.narrowed, filters)
            words, vector, dense = await self._search(search, allowed, stage, by_meaning=stage != "sparse" or min_score is not None)

            def rank() -> Shown:
                with search.clocked("rank"):
                    candidates = Candidates(words, dense, vector, generation.vectors, self._fusing(query.symbol, generation))
                    if stage == "ranked":
                        most = wanted if min_score is None and not explain else _ALL
                        lists = ranked_lists(query, candidates, generation, allowed, group or query.group, most)
                    else:
                        lists = Lists([Ranked(row, score) for row, score in candidates.ranked(stage)])
                    return shown(
                        lists, candidates, generation, repository, stage=stage, wanted=wanted, min_score=min_score, explain=explain
                    )

            found = await asyncio.to_thread(rank)
        by_words_for_now = stage in ("fused", "ranked") and generation.dense is None and not generation.mismatch
        search.seconds["retrieve"] = time.perf_counter() - started
        brought = (("sparse", words.found if words else None), ("dense", dense))
        return Retrieval(
            results=found.results,
            index=generation.info,
            seconds=search.seconds,
            candidates={name: len(rows) for name, rows in brought if rows is not None},
            notices=(*generation.info.notices, *search.notices, *((SPARSE_ONLY,) if by_words_for_now else ())),
            explanation=found.explanation,
            leads=found.lists.leads,
            confidence=found.lists.confidence,
        )

    async def _search(
        self, search: Search, allowed: Allowed, stage: Stage, *, by_meaning: bool
    ) -> tuple[Words | None, Vector | None, Found | None]:
        """Both retrievers side by side; in one request where a server holds both."""
        if search.in_one_request and stage in ("fused", "ranked"):
            words, (vector, dense) = await asyncio.to_thread(search.both, self._query_vectors, allowed)
            return words, vector, dense
        by_words = asyncio.to_thread(search.sparse, allowed) if stage != "dense" else _value(None)
        if not by_meaning or search.generation.dense is None:
            return await by_words, None, None
        words_alone, (vector, dense_alone) = await asyncio.gather(
            by_words, asyncio.to_thread(search.dense, self._query_vectors, search=stage != "sparse")
        )
        return words_alone, vector, dense_alone

    def _fusing(self, symbol: str, generation: Generation) -> Fusing:
        weights = fitting(CODE, generation.manifest.embedding.backend)
        return Fusing(self._settings.rrf_k if self._settings.fusion == "rrf" else 0, weights.sparse_of_symbol if symbol else weights.sparse)


@asynccontextmanager
async def _told(name: str, seconds: float) -> AsyncIterator[None]:
    """Makes an error of ours of whatever fails inside, and of what takes more than so many `seconds`. Raises: RetrievalError."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except FootnoteError:
        raise
    except TimeoutError as error:
        raise RetrievalError(
            f"The search in {name} took more than {seconds:g} seconds.",
            "Try again; if it happens often, raise the retrieval timeout or lower the number of candidates.",
        ) from error
    except Exception as error:  # whatever numpy, onnxruntime or a store raise: never told as "nothing found"
        log.exception("A search in %s failed.", name)
        raise RetrievalError(
            f"The search in {name} failed ({type(error).__name__}).", "Try again; if it stays, index the repository again."
        ) from error


async def _value(value: T) -> T:
    return value
