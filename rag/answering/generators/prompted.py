"""The generator that asks a language model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable

from rag.answering import prompts
from rag.answering.generators.stream import ReportedStream, StreamReport, close, report_of
from rag.prompting.marks import random_marker
from rag.protocols import LanguageModel
from rag.types import GenerationRequest


class PromptedGenerator:
    """Prompts a LanguageModel with the context. The chunks leave this machine."""

    def __init__(
        self, model: LanguageModel, *, temperature: float = 0.1, max_tokens: int = 1024, marker: Callable[[], str] = random_marker
    ) -> None:
        self._model = model
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._marker = marker

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def local(self) -> bool:
        return False

    def write(self, request: GenerationRequest) -> ReportedStream:
        """Raises, while it is read: GeneratorError."""
        report = StreamReport()
        return ReportedStream(self._run(request, report), report)

    async def _run(self, request: GenerationRequest, report: StreamReport) -> AsyncGenerator[str, None]:
        messages = prompts.messages(request, self._marker())
        stream = self._model.stream(messages, temperature=self._temperature, max_tokens=self._max_tokens)
        try:
            async for text in stream:
                yield text
            end = report_of(stream)
            report.finish_reason, report.prompt_tokens, report.completion_tokens = (
                end.finish_reason,
                end.prompt_tokens,
                end.completion_tokens,
            )
        finally:
            await close(stream)
