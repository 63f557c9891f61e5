"""One question against one generation, top to bottom: what it asks, both retrievers side by side, fusion, ranking, reranking, results."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from rag.errors import FootnoteError, RetrievalError
from rag.index.generation import Generation
from rag.protocols import Embedder, Vector
from rag.retrieval.candidates import GROUPED, Candidates, Fusing, Stage
from rag.retrieval.diversity import AHEAD
from rag.retrieval.expansion import Expander, expanded
from rag.retrieval.lists import Lists, ranked_lists
from rag.retrieval.query import understand
from rag.retrieval.query_filters import Group, joined
from rag.retrieval.query_vectors import QueryVectors
from rag.retrieval.ranking import Ranked
from rag.retrieval.reranking.order import Reordered
from rag.retrieval.reranking.stage import Reranking, refuse_to_rerank
from rag.retrieval.results import Wanted, shown
from rag.retrieval.search import Allowed, Found, Search, Words
from rag.retrieval.settings import RetrievalSettings, refuse_what_cannot_be_searched
from rag.retrieval.signals import CODE, fitting
from rag.types import Filters, Repository, Retrieval

log = logging.getLogger(__name__)
T = TypeVar("T")

_ALL = 1_000_000  # results: as many as there are candidates
SPARSE_ONLY = "The index is still being built: this was found by words alone; in a while it is searched by meaning as well."


class Retriever:
    """Searches any generation; by meaning where its vectors came from the embedder's model. One serves many questions at once.

    `reranking`: None for no reranker; whoever made it closes it. `expander_of`: what says a repository's questions again before they are
    searched for, None for nothing.
    """

    def __init__(
        self,
        embedder: Embedder,
        settings: RetrievalSettings,
        reranking: Reranking | None = None,
        expander_of: Callable[[Repository], Expander | None] = lambda repository: None,
    ) -> None:
        self._settings = settings
        self._reranking = reranking
        self._expander_of = expander_of
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
        stage: Stage | None = None,
        group: Group = "",
    ) -> Retrieval:
        """The best chunks for a question. Finding nothing is an empty `results`; whatever fails is an error.

        `limit`: most results, `top_k` if None. `min_score`: least cosine similarity, -1 to 1, of every result; what only BM25 found is
        compared by its own vector. `stage`: whose order counts; None for "reranked" where a reranker is configured that may read this
        repository, else "ranked". `group`: "code" or "prose" for one of the two alone; only the last two stages tell them apart. While
        the dense part is being built, or where another model wrote it, "fused" and what follows go by words alone and say so in
        `notices`; "dense" and `min_score` are errors then. `explain`: a line a candidate. Filters that the question itself holds
        ("lang:go") hold where `filters` is silent.
        `seconds`: "expand" where a language model was asked, "sparse" beside "embed" and "dense" (of a server, both in one), then "rank",
        "rerank" and "results", and "retrieve" for the whole as it was waited for.

        Raises: RetrievalError, IndexCorrupt, ModelError.
        """
        started = time.perf_counter()
        wanted = self._settings.top_k if limit is None else limit
        stage = stage or self._best_stage(repository)
        refuse_what_cannot_be_searched(question, generation, wanted, min_score, stage)
        if stage == "reranked":
            refuse_to_rerank(self._reranking, repository)
        query = understand(question)
        search = Search(query, generation, joined(filters, query.filters), max(self._settings.candidates, wanted), {})
        async with _told(repository.name, self._settings.timeout):
            search = await self._expanded(search, repository)
            search, allowed = await asyncio.to_thread(search.narrowed, filters)
            words, vector, dense = await self._search(search, allowed, stage, by_meaning=stage != "sparse" or min_score is not None)

            def rank() -> tuple[Candidates, Lists]:
                with search.clocked("rank"):
                    alone = self._query_vectors.of(search.query.embedded) if search.query.said and vector is not None else None
                    candidates = Candidates(words, dense, vector, generation.vectors, self._fusing(query.symbol, generation), alone)
                    if stage not in GROUPED:
                        return candidates, Lists([Ranked(row, score) for row, score in candidates.ranked(stage)])
                    most = _ALL if explain or min_score is not None else self._most_ranked(wanted)
                    return candidates, ranked_lists(search.query, candidates, generation, allowed, group or search.query.group, most)

            candidates, lists = await asyncio.to_thread(rank)
            order = Reordered.unchanged(lists)
            if stage == "reranked" and self._reranking:
                order = await self._reranking.reordered(lists, search, generation, started + self._settings.timeout)
            asked = Wanted(query, stage, wanted, min_score, explain, self._settings.fold, self._settings.mmr)
            with search.clocked("results"):
                found = await asyncio.to_thread(shown, order, candidates, generation, repository, asked)
        by_words_for_now = stage not in ("sparse", "dense") and generation.dense is None and not generation.mismatch
        search.seconds["retrieve"] = time.perf_counter() - started
        brought = (("sparse", words.found if words else None), ("dense", dense))
        return Retrieval(
            results=found.results,
            index=generation.info,
            seconds=search.seconds,
            candidates={name: len(rows) for name, rows in brought if rows is not None},
            notices=(*generation.info.notices, *search.notices, *((SPARSE_ONLY,) if by_words_for_now else ())),
            explanation=found.explanation,
            leads=lists.leads,
            confidence=lists.confidence,
            narrowly=lists.narrowly,
        )

    async def _expanded(self, search: Search, repository: Repository) -> Search:
        """With what the repository's language model says beside the question. A bare symbol says what it means."""
        expander = self._expander_of(repository)
        if expander is None or search.query.symbol:
            return search
        with search.clocked("expand"):
            expansion, told = await expander.expand(search.query.text)
        search.notices.extend([told] if told else [])
        return replace(search, query=expanded(search.query, expansion))

    async def _search(
        self, search: Search, allowed: Allowed, stage: Stage, *, by_meaning: bool
    ) -> tuple[Words | None, Vector | None, Found | None]:
        """Both retrievers side by side; in one request where a server holds both."""
        if search.in_one_request and stage not in ("sparse", "dense"):
            words, (vector, dense) = await asyncio.to_thread(search.both, self._query_vectors, allowed)
            return words, vector, dense
        by_words = asyncio.to_thread(search.sparse, allowed) if stage != "dense" else _value(None)
        if not by_meaning or search.generation.dense is None:
            return await by_words, None, None
        words_alone, (vector, dense_alone) = await asyncio.gather(
            by_words, asyncio.to_thread(search.dense, self._query_vectors, search=stage != "sparse")
        )
        return words_alone, vector, dense_alone

    def _best_stage(self, repository: Repository) -> Stage:
        return "reranked" if self._reranking is not None and self._reranking.reads(repository) else "ranked"

    def _most_ranked(self, wanted: int) -> int:
        """Rows of each group: what is folded makes room for others, and a reranker may lift what would not be shown."""
        return max(AHEAD * wanted, self._reranking.settings.candidates if self._reranking else 0)

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
