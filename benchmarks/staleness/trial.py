"""One repository, before and after twenty changes: built in a process of its own as in use, asked through the pipeline that Slack asks."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.material import commit_files, git
from benchmarks.staleness.changes import Asked, Change, Changed, change, definitions
from benchmarks.staleness.cited import State, state
from rag.answer_log import MIGRATIONS, AnswerLog
from rag.answering.answerer import Answerer
from rag.answering.generators.extractive import ExtractiveGenerator
from rag.answering.pipeline import Pipeline, Question
from rag.chunking import ChunkingSettings, IsolatedChunker
from rag.database import Database
from rag.embedding.models import EmbeddingSettings, describe, load_embedder, tokenizer_file
from rag.errors import FootnoteError, SourceNotFound
from rag.index.build_process import run_build
from rag.index.dense import default_backend
from rag.index.generation import Indexes
from rag.index.jobs import BuildEvent, BuildJob, BuildReport
from rag.protocols import Embedder
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.source.mirror import Mirror
from rag.types import Answer, Document, Repository

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """What one question brought. `states`: of each citation, at the new head. `found`: whether the added thing is cited, None where nothing
    was added."""

    kind: str
    question: str
    states: tuple[State, ...]
    places: tuple[str, ...]
    found: bool | None

    @property
    def stale(self) -> bool:
        return any(one is not State.HOLDS for one in self.states)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`before`: asked once the changes were committed and before they were indexed. `same`: the incremental index holds the very chunks of
    one built from nothing. `files`: that changed, of `documents`."""

    name: str
    changes: tuple[Change, ...]
    files: int
    full: BuildReport
    incremental: BuildReport
    before: tuple[Reply, ...]
    after: tuple[Reply, ...]
    same: bool


async def run(source: Path, name: str, directory: Path, models: Path, progress: Progress) -> Outcome:
    """`source`: a work tree that may be changed. `directory`: temporary. `models`: where the exported model is, or goes.

    Raises: FootnoteError where there is too little to change, or a build fails.
    """
    repository = Repository(name, str(source))
    data = directory / "data"
    data.mkdir(parents=True)
    progress("the model, exported if it has not been yet")
    embedder = await asyncio.to_thread(load_embedder, EmbeddingSettings(), models)
    shutil.copytree(models, data / "models")
    progress("reading")
    changed = await asyncio.to_thread(_changed, source)
    full = await _build(repository, data, progress, "full build")
    head = await asyncio.to_thread(_commit, source, changed.files)
    mirror = Mirror.existing(source)
    async with _asking(data, embedder, repository, mirror, head) as ask:
        progress("asking before the build")
        before = [await ask(one.kind, asked) for one in changed.changes for asked in one.asked]
        incremental = await _build(repository, data, progress, "incremental build")
        if incremental.commit != head:
            raise FootnoteError(f"The build is of {incremental.commit[:12]}, not of the new head.", "This is a defect of Footnote.")
        progress("asking after the build")
        after = [await ask(one.kind, asked) for one in changed.changes for asked in one.asked]
    again = directory / "again"
    again.mkdir()
    shutil.copytree(models, again / "models")
    shutil.copy(data / "embeddings.sqlite", again)  # its vectors are lent: only the chunks are compared
    await _build(repository, again, progress, "build from nothing")
    same = _chunk_ids(data, name) == _chunk_ids(again, name)
    return Outcome(name, changed.changes, len(changed.files), full, incremental, tuple(before), tuple(after), same)


def _changed(source: Path) -> Changed:
    mirror = Mirror.existing(source)
    texts, chunks = {}, []
    with IsolatedChunker(tokenizer_file(EmbeddingSettings()), ChunkingSettings()) as chunker:
        for document in mirror.documents(mirror.head().commit):
            if isinstance(document, Document):
                try:
                    texts[document.path] = (source / document.path).read_bytes().decode("utf-8")
                except (OSError, UnicodeError):
                    continue  # not as it is committed, or not in UTF-8: left as it is
                chunks += chunker.chunk(document)
    return change(texts, definitions(chunks))


def _commit(source: Path, files: Mapping[str, str | None]) -> str:
    for path, text in files.items():
        if text is None:
            (source / path).unlink()
    return commit_files(source, {path: text for path, text in files.items() if text is not None})


async def _build(repository: Repository, data: Path, progress: Progress, what: str) -> BuildReport:
    def tell(event: BuildEvent) -> None:
        if event.stage == "embed" and event.total:
            progress(f"{what}: embedding {event.done:,} of {event.total:,}")

    progress(what)
    return await run_build(BuildJob(repository, data), tell, nice=0)


def _chunk_ids(data: Path, name: str) -> Counter[str]:
    indexes = Indexes(data, default_backend(), describe(EmbeddingSettings()))
    try:
        with indexes.for_name(name).open() as generation:
            return Counter(chunk.id for chunk in generation.chunks.all())
    finally:
        indexes.close()


@asynccontextmanager
async def _asking(
    data: Path, embedder: Embedder, repository: Repository, mirror: Mirror, head: str
) -> AsyncIterator[Callable[[str, Asked], Awaitable[Reply]]]:
    """The pipeline without Slack. What it gives back asks, and judges each citation at `head`."""
    async with Database(data / "footnote.sqlite", MIGRATIONS) as database:
        log = AnswerLog(database)
        indexes = Indexes(data, default_backend(), embedder.spec)
        extractive = ExtractiveGenerator()
        pipeline = Pipeline(indexes, Retriever(embedder, RetrievalSettings()), Answerer(lambda _: extractive), log, database)

        async def ask(kind: str, asked: Asked) -> Reply:
            question = Question(asked.question, repository, "benchmark")
            answer = [item async for item in pipeline.ask(question) if isinstance(item, Answer)][-1]
            logged = await log.get(answer.id)
            if logged is None or len(logged.cited) != len(answer.citations):
                raise FootnoteError(f"The log does not hold what answer {answer.id} cites.", "This is a defect of Footnote.")
            states, found = [], False
            for citation in answer.citations:
                # As it was retrieved: a citation's own commit would always agree with itself.
                cited = logged.cited[citation.number].chunk.text
                text = await asyncio.to_thread(_text, mirror, head, citation.path)
                states.append(state(cited, citation.start_line, citation.end_line, text))
                found = found or (states[-1] is State.HOLDS and citation.path == asked.path and asked.word in cited)
            places = tuple(f"{one.path}:{one.start_line}-{one.end_line}" for one in answer.citations)
            return Reply(kind, asked.question, tuple(states), places, found if asked.path else None)

        try:
            yield ask
        finally:
            await asyncio.to_thread(indexes.close)


def _text(mirror: Mirror, commit: str, path: str) -> str | None:
    """Decoded and redacted as the index has it; None where there is no such file."""
    try:
        return mirror.document(commit, path).text
    except SourceNotFound:
        return None


def copy_of(clone: Path, directory: Path) -> Path:
    """A work tree with its history, on a branch of its own, in which nothing is shared with the clone."""
    git(clone, "clone", "--quiet", "--no-hardlinks", str(clone.resolve()), str(directory))
    return directory
