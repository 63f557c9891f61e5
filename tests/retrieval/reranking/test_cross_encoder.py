"""Which models are no cross-encoders, and what a question that is given up costs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from rag.errors import RerankerFailed, UnknownModel
from rag.retrieval.reranking.cross_encoder import CrossEncoderReranker
from rag.types import Chunk, Kind
from tests.embedding.tiny_models import save_tiny_cross_encoder, save_tiny_model

CHUNKS = [Chunk("src/a.py", 1, 2, Kind.FUNCTION, "python", text) for text in ("open the file", "return a + b")]


async def score(model: str) -> list[float]:
    reranker = CrossEncoderReranker(model, max_length=48)
    try:
        await reranker.prepare()
        return [one.score for one in await reranker.score("read lines from it", CHUNKS)]
    finally:
        await reranker.aclose()


async def test_a_model_that_is_not_there_names_the_remedy() -> None:
    reranker = CrossEncoderReranker("nobody/nothing-of-that-name")
    for _ in range(2):  # the second time it is not looked for again
        with pytest.raises(UnknownModel, match="it is not on this machine") as raised:
            await reranker.prepare()
        assert "directory" in raised.value.remedy
    await reranker.aclose()


async def test_a_damaged_model_says_so(tmp_path: Path) -> None:
    directory = save_tiny_cross_encoder(tmp_path / "damaged")
    (directory / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(UnknownModel, match="loading it raised"):
        await score(str(directory))


async def test_an_embedding_model_is_not_given_a_head_of_random_weights(tmp_path: Path) -> None:
    save_tiny_model(tmp_path / "embedding")
    for name in ("embedding", "embedding-raw"):
        with pytest.raises(UnknownModel, match="no cross-encoder"):
            await score(str(tmp_path / name))


async def test_a_model_of_two_outputs_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(RerankerFailed, match="numbers a pair"):
        await score(str(save_tiny_cross_encoder(tmp_path / "two", outputs=2)))


async def test_text_over_the_window_is_cut(tmp_path: Path) -> None:
    directory = save_tiny_cross_encoder(tmp_path / "tiny")
    reranker = CrossEncoderReranker(str(directory), max_length=48)
    await reranker.prepare()
    long = [Chunk("a.py", 1, 2, Kind.FUNCTION, "python", "read the file " * times) for times in (500, 1_000)]
    one, other = await reranker.score("open", long)
    assert one.score == pytest.approx(other.score, abs=1e-6)  # what differs lies beyond
    await reranker.aclose()


async def test_the_loop_goes_on_while_it_works(tmp_path: Path) -> None:
    reranker = CrossEncoderReranker(str(save_tiny_cross_encoder(tmp_path / "tiny")), max_length=48)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await reranker.prepare()
    await reranker.score("open", CHUNKS * 100)
    ticking.cancel()
    assert ticks >= 5
    await reranker.aclose()


def test_torch_is_imported_by_nothing_but_a_cross_encoder_in_use() -> None:
    code = (
        "import sys, bot.wiring.parts, bot.wiring.service, bot.reranking, rag.retrieval.reranking.cross_encoder as one;"
        "one.CrossEncoderReranker('a'); print('torch' in sys.modules, 'sentence_transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["False", "False"]
