"""A text stream that can say at its end how it ended."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Self


@dataclass(slots=True)
class StreamReport:
    """Filled in by the stream's end. `finish_reason`: "stop", "length", "content_filter"; "" where the source has none."""

    finish_reason: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ReportedStream(AsyncIterator[str]):
    """Pieces of text, and beside them a report that each stream has for itself: models and generators are shared by questions."""

    def __init__(self, source: AsyncGenerator[str, None], report: StreamReport) -> None:
        self._source = source
        self.report = report

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        return await anext(self._source)

    async def aclose(self) -> None:
        await self._source.aclose()


def report_of(stream: AsyncIterator[str]) -> StreamReport:
    """The stream's report, or an empty one for streams that have none."""
    return stream.report if isinstance(stream, ReportedStream) else StreamReport()


async def close(stream: AsyncIterator[str]) -> None:
    """Ends a stream that is no longer wanted, if it can be ended."""
    if isinstance(stream, ReportedStream | AsyncGenerator):
        await stream.aclose()
