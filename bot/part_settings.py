"""What the settings say to each part of `rag` and to its builds: one Settings object -> plain dataclasses. Nothing is built here."""

from __future__ import annotations

import os
from dataclasses import replace

from bot.building import BESIDE_ANSWERS, Manners
from bot.settings import RepositorySettings, Settings
from rag.answering.answerer import AnswerSettings
from rag.answering.generators.groq import GroqSettings
from rag.embedding.models import EmbeddingSettings
from rag.index.server_settings import ServerSettings, checked_url
from rag.retrieval.settings import RetrievalSettings
from rag.types import Repository

_MOST_WORKERS = 8  # more than that parse faster than one process reads
_ALONE_NICE = 10  # of a build that nobody's answers wait beside


def embedding_settings(settings: Settings) -> EmbeddingSettings:
    own = settings.embedding
    return EmbeddingSettings(
        model=own.model,
        query_prompt=own.query_prompt,
        document_prompt=own.document_prompt,
        backend=own.backend,
        threads=own.threads,
        read_tokens=own.read_tokens,
    )


def retrieval_settings(settings: Settings) -> RetrievalSettings:
    own = settings.retrieval
    return RetrievalSettings(
        top_k=own.top_k, candidates=own.candidates, fusion=own.fusion, rrf_k=own.rrf_k, timeout=own.timeout, fold=own.fold, mmr=own.mmr
    )


def groq_settings(settings: Settings) -> GroqSettings:
    own = settings.groq
    return GroqSettings(
        model=own.model,
        temperature=own.temperature,
        max_tokens=own.max_tokens,
        base_url=settings.groq_base_url,
        timeout=own.timeout,
        tokens_per_minute=own.tokens_per_minute,
    )


def server_settings(settings: Settings) -> ServerSettings | None:
    """The Qdrant server that QDRANT_URL names, None where it names none. Raises: ConfigurationError."""
    url, own = settings.qdrant_url.get_secret_value(), settings.qdrant
    if not url:
        return None
    return ServerSettings(
        url=checked_url(url),
        api_key=settings.qdrant_api_key.get_secret_value(),
        timeout=own.timeout,
        build_timeout=own.build_timeout,
        links=own.m,
        build_width=own.ef_construct,
        search_width=own.ef,
        quantization=own.quantization,
        oversampling=own.oversampling,
        shards=own.shard_number,
        replicas=own.replication_factor,
        write_consistency=own.write_consistency_factor,
    )


def configured_repositories(settings: Settings) -> tuple[Repository, ...]:
    return tuple(_repository(one) for one in settings.repositories)


def _repository(own: RepositorySettings) -> Repository:
    return Repository(own.name, own.source, own.branch, own.include, own.exclude, own.audience, own.generator, own.web)


def live_secrets(settings: Settings) -> tuple[str, ...]:
    """Our own tokens: redacted wherever they turn up, whatever they look like."""
    tokens = [settings.slack_bot_token, settings.slack_app_token, settings.groq_api_key, settings.git_token, settings.webhook_secret]
    tokens += [settings.qdrant_api_key, settings.rerank_api_key]
    if settings.qdrant_url.get_secret_value().startswith("https://"):  # "http://localhost:6333" stands in many a README
        tokens.append(settings.qdrant_url)
    return tuple(value for token in tokens if (value := token.get_secret_value()))


def answer_settings(settings: Settings) -> AnswerSettings:
    own = settings.answers
    return AnswerSettings(
        request_tokens=own.request_tokens,
        max_tokens=settings.groq.max_tokens,
        context_chunks=own.context_chunks,
        timeout=own.deadline,
    )


def build_manners(settings: Settings, *, serving: bool) -> Manners:
    """How much of the machine a build takes; what `build_threads` says counts in both cases."""
    if serving:
        return replace(BESIDE_ANSWERS, threads=settings.build_threads or BESIDE_ANSWERS.threads)
    return Manners(nice=_ALONE_NICE, threads=settings.build_threads, workers=min(usable_cores(), _MOST_WORKERS))


def usable_cores() -> int:
    """Of this machine, as far as this process may use them."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
