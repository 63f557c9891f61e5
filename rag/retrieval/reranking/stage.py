"""The stage "reranked": asks the configured reranker about the best ranked rows. Whatever becomes of that, there are results.

Where it fails or takes too long the order before it stands, and whoever asked is told.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from rag.errors import FootnoteError, RerankerFailed, RetrievalError
from rag.index.generation import Generation
from rag.protocols import Reranker
from rag.retrieval.lists import Lists
from rag.retrieval.reranking.order import Reordered, heads, reordered
from rag.retrieval.search import Search
from rag.types import Chunk, Relevance, Repository

log = logging.getLogger(__name__)

FAILED = "The reranker could not be asked: results stand in the order that they had before it."
SLOW = "The reranker took too long: results stand in the order that they had before it."
_SHARE = 0.8  # of the time that is left to the search; the rest makes the results


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """`candidates`: how many rows of both groups are scored. `weight`: of the reranker's order against the ranking's, 0 to 1. `timeout`:
    seconds for scoring; loading a model is not counted, but nothing takes longer than the search as a whole may.
    """

    candidates: int = 20
    weight: float = 0.5
    timeout: float = 10.0


def code_may_leave(repository: Repository) -> bool:
    """Whether others than this machine may read the repository's code."""
    return repository.generator != "extractive"


class Reranking:
    """A reranker and how it is used. `may_leave`: of which repositories a reranker elsewhere is sent chunks."""

    def __init__(self, reranker: Reranker, settings: RerankSettings, *, may_leave: Callable[[Repository], bool] = code_may_leave) -> None:
        self.reranker = reranker
        self.settings = settings
        self._may_leave = may_leave

    def reads(self, repository: Repository) -> bool:
        """Whether this reranker may be shown the repository's code."""
        return self.reranker.local or self._may_leave(repository)

    async def reordered(self, lists: Lists, search: Search, generation: Generation, deadline: float) -> Reordered:
        """The lists in their new order. `deadline`: when the whole search must have ended, by time.perf_counter. `search.notices` is told
        of a failure and of replies that could not be read.

        Raises: IndexCorrupt.
        """
        rows = heads(lists, self.settings.candidates)
        if not rows:
            return Reordered.unchanged(lists)
        with search.clocked("rerank"):
            chunks = await asyncio.to_thread(generation.chunks.get, rows)
            try:
                async with asyncio.timeout(max(0.0, _SHARE * (deadline - time.perf_counter()))):
                    found = await self._score(search.query.text, chunks)
            except TimeoutError:
                log.warning("the reranker %s took too long", self.reranker.name)
                search.notices.append(SLOW)
                return Reordered.unchanged(lists)
            except Exception as error:  # whatever torch or a foreign model raise, too
                told = error.problem if isinstance(error, FootnoteError) else type(error).__name__
                log.warning("the reranker %s failed: %s", self.reranker.name, told)
                search.notices.append(FAILED)
                return Reordered.unchanged(lists)
        unreadable = sum(not one.readable for one in found)
        if unreadable:
            search.notices.append(f"{unreadable} of {len(found)} verdicts of the reranker could not be read and count as 0.")
        return reordered(lists, dict(zip(rows, found, strict=True)), self.settings.weight)

    async def _score(self, question: str, chunks: list[Chunk]) -> list[Relevance]:
        await self.reranker.prepare()
        async with asyncio.timeout(self.settings.timeout):
            found = await self.reranker.score(question, chunks)
        if len(found) != len(chunks) or not all(math.isfinite(one.score) for one in found):
            raise RerankerFailed(f"{self.reranker.name} gave no score for each chunk.", "Use another reranker.")
        if not any(one.readable for one in found):
            raise RerankerFailed(f"None of {len(found)} replies of {self.reranker.name} could be read.", "Use another model.")
        return found


def refuse_to_rerank(reranking: Reranking | None, repository: Repository) -> None:
    """Where a search is asked for by the stage "reranked" that cannot be. Raises: RetrievalError."""
    if reranking is None:
        raise RetrievalError("No reranker is configured.", "Set by in [rerank]; docs/configuration.md lists what there is.")
    if not reranking.reads(repository):
        raise RetrievalError(
            f"The code of {repository.name} stays on this machine, and {reranking.reranker.name} is elsewhere.",
            "Use a cross-encoder or a rerank server on this machine, or let its code leave (generator, docs/security.md).",
        )
