"""What commands do, once, for both ways to get there: in this process, or asked of the owner over the control socket.

Each operation takes a JSON object and yields JSON objects; the last one is its result. Nothing here prints.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime

from bot import wire, wire_index
from bot.parts import Parts
from bot.wire import Json
from rag.answering.pipeline import Question
from rag.errors import ConfigurationError, FootnoteError, IndexMismatch
from rag.index.distribution import distribution
from rag.index.jobs import BuildEvent
from rag.index.listing import read_listing
from rag.retrieval.days import day_of
from rag.types import AnswerPiece, Filters, Turn

PAGE = 500  # files in one message


class Operations:
    """The operations by name: index, explain, stats, search, ask, repos, status, log, show."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def run(self, operation: str, arguments: Json) -> AsyncIterator[Json]:
        """Raises: FootnoteError, also for an operation that this version does not know."""
        known = {
            "index": self.index,
            "explain": self.explain,
            "stats": self.stats,
            "search": self.search,
            "ask": self.ask,
            "repos": self.repos,
            "status": self.status,
            "log": self.log,
            "show": self.show,
        }
        if operation not in known:
            raise ConfigurationError(f"The running Footnote has no operation {operation}.", "It is of another version: restart it.")
        return known[operation](arguments)

    async def index(self, arguments: Json) -> AsyncIterator[Json]:
        """Yields {"event": …} as the build goes on, then its report."""
        parts = self._parts
        wanted = (arguments["source"], arguments.get("name", ""), arguments.get("branch", ""))
        repository = await asyncio.to_thread(parts.registry.add, *wanted)
        events: asyncio.Queue[BuildEvent | None] = asyncio.Queue()

        async def build() -> object:
            try:
                return await parts.builds.build(repository, cause="command", force=bool(arguments.get("force")), on_event=events.put_nowait)
            finally:
                events.put_nowait(None)

        building = asyncio.create_task(build())
        try:
            while (event := await events.get()) is not None:
                if event.stage == "sparse_ready":  # it can be asked from now on, under its name
                    await parts.registry.keep(repository)
                yield {"event": wire.plain(event)}
            report = await building
        finally:
            building.cancel()
        await parts.registry.keep(repository)
        yield wire.plain(report)

    async def explain(self, arguments: Json) -> AsyncIterator[Json]:
        """Yields {"files": […]} page by page, by path, then what they add up to. Looks at the index that stands; builds nothing."""
        repository = self._parts.registry.find(arguments["source"], arguments.get("name", ""), arguments.get("branch", ""))
        listing = await asyncio.to_thread(read_listing, self._parts.indexes.for_name(repository.name).layout)
        for start in range(0, len(listing.entries), PAGE):
            yield {"files": [wire_index.file(entry) for entry in listing.entries[start : start + PAGE]]}
        yield wire_index.listing(listing)

    async def stats(self, arguments: Json) -> AsyncIterator[Json]:
        parts = self._parts
        repository = parts.registry.find(arguments["source"], arguments.get("name", ""), arguments.get("branch", ""))
        async with parts.indexes.for_name(repository.name).opened() as generation:
            if generation.manifest.embedding != parts.embedder.spec:  # its tokens would be counted by the wrong tokenizer
                raise IndexMismatch(
                    f"The index of {repository.name} was written by another model than is configured.",
                    f"Index it again: footnote index {repository.name}",
                )
            counted = await asyncio.to_thread(distribution, generation, parts.embedder.tokenizer_file())
            yield wire_index.distribution(counted, generation.info)

    async def search(self, arguments: Json) -> AsyncIterator[Json]:
        parts = self._parts
        found = await parts.pipeline.search(
            arguments["question"],
            parts.registry.get(arguments["repository"]),
            limit=arguments.get("limit"),
            filters=_filters(arguments),
            min_score=arguments.get("min_score"),
            explain=bool(arguments.get("explain")),
            group=arguments.get("group", ""),
        )
        yield wire.retrieval(found)

    async def ask(self, arguments: Json) -> AsyncIterator[Json]:
        """Yields {"piece": …} statement by statement, then the whole answer."""
        parts = self._parts
        question = Question(
            text=arguments["question"],
            repository=parts.registry.get(arguments["repository"]),
            origin="cli",
            thread=arguments.get("thread", ""),
            history=tuple(Turn(turn["question"], turn["answer"]) for turn in arguments.get("history", [])),
            filters=_filters(arguments),
        )
        async for part in parts.pipeline.ask(question):
            yield wire.piece(part) if isinstance(part, AnswerPiece) else wire.answer(part)

    async def repos(self, arguments: Json) -> AsyncIterator[Json]:
        yield {"repositories": await self._repositories()}

    async def _repositories(self) -> list[Json]:
        parts = self._parts
        rows = []
        for repository in parts.registry.all():
            index = parts.indexes.for_name(repository.name)
            row: Json = {
                "name": repository.name,
                "source": repository.source,
                "branch": repository.branch,
                "generator": repository.generator,
                "audience": list(repository.audience),
                "by_hand": repository.by_hand,
                "index": None,
                "fits": True,
                "problem": "",
            }
            try:
                info = await asyncio.to_thread(index.info)
                if info is not None:
                    age = (datetime.now(UTC) - info.built_at).total_seconds()
                    row["problem"] = " ".join(info.notices)
                    row["fits"] = await parts.fits(repository)
                    row["index"] = {**wire.index(info), "age_seconds": round(age), "bytes": await asyncio.to_thread(index.size_bytes)}
            except FootnoteError as error:
                row["problem"] = str(error)
            rows.append(row)
        return rows

    async def status(self, arguments: Json) -> AsyncIterator[Json]:
        parts = self._parts
        status: Json = {"repositories": await self._repositories()}
        for row in status["repositories"]:
            last = await parts.log.last_build(row["name"])
            row["last_build"] = last and {
                "ok": last.ok,
                "cause": last.cause,
                "started_at": last.started_at.isoformat(timespec="seconds"),
                "finished_at": last.finished_at.isoformat(timespec="seconds"),
                "error": last.error,
            }
        runs = await parts.log.last_runs()
        next_runs = parts.next_runs()
        status["building"] = [wire.plain(build) for build in parts.builds.running()]
        status["jobs"] = [
            {
                "job": job,
                "next_run": wire.plain(next_runs.get(job)),
                "last_run": wire.plain(runs[job].started_at) if job in runs else None,
                "ok": runs[job].ok if job in runs else None,
                "reason": runs[job].reason if job in runs else "",
            }
            for job in sorted({*runs, *next_runs})
        ]
        status["scheduled"] = bool(next_runs)
        status["data_dir"] = str(parts.directory.path)
        status["owner"] = parts.purpose
        yield status

    async def log(self, arguments: Json) -> AsyncIterator[Json]:
        rows = await self._parts.log.recent(int(arguments.get("limit", 20)), arguments.get("repository", ""))
        yield {"answers": [wire.plain(row) for row in rows]}

    async def show(self, arguments: Json) -> AsyncIterator[Json]:
        entry = await self._parts.log.get(arguments["answer_id"])
        if entry is None:
            raise ConfigurationError(f"The log has no answer {arguments['answer_id']}.", "footnote log lists the newest.")
        yield wire.plain(entry)


def _filters(arguments: Json) -> Filters:
    """Raises: ConfigurationError for a date that is none."""
    return Filters(
        path=tuple(arguments.get("path", ())),
        language=tuple(arguments.get("language", ())),
        kind=tuple(arguments.get("kind", ())),
        author=tuple(arguments.get("author", ())),
        since=_day(arguments.get("since", "")),
        before=_day(arguments.get("before", "")),
    )


def _day(text: str) -> date | None:
    day = day_of(text) if text else None
    if text and day is None:
        raise ConfigurationError(f"{text[:40]!r} is no date.", "Write it as in 2024-03-01, 2024-03 or 2024.")
    return day
