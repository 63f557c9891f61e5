"""The assembled rooms, as commands and the bot use them. `bot.wiring.parts` makes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.building import Builds
from bot.data_directory import DataDirectory
from bot.repositories import RepositoryRegistry
from bot.settings import Settings
from rag.answer_log import AnswerLog
from rag.answering.generators.groq import GroqLanguageModel
from rag.answering.pipeline import Pipeline
from rag.database import Database
from rag.embedding.lazy import LazyEmbedder
from rag.index.generation import Indexes
from rag.types import Repository


@dataclass(slots=True)
class Parts:
    """What owns the data directory. `purpose`: which command that is. `next_runs`: job -> when, empty where nothing is scheduled."""

    settings: Settings
    purpose: str
    directory: DataDirectory
    database: Database
    log: AnswerLog
    registry: RepositoryRegistry
    embedder: LazyEmbedder
    indexes: Indexes
    model: GroqLanguageModel
    pipeline: Pipeline
    builds: Builds
    next_runs: Callable[[], Mapping[str, datetime | None]] = dict

    async def fits(self, repository: Repository) -> bool:
        """Whether its index is whole and of the model, the settings and the code that are configured now."""

        def look() -> bool:
            return self.indexes.for_name(repository.name).fits(self.builds.recipe(repository, self.embedder.spec))

        return await asyncio.to_thread(look)
