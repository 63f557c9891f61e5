"""Builds the reranker that `[rerank]` names. Its libraries (torch, for one) are imported where it is, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable

from bot.settings import Settings
from rag.errors import ConfigurationError
from rag.protocols import LanguageModel, Reranker
from rag.retrieval.reranking.stage import Reranking, RerankSettings, code_may_leave
from rag.types import Repository


def reranking_of(settings: Settings, model: LanguageModel, *, may_leave: Callable[[Repository], bool] = code_may_leave) -> Reranking | None:
    """The configured reranker, to be closed by whoever asks; None where none is. `model`: the configured language model, which stays the
    caller's; `may_leave`: whose code may be sent to a reranker that is not on this machine.

    Raises: ConfigurationError.
    """
    own = settings.rerank
    if own.by == "off":
        return None
    how = RerankSettings(candidates=own.candidates, weight=own.weight, timeout=own.timeout)
    return Reranking(_reranker(settings, model), how, may_leave=may_leave)


def _reranker(settings: Settings, model: LanguageModel) -> Reranker:
    own = settings.rerank
    if own.by == "server":
        from rag.retrieval.reranking.server import RerankServer, ServerReranker, checked_rerank_url

        key = settings.rerank_api_key.get_secret_value()
        return ServerReranker(RerankServer(checked_rerank_url(own.url, own.dialect), own.model, own.dialect, key, own.timeout))
    if own.by == "generator":
        from rag.retrieval.reranking.judge import GeneratorReranker

        return GeneratorReranker(model, threshold=own.threshold, at_once=own.at_once)
    if not own.model:
        raise ConfigurationError("rerank.model is empty, but a cross-encoder is to rerank.", "Name one, or give the path of its directory.")
    from rag.retrieval.reranking.cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(own.model, max_length=own.max_length)
