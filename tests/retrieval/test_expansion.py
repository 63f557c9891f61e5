"""Expansion by a scripted model: what is made of its replies, that no fault of it stops a search, that it sees the question alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import GeneratorUnavailable
from rag.index.generation import Generation
from rag.index.stems import stem
from rag.protocols import Embedder
from rag.retrieval.expansion import NOTHING, SYSTEMS, Expander, Expansion, How, expanded, read
from rag.retrieval.query import understand
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.types import Repository, Retrieval
from tests.index.fixtures import SampleIndex

QUESTION = "What happens when all boxes are taken?"
SNIPPET = "```python\nclass NoFreeLocker(Exception):\n    pass\n```"
TERMS = json.dumps({"terms": ["NoFreeLocker", "assign_locker", "free locker"]})


class Scripted:
    """A language model that says what it was told to, one reply a question, the last one again and again."""

    name = "scripted/model"

    def __init__(self, *replies: str | Exception, pause: float = 0.0) -> None:
        self._replies = list(replies)
        self._pause = pause
        self.asked: list[list[tuple[str, str]]] = []

    async def stream(self, messages: Sequence[tuple[str, str]], *, temperature: float, max_tokens: int) -> AsyncIterator[str]:
        self.asked.append(list(messages))
        assert max_tokens <= 300
        reply = self._replies[min(len(self.asked), len(self._replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        for start in range(0, len(reply), 7):
            await asyncio.sleep(self._pause)
            yield reply[start : start + 7]


def _with(embedder: Embedder, model: Scripted, how: How, **settings: float) -> Retriever:
    expander = Expander(model, how, **settings)  # type: ignore[arg-type]
    return Retriever(embedder, RetrievalSettings(), expander_of=lambda repository: expander if repository.generator == "groq" else None)


def _asked_of_a_model(sample_index: SampleIndex) -> Repository:
    return Repository(sample_index.repository.name, sample_index.repository.source, generator="groq")


def _places(found: Retrieval) -> list[tuple[str, int, float]]:
    return [(result.chunk.path, result.chunk.start_line, round(result.score, 9)) for result in found.results]


@pytest.mark.parametrize(("how", "reply"), [("hyde", SNIPPET), ("rewrite", TERMS)])
async def test_what_was_said_finds_what_the_question_does_not_name(
    embedder: Embedder, generation: Generation, sample_index: SampleIndex, how: How, reply: str
) -> None:
    model = Scripted(reply)
    retriever = _with(embedder, model, how)
    repository = _asked_of_a_model(sample_index)
    plain = await retriever.retrieve(QUESTION, generation, sample_index.repository)
    assert model.asked == []  # its generator is extractive: it has no model
    found = await retriever.retrieve(QUESTION, generation, repository)
    assert found.notices == ()
    assert found.seconds["expand"] >= 0
    assert "expand" not in plain.seconds
    assert found.results[0].chunk.path == "larder/lockers.py"
    assert _places(found) != _places(plain)
    # The model sees the question and the instruction, nothing of the repository.
    assert model.asked == [[("system", SYSTEMS[how]), ("user", QUESTION)]]
    again = await retriever.retrieve(QUESTION, generation, repository)
    assert _places(again) == _places(found)
    assert len(model.asked) == 1
    # How sure it is that this repository is meant is told from the question alone.
    assert plain.confidence is not None
    assert found.confidence == pytest.approx(plain.confidence, abs=0.02)


async def test_a_bare_symbol_is_not_expanded(embedder: Embedder, generation: Generation, sample_index: SampleIndex) -> None:
    model = Scripted(SNIPPET)
    found = await _with(embedder, model, "hyde").retrieve("NoFreeLocker", generation, _asked_of_a_model(sample_index))
    assert (model.asked, found.notices, "expand" in found.seconds) == ([], (), False)


@pytest.mark.parametrize(
    ("how", "reply", "told"),
    [
        ("hyde", GeneratorUnavailable("It is away.", "Wait."), "failed (GeneratorUnavailable)"),
        ("hyde", RuntimeError("a fault"), "failed (RuntimeError)"),
        ("hyde", "``` \n```\n ... ", "gave nothing that could be used"),
        ("hyde", "", "gave nothing that could be used"),
        ("rewrite", "I cannot help with that.", "gave nothing that could be used"),
        ("rewrite", '{"terms": []}', "gave nothing that could be used"),
        ("rewrite", '{"terms": ["door"], "more": 1}', "gave nothing that could be used"),
        ("rewrite", '{"terms": "door"}', "gave nothing that could be used"),
        ("rewrite", '{"terms": [1, 2]}', "gave nothing that could be used"),
        ("rewrite", "[" * 1400, "gave nothing that could be used"),
    ],
)
async def test_a_model_at_fault_is_left_out_and_said(
    embedder: Embedder, generation: Generation, sample_index: SampleIndex, how: How, reply: str | Exception, told: str
) -> None:
    model = Scripted(reply)
    retriever = _with(embedder, model, how)
    plain = await retriever.retrieve(QUESTION, generation, sample_index.repository)
    found = await retriever.retrieve(QUESTION, generation, _asked_of_a_model(sample_index))
    assert _places(found) == _places(plain)
    [notice] = found.notices
    assert notice == f"The question was searched for as it stands: expanding it by scripted/model {told}."
    await retriever.retrieve(QUESTION, generation, _asked_of_a_model(sample_index))
    assert len(model.asked) == 2  # a fault is not remembered


async def test_a_slow_model_is_not_waited_for(embedder: Embedder, generation: Generation, sample_index: SampleIndex) -> None:
    retriever = _with(embedder, Scripted(SNIPPET * 100, pause=1.0), "hyde", timeout=0.05)
    found = await retriever.retrieve(QUESTION, generation, _asked_of_a_model(sample_index))
    assert found.results
    [notice] = found.notices
    assert "took more than 0.05 seconds" in notice


async def test_a_reply_that_does_not_end_is_cut_and_the_oldest_question_forgotten() -> None:
    model = Scripted("locker " * 100_000)
    expander = Expander(model, "hyde", remembered=1)
    expansion, told = await expander.expand("one")
    assert told == ""
    assert 0 < len(expansion.text) <= 1_500
    for question in ("one", "two", "one"):
        await expander.expand(question)
    assert [messages[1][1] for messages in model.asked] == ["one", "two", "one"]


async def test_a_secret_in_the_question_does_not_leave_and_a_long_one_is_cut() -> None:
    model = Scripted(SNIPPET)
    secret = "ghp_" + "a1B2" * 9
    await Expander(model, "hyde").expand(f"why is {secret} refused " + "x" * 10_000)
    [(_, _), (_, asked)] = model.asked[0]
    assert secret not in asked
    assert len(asked) <= 2_100


def test_extra_words_weigh_a_third_and_own_words_gain_nothing() -> None:
    query = expanded(understand("free boxes"), Expansion("free locker", "free locker"))
    assert query.extra == ("locker",)
    assert query.terms == ("free", "boxes")
    terms, stems = query.sought
    assert (terms.count("free"), terms.count("boxes"), terms.count("locker")) == (3, 3, 1)
    assert stems == tuple(map(stem, terms))
    assert query.texts == ("free boxes", "free locker")
    plain = understand("free boxes")
    assert expanded(plain, NOTHING) == plain
    assert plain.sought == (plain.terms, plain.stems)


@given(
    st.text(max_size=300) | st.recursive(st.none() | st.text(max_size=20) | st.integers(), st.lists).map(lambda v: json.dumps({"terms": v}))
)
def test_whatever_is_said_is_only_words(said: str) -> None:
    for how in ("hyde", "rewrite"):
        expansion = read(said, how)
        assert all(character.isprintable() or character == "\n" for character in expansion.text)
        assert len(expansion.text) <= 1_500
        assert all(character.isalnum() or character in "_ " for character in expansion.words)
