"""One question against one generation, top to bottom: what it asks, both retrievers side by side, fusion, ranking, reranking, results."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from rag.index.generation import Generation
from rag.protocols import Embedder, KnowsWords
from rag.retrieval.candidates import Candidates, Fusing, Stage
from rag.retrieval.diversity import AHEAD
from rag.retrieval.expansion import Expander, expanded
from rag.retrieval.failures import failures_explained
from rag.retrieval.found import Asked, find
from rag.retrieval.lists import Lists, ranked_lists
from rag.retrieval.misspelt import doubtful
from rag.retrieval.query import understood, wording_of
from rag.retrieval.query_filters import Group, joined
from rag.retrieval.query_vectors import QueryVectors
from rag.retrieval.ranking import Ranked
from rag.retrieval.reranking.order import Reordered
from rag.retrieval.reranking.stage import Reranking, refuse_to_rerank
from rag.retrieval.results import Shown, Wanted, shown
from rag.retrieval.search import Search, clocked
from rag.retrieval.settings import RetrievalSettings, refuse_what_cannot_be_searched
from rag.retrieval.signals import CODE, fitting
from rag.types import Filters, Repository, Retrieval

_ALL = 1_000_000  # results: as many as there are candidates
SPARSE_ONLY = "The index is still being built: this was found by words alone; in a while it is searched by meaning as well."


@dataclass(frozen=True, slots=True)
class _RankedOnce:
    """What was searched for, what that brought, and its order before a reranker sees it."""

    search: Search
    candidates: Candidates
    lists: Lists


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
        self._knows = embedder.knows if isinstance(embedder, KnowsWords) else None

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
        seconds: dict[str, float] = {}
        limit = max(self._settings.candidates, wanted)
        async with failures_explained(repository.name, self._settings.timeout):
            asked = await self._asked(question, generation, repository, filters, limit, seconds)

            def rank() -> _RankedOnce:
                """Searched and ranked, on one thread: going from one to another takes as long as a search."""
                found = find(asked, generation, self._query_vectors, stage, by_meaning=stage != "sparse" or min_score is not None)
                query, meaning = found.search.query, found.meaning
                with clocked(seconds, "rank"):
                    alone = self._query_vectors.of(query.embedded) if query.said and meaning is not None else None
                    candidates = Candidates(found.words, meaning, generation.vectors, self._fusing(query.symbol, generation), alone)
                    if found.subject is None:
                        lists = Lists([Ranked(row, score) for row, score in candidates.ranked(stage)])
                    else:
                        most = _ALL if explain or min_score is not None else self._most_ranked(wanted)
                        lists = ranked_lists(found.subject, candidates, generation, found.allowed, group or query.group, most)
                return _RankedOnce(found.search, candidates, lists)

            def show(ranked: _RankedOnce, order: Reordered) -> Shown:
                wish = Wanted(ranked.search.query, stage, wanted, min_score, explain, self._settings.fold, self._settings.mmr)
                with clocked(seconds, "results"):
                    return shown(order, ranked.candidates, generation, repository, wish)

            def rank_and_show() -> tuple[_RankedOnce, Shown]:
                ranked = rank()
                return ranked, show(ranked, Reordered.unchanged(ranked.lists))

            if stage == "reranked" and self._reranking:
                ranked = await asyncio.to_thread(rank)
                order = await self._reranking.reordered(ranked.lists, ranked.search, generation, started + self._settings.timeout)
                found = await asyncio.to_thread(show, ranked, order)
            else:
                ranked, found = await asyncio.to_thread(rank_and_show)
        candidates, lists = ranked.candidates, ranked.lists
        by_words_for_now = stage not in ("sparse", "dense") and generation.dense is None and not generation.mismatch
        seconds["retrieve"] = time.perf_counter() - started
        brought = (("sparse", candidates.sparse.found if candidates.sparse else None), ("dense", candidates.dense))
        return Retrieval(
            results=found.results,
            index=generation.info,
            seconds=seconds,
            candidates={name: len(rows) for name, rows in brought if rows is not None},
            notices=(*generation.info.notices, *ranked.search.notices, *((SPARSE_ONLY,) if by_words_for_now else ())),
            explanation=found.explanation,
            leads=lists.leads,
            confidence=lists.confidence,
            narrowly=lists.narrowly,
            read_as=ranked.search.read_as,
        )

    async def _asked(
        self, question: str, generation: Generation, repository: Repository, filters: Filters, limit: int, seconds: dict[str, float]
    ) -> Asked:
        """With what the repository's language model says beside the question. A bare symbol says what it means. Where nobody is asked and
        the index cannot change what the question says, it is read while it is embedded."""
        wording = wording_of(question)
        narrowing = joined(filters, wording.filters)

        def read() -> Search:
            return Search(understood(wording), generation, narrowing, limit, seconds, knows=self._knows)

        expander = self._expander_of(repository)
        if expander is None:
            settled = not wording.message.questions and not (self._knows and doubtful(wording, self._knows))
            return Asked((wording.embedded,) if settled else None, read, filters, narrowing, limit, seconds)
        search = read()
        if not search.query.symbol:
            with clocked(seconds, "expand"):
                expansion, told = await expander.expand(search.query.text)
            search.notices.extend([told] if told else [])
            search = replace(search, query=expanded(search.query, expansion))
        return Asked(None, lambda: search, filters, narrowing, limit, seconds)

    def _best_stage(self, repository: Repository) -> Stage:
        return "reranked" if self._reranking is not None and self._reranking.reads(repository) else "ranked"

    def _most_ranked(self, wanted: int) -> int:
        """Rows of each group: what is folded makes room for others, and a reranker may lift what would not be shown."""
        return max(AHEAD * wanted, self._reranking.settings.candidates if self._reranking else 0)

    def _fusing(self, symbol: str, generation: Generation) -> Fusing:
        weights = fitting(CODE, generation.manifest.embedding.backend)
        return Fusing(self._settings.rrf_k if self._settings.fusion == "rrf" else 0, weights.sparse_of_symbol if symbol else weights.sparse)
