"""What fits into a prompt.

A hosted model has its own tokenizer; loading it to count would cost more than it tells. The estimate below is on the safe side for code
(about 3.3 bytes a token in Llama 3's vocabulary), so that the limit is met by construction and not by trial.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag.answering.citations import without_citations
from rag.retrieval.groups import in_one_list
from rag.types import Chunk, ContextChunk, SearchResult, Turn

_BYTES_PER_TOKEN = 3
_HEADER_TOKENS = 60  # delimiters and the names of the fields
_LONGEST_TURN_CHARS = 1500


def estimate_tokens(text: str) -> int:
    """Tokens, rather too many than too few: UTF-8 bytes ÷ 3, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


def pack(results: Sequence[SearchResult], budget_tokens: int, *, most: int = 0, narrowly: bool = False) -> tuple[ContextChunk, ...]:
    """Results numbered from 1, as many as fit, in their order but for the better of the second group (see `in_one_list`, also for
    `narrowly`); `most` = 0 sets no other limit.

    One that lies wholly inside another that is packed adds nothing and is left out; one that does not fit is passed over, since a
    smaller one after it may.
    """
    packed: list[ContextChunk] = []
    left = budget_tokens
    for result in in_one_list(results, narrowly=narrowly):
        if most and len(packed) == most:
            break
        cost = _cost(result.chunk)
        if cost > left or any(_contains(entry.result.chunk, result.chunk) for entry in packed):
            continue
        packed.append(ContextChunk(len(packed) + 1, result))
        left -= cost
    return tuple(packed)


def pack_history(turns: Sequence[Turn], budget_tokens: int) -> tuple[Turn, ...]:
    """The latest turns that fit, oldest first. Long ones are cut; footnote numbers go, since they belong to another context."""
    packed: list[Turn] = []
    left = budget_tokens
    for turn in reversed(turns):
        kept = Turn(_cut(turn.question), _cut(without_citations(turn.answer)))
        cost = estimate_tokens(kept.question) + estimate_tokens(kept.answer) + 16
        if cost > left:
            break
        packed.append(kept)
        left -= cost
    return tuple(reversed(packed))


def _cost(chunk: Chunk) -> int:
    return _HEADER_TOKENS + sum(estimate_tokens(part) for part in (chunk.path, chunk.symbol, chunk.text))


def _contains(outer: Chunk, inner: Chunk) -> bool:
    return outer.path == inner.path and outer.start_line <= inner.start_line and inner.end_line <= outer.end_line


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TURN_CHARS else text[:_LONGEST_TURN_CHARS].rstrip() + " …"
