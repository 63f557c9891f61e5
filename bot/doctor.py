"""`footnote doctor`: what is configured, what is missing, whether each token, model and store answers, and the remedy."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bot.configuration import load_settings
from bot.data_directory import DataDirectory
from bot.settings import Settings
from rag.errors import DataDirectoryLocked, FootnoteError

State = Literal["ok", "off", "failed"]
PATIENCE = 60.0  # seconds for one check
ENOUGH_ROOM = 2 << 30  # bytes; a model's export and a large index
OLDEST_GIT = (2, 39)


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. `off`: not configured, and nothing needs it."""

    what: str
    state: State
    detail: str
    remedy: str = ""


Check = Callable[[Settings], Awaitable[Finding]]


async def examine(config: Path | None) -> list[Finding]:
    """Every check, in order. A configuration that cannot be read ends it: nothing else can be told then."""
    findings = [Finding("python", "ok", f"{sys.version.split()[0]} at {sys.executable}")]
    try:
        settings = load_settings(config)
    except FootnoteError as error:
        return [*findings, Finding("configuration", "failed", error.problem, error.remedy)]
    where = str(settings.config_file) if settings.config_file else "no file; everything has its default"
    findings.append(Finding("configuration", "ok", where))
    for what, check in CHECKS:
        try:
            async with asyncio.timeout(PATIENCE):
                findings.append(await check(settings))
        except FootnoteError as error:
            findings.append(Finding(what, "failed", error.problem, error.remedy))
        except TimeoutError:
            findings.append(Finding(what, "failed", f"no answer within {PATIENCE:.0f} s", "Try again; check the disk and the network."))
    return [*findings, *[finding async for finding in _repositories(settings)]]


async def _git(settings: Settings) -> Finding:
    if shutil.which("git") is None:
        return Finding("git", "failed", "not installed", "Install it (Debian: apt-get install git).")
    child = await asyncio.create_subprocess_exec("git", "--version", stdout=asyncio.subprocess.PIPE)
    version = (await child.communicate())[0].decode("ascii", "replace").strip().removeprefix("git version ")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_GIT:
        return Finding("git", "failed", version, "Older than 2.39 lacks fixes for cloning hostile repositories: upgrade it.")
    return Finding("git", "ok", version)


async def _data_directory(settings: Settings) -> Finding:
    directory = DataDirectory(settings.data_dir)
    try:
        directory.acquire().release()
        owner = ""
    except DataDirectoryLocked as locked:
        owner = f". {locked.problem}"
    room = shutil.disk_usage(directory.path).free
    detail = f"{directory.path}, {room / 1e9:.1f} GB free{owner}"
    if room < ENOUGH_ROOM:
        return Finding("data directory", "failed", detail, "Free some room, or set FOOTNOTE_DATA_DIR to another disk.")
    return Finding("data directory", "ok", detail)


async def _embedding(settings: Settings) -> Finding:
    from bot.part_settings import embedding_settings
    from rag.embedding.lazy import LazyEmbedder

    embedder = await asyncio.to_thread(LazyEmbedder, embedding_settings(settings), DataDirectory(settings.data_dir).models)
    vector = await asyncio.to_thread(embedder.embed_query, "does it answer?")
    spec = embedder.spec
    if vector.shape != (spec.dimension,):
        return Finding("embedding model", "failed", f"{spec.model} gave {vector.shape}", "Remove the folder models/ and run this again.")
    return Finding(
        "embedding model", "ok", f"{spec.model} on {spec.backend}, {spec.dimension} dimensions, weights {spec.weights_hash[:12]}"
    )


async def _dense_store(settings: Settings) -> Finding:
    from bot.part_settings import server_settings
    from rag.index.dense import chosen_backend
    from rag.index.sparse import SparseIndex
    from rag.protocols import ServedBackend
    from rag.types import Chunk, Kind

    server = server_settings(settings)

    def attempt() -> tuple[int, str, str, bool]:
        import numpy as np

        from rag.index.server import fitting_version

        backend = chosen_backend(server, settings.data_dir)
        version = backend.check() if isinstance(backend, ServedBackend) else ""
        with tempfile.TemporaryDirectory(prefix="footnote-doctor-") as scratch:
            vectors = np.eye(2, 8, dtype=np.float32)
            chunks = [Chunk("a", 1, 1, Kind.LINES, "text", "a"), Chunk("b", 1, 1, Kind.LINES, "text", "b")]
            place = Path(scratch) / "store"
            backend.create(place, vectors, chunks, SparseIndex.build(chunks))
            try:
                store = backend.open(place)
                try:
                    return store.search(vectors[1], 1)[0][0], backend.name, version, not version or fitting_version(version)
                finally:
                    store.close()
            finally:
                if isinstance(backend, ServedBackend):
                    backend.discard(place)

    row, name, version, fits = await asyncio.to_thread(attempt)
    if server is None:
        if row != 1:
            return Finding("dense store", "failed", f"{name} found the wrong vector", "Reinstall it: make clean setup.")
        return Finding("dense store", "ok", name)
    where = f"{name} at {server.url}, version {version}"
    if row != 1:
        return Finding("dense store", "failed", f"{where}, found the wrong vector", "Look into the server's log; try another version.")
    if not fits:
        return Finding("dense store", "failed", f"{where}: too old or too new", "docs/operations.md says which versions fit.")
    clear = "; its key crosses the network unencrypted: give it TLS" if server.key_in_clear else ""
    return Finding("dense store", "ok", f"{where}{clear}")


