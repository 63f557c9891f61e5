"""Fixtures of this room's tests: the real index of a small repository, a log in a database, and the pipeline between them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag.answer_log import MIGRATIONS, AnswerLog
from rag.answering.answerer import Answerer
from rag.answering.generators.extractive import ExtractiveGenerator
from rag.answering.generators.groq import GroqLanguageModel, GroqSettings
from rag.answering.generators.prompted import PromptedGenerator
from rag.answering.pipeline import Pipeline
from rag.database import Database
from rag.index.generation import Indexes
from rag.protocols import Embedder
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.types import Repository
from tests.answering.fake_groq import FakeGroq
from tests.index.fixtures import SampleIndex


@dataclass(frozen=True)
class Parts:
    pipeline: Pipeline
    log: AnswerLog
    database: Database
    groq: FakeGroq
    indexes: Indexes
    repository: Repository


@pytest.fixture
async def parts(tmp_path: Path, sample_index: SampleIndex, embedder: Embedder) -> AsyncIterator[Parts]:
    """`groq` is asked for repositories whose generator is "groq"; `repository` is the sample, answered by excerpts."""
    indexes = sample_index.indexes
    async with Database(tmp_path / "footnote.sqlite", MIGRATIONS) as database, FakeGroq() as groq:
        model = GroqLanguageModel(GroqSettings(base_url=groq.url, timeout=5), "key")
        prompted, extractive = PromptedGenerator(model), ExtractiveGenerator()
        answerer = Answerer(lambda repository: prompted if repository.generator == "groq" else extractive)
        log = AnswerLog(database)
        pipeline = Pipeline(indexes, Retriever(embedder, RetrievalSettings()), answerer, log, database)
        try:
            yield Parts(pipeline, log, database, groq, indexes, sample_index.repository)
        finally:
            await model.aclose()
