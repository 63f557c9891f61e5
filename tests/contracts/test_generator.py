"""What every Generator keeps to: the extractive one, and the one that prompts a language model over a real wire."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest

from rag.answering.draft import Draft
from rag.answering.generators.extractive import ExtractiveGenerator
from rag.answering.generators.groq import GroqLanguageModel, GroqSettings
from rag.answering.generators.prompted import PromptedGenerator
from rag.answering.generators.stream import close, report_of
from rag.protocols import Generator
from rag.types import GenerationRequest
from tests.answering.fake_groq import FakeGroq, Reply
from tests.answering.material import COMMIT, context


@pytest.fixture(params=["extractive", "prompted"])
async def generator(request: pytest.FixtureRequest) -> AsyncIterator[Generator]:
    if request.param == "extractive":
        yield ExtractiveGenerator()
        return
    async with FakeGroq([Reply("`route` adds a rule [1]. It is called in [2].")]) as server:
        model = GroqLanguageModel(GroqSettings(base_url=server.url), "key")
        yield PromptedGenerator(model)
        await model.aclose()


REQUEST = GenerationRequest("How does route add a rule?", "flask", context(3))


async def test_it_has_a_name_and_says_whether_code_leaves(generator: Generator) -> None:
    assert generator.name
    assert generator.local is (generator.name == "extractive")


async def test_it_cites_numbers_of_the_context_and_nothing_else(generator: Generator) -> None:
    text = "".join([piece async for piece in generator.write(REQUEST)])
    assert {int(number) for number in re.findall(r"\[(\d+)\]", text)} <= {1, 2, 3}
    draft = Draft(REQUEST.context, COMMIT, REQUEST.question)
    draft.feed(text)
    draft.close()
    assert draft.citations
    assert (draft.dropped, draft.ungrounded) == (0, ())


async def test_it_reports_how_it_ended(generator: Generator) -> None:
    stream = generator.write(REQUEST)
    async for _ in stream:
        pass
    assert report_of(stream).finish_reason == "stop"


async def test_it_can_be_left_and_asked_again(generator: Generator) -> None:
    stream = generator.write(REQUEST)
    first = await anext(stream)
    await close(stream)
    again = [piece async for piece in generator.write(REQUEST)]
    assert again[0] == first
