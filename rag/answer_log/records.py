"""What the log gives back, and what a build or a job hands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from rag.errors import FootnoteError
from rag.types import Citation, Judgement, SearchResult


@dataclass(frozen=True, slots=True)
class Vote:
    """A person's thumb. `value`: 1 or −1."""

    voter: str
    value: int
    reason: str
    voted_at: datetime


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """A line of the list of answers. `state`: "asked", "answered" or "failed". `seconds`: from asked to finished, None while it is open.
    `up`, `down`: votes. `faithfulness`: of the latest judgement, None where there is none."""

    id: str
    asked_at: datetime
    repository: str
    origin: str
    question: str
    state: str
    abstained: bool
    citations: int
    generator: str
    seconds: float | None
    up: int
    down: int
    faithfulness: float | None
    error_kind: str


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """Everything that is known of one answer. What an unfinished or failed one does not have is empty, 0 or None.

    `results`: all that was retrieved, best first, with the chunks' text. `seconds`: by stage. `candidates`: by retriever.
    `leads`, `confidence`: as `Retrieval` has them.
    `notices`: what the reader was told beside the answer. `ungrounded`: quoted identifiers that do not stand in the cited lines.
    """

    id: str
    question: str
    repository: str
    origin: str
    asker: str
    team: str
    channel: str
    thread: str
    asked_at: datetime
    state: str
    finished_at: datetime | None
    text: str
    abstained: bool
    generator: str
    generation: str
    commit: str
    branch: str
    built_at: datetime | None
    dense_ready: bool
    dropped_citations: int
    ungrounded: tuple[str, ...]
    notices: tuple[str, ...]
    candidates: Mapping[str, int]
    leads: str
    confidence: float | None
    prompt_tokens: int
    completion_tokens: int
    error_kind: str
    reference: str
    seconds: Mapping[str, float]
    results: tuple[SearchResult, ...]
    citations: tuple[Citation, ...]
    votes: tuple[Vote, ...]
    judgements: tuple[Judgement, ...]

    @property
    def cited(self) -> dict[int, SearchResult]:
        """Footnote number -> the result that it rests on."""
        by_chunk = {result.chunk.id: result for result in self.results}
        return {citation.number: by_chunk[citation.chunk_id] for citation in self.citations if citation.chunk_id in by_chunk}


class BuildOutcome(Protocol):
    """What the log wants to know of a build that went well; rag.index's BuildReport is one."""

    @property
    def repository(self) -> str: ...
    @property
    def commit(self) -> str: ...
    @property
    def branch(self) -> str: ...
    @property
    def generation(self) -> str: ...
    @property
    def documents(self) -> int: ...
    @property
    def chunks(self) -> int: ...
    @property
    def embedded(self) -> int: ...
    @property
    def reused(self) -> int: ...
    @property
    def unchanged(self) -> bool: ...
    @property
    def skipped(self) -> Mapping[str, int]: ...
    @property
    def fallbacks(self) -> Mapping[str, int]: ...
    @property
    def seconds(self) -> Mapping[str, float]: ...
    @property
    def peak_memory_bytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class BuildRecord:
    """One build in the log. `cause`: why it was built. A failed one has `error_kind`, the error's class, and `error`, its words."""

    repository: str
    cause: str
    started_at: datetime
    finished_at: datetime
    ok: bool
    commit: str = ""
    branch: str = ""
    generation: str = ""
    documents: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    unchanged: bool = False
    skipped: Mapping[str, int] = field(default_factory=dict)
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    peak_memory_bytes: int = 0
    error_kind: str = ""
    error: str = ""

    @classmethod
    def succeeded(cls, outcome: BuildOutcome, *, cause: str, started_at: datetime, finished_at: datetime) -> BuildRecord:
        return cls(
            repository=outcome.repository,
            cause=cause,
            started_at=started_at,
            finished_at=finished_at,
            ok=True,
            commit=outcome.commit,
            branch=outcome.branch,
            generation=outcome.generation,
            documents=outcome.documents,
            chunks=outcome.chunks,
            embedded=outcome.embedded,
            reused=outcome.reused,
            unchanged=outcome.unchanged,
            skipped=dict(outcome.skipped),
            fallbacks=dict(outcome.fallbacks),
            seconds=dict(outcome.seconds),
            peak_memory_bytes=outcome.peak_memory_bytes,
        )

    @classmethod
    def failed(cls, repository: str, error: BaseException, *, cause: str, started_at: datetime, finished_at: datetime) -> BuildRecord:
        return cls(
            repository=repository,
            cause=cause,
            started_at=started_at,
            finished_at=finished_at,
            ok=False,
            error_kind=type(error).__name__,
            error=reason_of(error),
        )


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run of a scheduled job. `detail`: what it did, in numbers."""

    job: str
    started_at: datetime
    finished_at: datetime
    ok: bool
    reason: str = ""
    detail: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Purged:
    """How much a purge deleted."""

    answers: int
    chunks: int
    builds: int
    runs: int


def reason_of(error: BaseException) -> str:
    """Words for a failure that may be kept and shown. An error that is not ours gives its class alone: its text may hold anything."""
    if isinstance(error, FootnoteError):
        return str(error)
    return f"Unexpected {type(error).__name__}; the program's log has the rest."
