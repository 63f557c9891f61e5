"""What the scheduler is handed: who builds, who judges, whom it tells."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rag.answer_log import BuildOutcome
from rag.types import Judgement, Repository, SearchResult

Rebuild = Callable[[Repository], Awaitable[BuildOutcome]]
"""Builds a repository's index; raises FootnoteError. Cancelling it ends the build."""


class Announcer(Protocol):
    """Tells the people who look after Footnote."""

    async def alert(self, text: str) -> None:
        """`text`: a line or two of plain words, without anything that an error or a repository said."""
        ...


class AnswerJudge(Protocol):
    """Judges the faithfulness of one answer to the lines that it cites."""

    @property
    def name(self) -> str:
        """Name and version, as its judgements carry it."""
        ...

    async def judge(self, *, answer_id: str, question: str, text: str, cited: Mapping[int, SearchResult]) -> Judgement:
        """`text`: the answer with its footnote numbers; `cited`: footnote number -> what it rests on.

        Raises: FootnoteError, also for a reply that cannot be read: that is never a score.
        """
        ...


@dataclass(frozen=True, slots=True)
class JobResult:
    """What a job did. `reason`: why it failed, "" where it did not."""

    reason: str = ""
    detail: dict[str, float] = field(default_factory=dict)
