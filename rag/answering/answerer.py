"""From a retrieval to an answer: pack, write, police, conclude.

Pieces are shown while the generator writes; the Answer at the end is the verdict on the whole, and its text is what counts. When a
language model fails before anything was shown, the answer comes from the extractive generator and says why; when it breaks off
later, the whole statements that were shown stand, and a notice says that the answer is cut.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from rag.answering.abstention import abstention
from rag.answering.context import estimate_tokens, pack, pack_history
from rag.answering.draft import Draft
from rag.answering.generators.extractive import ExtractiveGenerator
from rag.answering.generators.stream import StreamReport, close, report_of
from rag.answering.grounding import uncited_paragraphs
from rag.answering.prompts import SYSTEM
from rag.errors import ConfigurationError, GeneratorBusy, GeneratorCut, GeneratorError, PromptTooLarge
from rag.protocols import Generator
from rag.retrieval.confidence import REFUSE_BELOW, WARN_BELOW
from rag.source.redaction import redact
from rag.types import Answer, AnswerPiece, GenerationRequest, Repository, Retrieval, SearchResult, Turn

log = logging.getLogger(__name__)

CUT_AT_LIMIT = "The answer was cut: it reached the limit of its length."
CUT_BY_PROVIDER = "The answer was cut: the provider withheld the rest."
CUT_BY_FAILURE = "The answer was cut: the language model broke off. What stands here is complete up to that point; ask again for the rest."
PERHAPS_FOREIGN = "This question may not be about this repository: little in it is close to what was asked."
SHRUNK = "The excerpts were too long for the language model; it saw only the best of them."


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """`request_tokens`: what a request may come to, prompt and `max_tokens` together. `timeout`: seconds spent waiting for a generator."""

    request_tokens: int = 8000
    max_tokens: int = 1024
    history_tokens: int = 800
    context_chunks: int = 10
    max_question_chars: int = 4000
    max_answer_chars: int = 20_000
    timeout: float = 120.0


class Answerer:
    """`generator_for` names the generator of a repository. `fallback`: what answers when a language model fails before it began."""

    def __init__(
        self,
        generator_for: Callable[[Repository], Generator],
        settings: AnswerSettings = AnswerSettings(),
        *,
        fallback: Generator = ExtractiveGenerator(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._generator_for = generator_for
        self._settings = settings
        self._fallback = fallback
        self._clock = clock

    async def answer(
        self, question: str, retrieval: Retrieval, repository: Repository, *, answer_id: str, history: Sequence[Turn] = ()
    ) -> AsyncGenerator[AnswerPiece | Answer, None]:
        """Pieces, then one Answer. Raises: ConfigurationError; GeneratorError if the fallback fails too."""
        started = self._clock()
        question = redact(question)[0][: self._settings.max_question_chars]
        generator = self._generator_for(repository)
        if repository.generator == "extractive" and not generator.local:
            raise ConfigurationError(
                f"The code of {repository.name} may not leave this machine.", "Set its generator to allow a language model."
            )
        request = self._request(question, retrieval, repository, history)
        notices = list(retrieval.notices)
        read = [entry.result for entry in request.context]
        if retrieval.confidence is not None and retrieval.confidence < REFUSE_BELOW:
            request = replace(request, context=())
        elif retrieval.confidence is not None and retrieval.confidence < WARN_BELOW and request.context:
            notices.append(PERHAPS_FOREIGN)
        draft, report = self._draft(request, retrieval), StreamReport()
        while request.context:
            try:
                async with aclosing(self._write(generator, request, draft, report)) as pieces:
                    async for piece in pieces:
                        yield piece
                notices += _how_it_ended(draft, report, generator)
                break
            except GeneratorError as error:
                log.warning("answer %s: %s failed with %s: %s", answer_id, generator.name, type(error).__name__, error.problem)
                if draft.shown:
                    notices.append(CUT_BY_FAILURE)
                    break
                if isinstance(error, PromptTooLarge) and SHRUNK not in notices and len(request.context) > 1:
                    notices.append(SHRUNK)
                    request = replace(request, context=request.context[: len(request.context) // 2], history=())
                elif generator is not self._fallback and not generator.local:
                    notices = [*retrieval.notices, f"{generator.name} {_reason(error)}, so no language model wrote this answer."]
                    generator = self._fallback
                    request = self._request(question, retrieval, repository, ())
                else:
                    raise
                draft, report = self._draft(request, retrieval), StreamReport()
        seconds = {**retrieval.seconds, "generate": self._clock() - started}
        yield _conclude(answer_id, question, repository, retrieval, read, generator.name, draft, report, notices, seconds)

    async def _write(
        self, generator: Generator, request: GenerationRequest, draft: Draft, report: StreamReport
    ) -> AsyncGenerator[AnswerPiece, None]:
        stream = generator.write(request)
        left = self._settings.timeout
        try:
            while not draft.full:
                waiting = self._clock()
                try:
                    async with asyncio.timeout(max(0.0, left)):
                        text = await anext(stream)
                except StopAsyncIteration:
                    break
                except TimeoutError:
                    raise GeneratorCut(
                        f"{generator.name} did not finish within {self._settings.timeout:.0f} seconds.", "Ask again."
                    ) from None
                left -= self._clock() - waiting
                for piece in draft.feed(text):
                    yield piece
            for piece in draft.close():
                yield piece
            if not generator.local and not draft.shown and (draft.empty or report_of(stream).finish_reason == "content_filter"):
                # No answer is not the answer that there is none.
                raise GeneratorCut(f"{generator.name} wrote nothing, or nothing that its provider let through.", "Ask again.")
        finally:
            end = report_of(stream)
            report.finish_reason, report.prompt_tokens, report.completion_tokens = (
                end.finish_reason,
                end.prompt_tokens,
                end.completion_tokens,
            )
            await close(stream)

    def _request(self, question: str, retrieval: Retrieval, repository: Repository, history: Sequence[Turn]) -> GenerationRequest:
        """All of a request's parts within its tokens: what is fixed first, then the history's share, the rest for the context."""
        settings = self._settings
        turns = pack_history(history, settings.history_tokens)
        spoken = sum(estimate_tokens(turn.question) + estimate_tokens(turn.answer) + 16 for turn in turns)
        fixed = estimate_tokens(SYSTEM) + estimate_tokens(question) + 200 + settings.max_tokens
        room = settings.request_tokens - fixed - spoken
        context = pack(retrieval.results, room, most=settings.context_chunks, narrowly=retrieval.narrowly)
        if retrieval.results and not context:
            raise ConfigurationError(
                f"A request of {settings.request_tokens} tokens, {settings.max_tokens} of them for the answer, has no room for an excerpt.",
                "Raise request_tokens or lower max_tokens.",
            )
        return GenerationRequest(question, repository.name, context, turns, retrieval.read_as)

    def _draft(self, request: GenerationRequest, retrieval: Retrieval) -> Draft:
        return Draft(request.context, retrieval.index.commit, request.question, most_chars=self._settings.max_answer_chars)


def _how_it_ended(draft: Draft, report: StreamReport, generator: Generator) -> list[str]:
    notices: list[str] = []
    if report.finish_reason == "content_filter":
        notices.append(CUT_BY_PROVIDER)
    elif draft.full or report.finish_reason == "length":
        notices.append(CUT_AT_LIMIT)
    if not generator.local and (bare := uncited_paragraphs(draft.text)):
        notices.append(f"{bare} paragraph{'s' if bare > 1 else ''} of this answer {'carry' if bare > 1 else 'carries'} no footnote.")
    return notices


def _reason(error: GeneratorError) -> str:
    """Why, in fixed words: these are shown where the error's own are not."""
    if isinstance(error, GeneratorBusy):
        return "has reached its rate limit"
    if isinstance(error, PromptTooLarge):
        return "cannot take as much text"
    if isinstance(error, GeneratorCut):
        return "broke off"
    return "is not available"


def _conclude(
    answer_id: str,
    question: str,
    repository: Repository,
    retrieval: Retrieval,
    read: Sequence[SearchResult],
    generator: str,
    draft: Draft,
    report: StreamReport,
    notices: Sequence[str],
    seconds: Mapping[str, float],
) -> Answer:
    """An answer in which nothing is cited declines, in fixed words."""
    declined = not draft.shown
    return Answer(
        id=answer_id,
        question=question,
        repository=repository.name,
        text=abstention(question, retrieval.index, read) if declined else draft.text,
        abstained=declined,
        citations=draft.citations,
        generator=generator,
        index=retrieval.index,
        seconds=seconds,
        dropped_citations=draft.dropped,
        ungrounded=() if declined else draft.ungrounded,
        notices=tuple(notices),
        prompt_tokens=report.prompt_tokens,
        completion_tokens=report.completion_tokens,
        leads=retrieval.leads,
        confidence=retrieval.confidence,
    )
