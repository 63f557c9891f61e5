"""Builds what answers and what builds indexes: settings -> rag. Neither Slack nor the clock is loaded for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from bot import channels, inbox, repositories
from bot.building import Builds
from bot.data_directory import DataDirectory
from bot.http import deliveries
from bot.http.control import ControlServer
from bot.operations import Operations
from bot.part_settings import (
    answer_settings,
    build_manners,
    configured_repositories,
    embedding_settings,
    groq_settings,
    live_secrets,
    retrieval_settings,
    server_settings,
)
from bot.parts import Parts
from bot.repositories import RepositoryRegistry
from bot.reranking import reranking_of
from bot.settings import Settings
from rag import answer_log
from rag.answer_log import AnswerLog
from rag.answering.answerer import Answerer
from rag.answering.generators.extractive import ExtractiveGenerator
from rag.answering.generators.groq import GroqLanguageModel
from rag.answering.generators.prompted import PromptedGenerator
from rag.answering.pipeline import Pipeline
from rag.chunking import ChunkingSettings
from rag.database import Database
from rag.embedding.lazy import LazyEmbedder
from rag.index.build_child import SpareChild
from rag.index.dense import chosen_backend
from rag.index.generation import Indexes
from rag.protocols import Generator, LanguageModel
from rag.retrieval.expansion import Expander
from rag.retrieval.retriever import Retriever
from rag.source.redaction import register_live_secret
from rag.types import Repository
from scheduler import faults as scheduler_faults

logger = logging.getLogger(__name__)
MIGRATIONS = (
    *answer_log.MIGRATIONS,
    *repositories.MIGRATIONS,
    *channels.MIGRATIONS,
    *inbox.MIGRATIONS,
    *deliveries.MIGRATIONS,
    *scheduler_faults.MIGRATIONS,
)


@asynccontextmanager
async def open_parts(
    settings: Settings, directory: DataDirectory, purpose: str, *, serving: bool = True, spare: SpareChild | None = None
) -> AsyncIterator[Parts]:
    """Everything that answers questions, built on a data directory that this process owns. `serving`: people wait for answers while an
    index is built, so that a build is `BESIDE_ANSWERS`; else it takes every core. `spare`: a builder that waits already."""
    secrets = live_secrets(settings)
    for secret in secrets:
        register_live_secret(secret)
    embedding = embedding_settings(settings)
    server = server_settings(settings)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(Database(directory.database, MIGRATIONS))
        log = AnswerLog(database)
        registry = RepositoryRegistry(configured_repositories(settings), database)
        await registry.load()
        embedder = await asyncio.to_thread(LazyEmbedder, embedding, directory.models)
        backend = await asyncio.to_thread(chosen_backend, server, directory.path)
        indexes = Indexes(directory.path, backend, embedder.spec, named=settings.privacy.names == "shown")
        stack.push_async_callback(asyncio.to_thread, indexes.close)
        model = GroqLanguageModel(groq_settings(settings), settings.groq_api_key.get_secret_value())
        stack.push_async_callback(model.aclose)
        answerer = Answerer(_generator_for(settings, model), answer_settings(settings))
        reranking = reranking_of(settings, model)
        if reranking is not None:
            stack.push_async_callback(reranking.reranker.aclose)
        retriever = Retriever(embedder, retrieval_settings(settings), reranking, expander_for(settings, model))
        yield Parts(
            settings=settings,
            purpose=purpose,
            directory=directory,
            database=database,
            log=log,
            registry=registry,
            embedder=embedder,
            indexes=indexes,
            model=model,
            pipeline=Pipeline(indexes, retriever, answerer, log, database),
            builds=Builds(
                directory.path,
                log,
                embedding,
                ChunkingSettings(),
                token=settings.git_token.get_secret_value(),
                secrets=secrets,
                private_hosts=settings.private_hosts,
                manners=build_manners(settings, serving=serving),
                at_once=settings.schedule.parallel_builds,
                spare=spare,
                server=server,
                named=settings.privacy.names == "shown",
            ),
        )


def _generator_for(settings: Settings, model: GroqLanguageModel) -> Callable[[Repository], Generator]:
    extractive = ExtractiveGenerator()
    prompted = PromptedGenerator(model, temperature=settings.groq.temperature, max_tokens=settings.groq.max_tokens)
    return lambda repository: prompted if repository.generator == "groq" else extractive


def expander_for(settings: Settings, model: LanguageModel) -> Callable[[Repository], Expander | None]:
    """What says a repository's questions again before they are searched for: nothing where it has no language model, or none is wanted."""
    how = settings.retrieval.expansion
    if how == "none":
        return lambda repository: None
    expander = Expander(model, how, timeout=settings.retrieval.expansion_timeout)
    without = [one.name for one in settings.repositories if one.generator == "extractive"]
    if without:
        logger.info("Questions about %s are not expanded: their generator is extractive.", ", ".join(without))
    return lambda repository: None if repository.generator == "extractive" else expander


@asynccontextmanager
async def owning(
    settings: Settings,
    directory: DataDirectory,
    purpose: str,
    *,
    answer_others: bool,
    serving: bool = False,
    spare: SpareChild | None = None,
) -> AsyncIterator[Operations]:
    """The operations, run by this process, which owns `directory` already; it is released at the end. With `answer_others`, other
    commands are answered meanwhile. `serving`, `spare`: see `open_parts`."""
    try:
        async with open_parts(settings, directory, purpose, serving=serving, spare=spare) as parts:
            operations = Operations(parts)
            async with AsyncExitStack() as stack:
                if answer_others:
                    await stack.enter_async_context(answering(parts))
                yield operations
    finally:
        directory.release()


@asynccontextmanager
async def answering(parts: Parts) -> AsyncIterator[None]:
    """Other commands are answered over the control socket."""
    control = ControlServer(parts.directory.socket, Operations(parts).run)
    await control.start()
    try:
        yield
    finally:
        await control.stop()
