"""20,000 nested brackets in every language: cut in bounded processor time, by the tree or by lines, and the file after it as usual."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from rag.chunking import ChunkingSettings, IsolatedChunker, TokenizerCounter
from rag.types import Document
from tests.chunking.checks import check_contract
from tests.chunking.test_contract import LANGUAGES, overlaps

DEPTH = 20_000
TEXT = "x = " + "([{" * (DEPTH // 3) + "1" + "}])" * (DEPTH // 3) + "\n" + "(" * DEPTH + "\n"
AFTER = Document("after.py", "def after(x):\n    return x\n", "python", "")
ALLOWED = 1.0  # seconds of processor time


@pytest.fixture(scope="module")
def bounded(tokenizer_file: Path) -> Iterator[IsolatedChunker]:
    with IsolatedChunker(tokenizer_file, ChunkingSettings(), timeout=ALLOWED) as chunker:
        yield chunker


def processor_seconds() -> float:
    """Of this process, of its workers, and of those that ended."""
    process = psutil.Process()
    living = sum(sum(child.cpu_times()[:2]) for child in process.children())
    return float(living + sum(process.cpu_times()[:4]))


@pytest.mark.parametrize("language", LANGUAGES)
def test_brackets_cost_bounded_time_and_nothing_after_them(language: str, bounded: IsolatedChunker, count_tokens: TokenizerCounter) -> None:
    document = Document(f"nested.{language}", TEXT, language, "")
    before, begun = bounded.fallbacks, processor_seconds()
    chunks = bounded.chunk(document)
    assert processor_seconds() - begun < ALLOWED + 8  # a worker that is started anew among it
    check_contract(document, chunks, count_tokens, ChunkingSettings(), overlaps=overlaps(language) or bounded.fallbacks != before)
    assert chunks
    [after] = bounded.chunk(AFTER)
    assert after.symbol == "after"
    assert sum(bounded.fallbacks.values()) - sum(before.values()) == (document.path in bounded.fallen)