async def _language_model(settings: Settings) -> Finding:
    needed = [one.name for one in settings.repositories if one.generator == "groq"]
    key = settings.groq_api_key.get_secret_value()
    if not key:
        if needed:
            return Finding("Groq", "failed", f"{', '.join(needed)} need it, but GROQ_API_KEY is not set", "Set GROQ_API_KEY.")
        return Finding("Groq", "off", "no repository uses it; answers are put together from the code itself")
    from bot.part_settings import groq_settings
    from rag.answering.generators.groq import GroqLanguageModel

    model = GroqLanguageModel(groq_settings(settings), key)
    try:
        async for _ in model.stream([("user", "Say ok.")], temperature=0.0, max_tokens=8):
            pass
    except FootnoteError as error:
        from rag.errors import GeneratorCut

        if not isinstance(error, GeneratorCut):
            raise
    finally:
        await model.aclose()
    return Finding("Groq", "ok", f"{settings.groq.model} answers")


async def _reranker(settings: Settings) -> Finding:
    if settings.rerank.by == "off":
        return Finding("reranker", "off", "none is configured; results stand as they are ranked")
    from bot.part_settings import configured_repositories, groq_settings
    from bot.reranking import reranking_of
    from rag.answering.generators.groq import GroqLanguageModel
    from rag.types import Chunk, Kind

    model = GroqLanguageModel(groq_settings(settings), settings.groq_api_key.get_secret_value())
    reranking = reranking_of(settings, model)
    assert reranking is not None  # noqa: S101
    reranker = reranking.reranker
    try:
        await reranker.prepare()
        [said] = await reranker.score("Does it answer?", [Chunk("answer.txt", 1, 1, Kind.LINES, "text", "It does.")])
    finally:
        await reranker.aclose()
        await model.aclose()
    if not said.readable:
        return Finding("reranker", "failed", f"{reranker.name} gives no JSON", "Use another model: such replies count as 0.")
    kept = ", ".join(one.name for one in configured_repositories(settings) if not reranking.reads(one))
    return Finding("reranker", "ok", f"{reranker.name} answers" + (f"; the code of {kept} is not sent to it" if kept else ""))


async def _slack(settings: Settings) -> Finding:
    tokens = {"SLACK_BOT_TOKEN": settings.slack_bot_token, "SLACK_APP_TOKEN": settings.slack_app_token}
    missing = [name for name, token in tokens.items() if not token.get_secret_value()]
    if len(missing) == len(tokens):
        return Finding("Slack", "off", "no tokens are set; footnote playground works without", "docs/operations.md says how to get them.")
    if missing:
        return Finding("Slack", "failed", f"{missing[0]} is not set", "Both tokens are needed; docs/operations.md says how to get them.")
    from bot.web import SlackRefused, SlackWeb

    web = SlackWeb(settings.slack_bot_token.get_secret_value(), settings.slack.base_url)
    await web.open()
    try:
        me = await web.call("auth.test", repeatable=True)
        app_token = settings.slack_app_token.get_secret_value()
        await web.call("apps.connections.open", {"app_token": app_token}, repeatable=True)
    except SlackRefused as refusal:
        return Finding("Slack", "failed", f"Slack says {refusal.error}", "Copy both tokens anew from the app's pages.")
    finally:
        await web.close()
    return Finding("Slack", "ok", f"{me.get('user')} in {me.get('team')}, and a socket can be opened")


CHECKS: tuple[tuple[str, Check], ...] = (
    ("git", _git),
    ("data directory", _data_directory),
    ("embedding model", _embedding),
    ("dense store", _dense_store),
    ("Groq", _language_model),
    ("reranker", _reranker),
    ("Slack", _slack),
)


async def _repositories(settings: Settings) -> AsyncIterator[Finding]:
    from bot.engine import result

    try:
        status = await result(settings, "status", {})
    except FootnoteError as error:
        yield Finding("repositories", "failed", error.problem, error.remedy)
        return
    if not status["repositories"]:
        yield Finding("repositories", "off", "none yet", "Add one: footnote index PATH_OR_URL")
    for row in status["repositories"]:
        what, last = f"repository {row['name']}", row["last_build"]
        if row["problem"]:
            yield Finding(what, "failed", row["problem"])
        elif last and not last["ok"]:
            yield Finding(what, "failed", f"its last build failed: {last['error']}", f"footnote index {row['name']} tries again.")
        elif row["index"] is None:
            yield Finding(what, "failed", "configured, but not indexed", f"footnote index {row['name']}")
        else:
            index, hears = row["index"], ", ".join(row["audience"]) or "nobody in Slack"
            outdated = "" if row["fits"] or not index["dense_ready"] else "; built with other settings: the next build replaces it"
            detail = f"{index['chunks']} chunks at {index['commit'][:12]}; heard by {hears}; written by {row['generator']}{outdated}"
            yield Finding(what, "ok", detail)
