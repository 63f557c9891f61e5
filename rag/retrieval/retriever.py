"""One question against one generation, top to bottom: what it asks, both retrievers side by side, fusion, ranking, reranking, results."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from rag.index.cosines import NONE, Rows
from rag.index.generation import Generation
from rag.index.spread import Beside
from rag.protocols import Embedder, KnowsWords
from rag.retrieval.candidates import GROUPED, Candidates, Fusing, Stage
from rag.retrieval.diversity import AHEAD
from rag.retrieval.evidence import rows_by_words
from rag.retrieval.expansion import Expander, expanded
from rag.retrieval.failures import failures_explained
from rag.retrieval.lists import Lists, ranked_lists
from rag.retrieval.query import understand
from rag.retrieval.query_filters import Group, joined
from rag.retrieval.query_vectors import QueryVectors
from rag.retrieval.ranking import Ranked
from rag.retrieval.reranking.order import Reordered
from rag.retrieval.reranking.stage import Reranking, refuse_to_rerank
from rag.retrieval.results import Shown, Wanted, shown
from rag.retrieval.search import Allowed, Meaning, Search, Words
from rag.retrieval.settings import RetrievalSettings, refuse_what_cannot_be_searched
from rag.retrieval.signals import CODE, fitting
from rag.retrieval.subject import Subject, subject_of
from rag.types import Filters, Repository, Retrieval

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
        query = understand(question)
        search = Search(query, generation, joined(filters, query.filters), max(self._settings.candidates, wanted), {}, knows=self._knows)
        async with failures_explained(repository.name, self._settings.timeout):
            search = await self._expanded(search, repository)
            narrow = asyncio.to_thread(search.narrowed, filters) if search.takes_long_to_narrow else _value(search.narrowed(filters))
            search, allowed = await narrow

            def rank() -> tuple[Candidates, Lists]:
                """Searched and ranked, on one thread: going from one to another takes as long as a search."""
                words, meaning, subject = self._searched(search, allowed, stage, by_meaning=stage != "sparse" or min_score is not None)
                with search.clocked("rank"):
                    alone = self._query_vectors.of(search.query.embedded) if search.query.said and meaning is not None else None
                    candidates = Candidates(words, meaning, generation.vectors, self._fusing(query.symbol, generation), alone)
                    if subject is None:
                        return candidates, Lists([Ranked(row, score) for row, score in candidates.ranked(stage)])
                    most = _ALL if explain or min_score is not None else self._most_ranked(wanted)
                    return candidates, ranked_lists(subject, candidates, generation, allowed, group or search.query.group, most)

            def show(order: Reordered, candidates: Candidates) -> Shown:
                asked = Wanted(query, stage, wanted, min_score, explain, self._settings.fold, self._settings.mmr)
                with search.clocked("results"):
                    return shown(order, candidates, generation, repository, asked)

            def rank_and_show() -> tuple[Candidates, Lists, Shown]:
                candidates, lists = rank()
                return candidates, lists, show(Reordered.unchanged(lists), candidates)

            if stage == "reranked" and self._reranking:
                candidates, lists = await asyncio.to_thread(rank)
                order = await self._reranking.reordered(lists, search, generation, started + self._settings.timeout)
                found = await asyncio.to_thread(show, order, candidates)
            else:
                candidates, lists, found = await asyncio.to_thread(rank_and_show)
        by_words_for_now = stage not in ("sparse", "dense") and generation.dense is None and not generation.mismatch
        search.seconds["retrieve"] = time.perf_counter() - started
        brought = (("sparse", candidates.sparse.found if candidates.sparse else None), ("dense", candidates.dense))
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

    def _searched(
        self, search: Search, allowed: Allowed, stage: Stage, *, by_meaning: bool
    ) -> tuple[Words | None, Meaning | None, Subject | None]:
        """Both retrievers side by side, in one request where a server holds both; and beside them what is known without them, where files
        are ranked."""

        def about() -> Subject | None:
            return subject_of(search.query, search.generation, search.knows) if stage in GROUPED else None

        def by_words() -> tuple[Words | None, Subject | None, Rows]:
            words, subject = search.sparse(allowed) if stage != "dense" else None, about()
            if words is None or subject is None:
                return words, subject, NONE
            return words, subject, rows_by_words(search.generation.chunks.files, words.of_files, allowed)

        if search.in_one_request and stage not in ("sparse", "dense"):
            others = Beside(about)
            found, meaning = search.both(self._query_vectors, allowed)
            return found, meaning, others.result()
        if not by_meaning or search.generation.dense is None:
            words, known, _ = by_words()
            return words, None, known
        beside = Beside(by_words)
        vector = search.embedded(self._query_vectors)
        meaning = Meaning(vector) if stage == "sparse" else search.dense(vector, allowed, lambda: beside.result()[2])
        words, known, _ = beside.result()
        return words, meaning, known

    def _best_stage(self, repository: Repository) -> Stage:
        return "reranked" if self._reranking is not None and self._reranking.reads(repository) else "ranked"

    def _most_ranked(self, wanted: int) -> int:
        """Rows of each group: what is folded makes room for others, and a reranker may lift what would not be shown."""
        return max(AHEAD * wanted, self._reranking.settings.candidates if self._reranking else 0)

    def _fusing(self, symbol: str, generation: Generation) -> Fusing:
        weights = fitting(CODE, generation.manifest.embedding.backend)
        return Fusing(self._settings.rrf_k if self._settings.fusion == "rrf" else 0, weights.sparse_of_symbol if symbol else weights.sparse)


async def _value(value: T) -> T:
    return value
