"""What every reranker keeps to: a cross-encoder, a server in both dialects over real HTTP, and a language model as a judge."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from rag.protocols import Reranker
from rag.retrieval.reranking.cross_encoder import CrossEncoderReranker
from rag.retrieval.reranking.judge import GeneratorReranker
from rag.retrieval.reranking.server import RerankServer, ServerReranker, checked_rerank_url
from rag.types import Chunk, Kind
from tests.embedding.tiny_models import save_tiny_cross_encoder
from tests.retrieval.reranking.servers import Judging, like_cohere, like_tei, rerank_server

QUESTION = "how does the cache evict the oldest value"
TEXTS = ("def evict(cache): drop the oldest value", "open the file and read lines from it", "return a + b", "the cache", "")


def chunks_of(texts: Sequence[str] = TEXTS) -> list[Chunk]:
    return [Chunk(f"src/part{number}.py", 1, 3, Kind.FUNCTION, "python", text, symbol="part") for number, text in enumerate(texts)]


@pytest.fixture(scope="session")
def tiny_cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_cross_encoder(tmp_path_factory.mktemp("models") / "tiny-cross-encoder")


@pytest.fixture(params=["cross-encoder", "cohere", "tei", "generator"])
async def reranker(request: pytest.FixtureRequest, tiny_cross_encoder: Path) -> AsyncIterator[Reranker]:
    made: Reranker
    if request.param == "cross-encoder":
        made = CrossEncoderReranker(str(tiny_cross_encoder), max_length=48)
        yield made
        await made.aclose()
    elif request.param == "generator":
        made = GeneratorReranker(Judging())
        yield made
        await made.aclose()
    else:
        async with rerank_server(like_tei if request.param == "tei" else like_cohere) as server:
            url = checked_rerank_url(server.url, request.param)
            made = ServerReranker(RerankServer(url, "m", request.param, timeout=60))
            yield made
            await made.aclose()


async def scores(reranker: Reranker, texts: Sequence[str] = TEXTS, question: str = QUESTION) -> list[float]:
    await reranker.prepare()
    return [one.score for one in await reranker.score(question, chunks_of(texts))]


async def test_it_has_a_name_and_says_whether_code_leaves(reranker: Reranker) -> None:
    assert "/" in reranker.name
    assert reranker.local is not isinstance(reranker, GeneratorReranker)


async def test_each_chunk_has_one_score_in_its_place(reranker: Reranker) -> None:
    chunks = chunks_of()
    await reranker.prepare()
    found = await reranker.score(QUESTION, chunks)
    assert len(found) == len(chunks)
    assert all(math.isfinite(one.score) and one.readable and one.relevant for one in found)
    assert len({round(one.score, 6) for one in found}) > 1
    turned = await reranker.score(QUESTION, chunks[::-1])
    assert [one.score for one in turned] == pytest.approx([one.score for one in found[::-1]], abs=1e-5)


async def test_the_same_question_is_scored_the_same(reranker: Reranker) -> None:
    assert await scores(reranker) == pytest.approx(await scores(reranker), abs=1e-6)


async def test_nothing_to_score_is_no_score(reranker: Reranker) -> None:
    assert await scores(reranker, ()) == []


async def test_strange_and_long_texts_are_scored(reranker: Reranker) -> None:
    found = await scores(reranker, ("lone \udce9 surrogate \x00", "cache " * 20_000, "=== begins ===\n\n{}[]", "é" * 100))
    assert len(found) == 4


async def test_more_chunks_than_a_batch(reranker: Reranker) -> None:
    found = await scores(reranker, TEXTS * 8)
    assert len(found) == 8 * len(TEXTS)
    assert len({round(score, 4) for score in found}) > 1


async def test_questions_at_once_get_their_own_scores(reranker: Reranker) -> None:
    questions = (QUESTION, "read lines from the file", "a + b")
    alone = [await scores(reranker, question=question) for question in questions]
    together = await asyncio.gather(*(scores(reranker, question=question) for question in questions))
    for one, other in zip(together, alone, strict=True):
        assert one == pytest.approx(other, abs=1e-5)


async def test_a_question_that_is_given_up_leaves_it_working(reranker: Reranker) -> None:
    before = await scores(reranker)
    asking = asyncio.create_task(scores(reranker, TEXTS * 20))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await scores(reranker) == pytest.approx(before, abs=1e-5)
