"""What `footnote serve` puts together around the port: from settings to something that listens."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from bot.configuration import load_settings
from bot.data_directory import DataDirectory
from bot.part_settings import live_secrets, server_settings
from bot.parts import Parts
from bot.settings import Settings
from bot.wiring.parts import expander_for, open_parts
from bot.wiring.service import build_scheduler, http_server, resume_pushes
from rag.answering.generators.groq import GroqLanguageModel, GroqSettings
from rag.errors import ConfigurationError
from rag.types import Repository
from scheduler import Pushes
from scheduler.jobs import Scheduler
from tests.scheduler.conftest import Listener

SECRET = "canary-canary-canary"
CONFIG = """
[[repositories]]
name = "gone"
source = "{source}"
web = "https://github.com/example/gone"
poll = "5m"

[schedule]
stale_hours = 100000
parallel_builds = 3
"""


def settings_of(tmp_path: Path, **environment: str) -> Settings:
    (tmp_path / "footnote.toml").write_text(CONFIG.format(source=tmp_path / "gone.git"))
    return load_settings(tmp_path / "footnote.toml", {"FOOTNOTE_DATA_DIR": str(tmp_path / "data"), **environment})


@asynccontextmanager
async def life(tmp_path: Path, **environment: str) -> AsyncIterator[tuple[Parts, Scheduler, Pushes]]:
    """The owner's parts, and what builds; the repository's source is not there, so that every build fails at once."""
    settings = await asyncio.to_thread(settings_of, tmp_path, **environment)
    directory = await asyncio.to_thread(DataDirectory(settings.data_dir).acquire)
    try:
        async with open_parts(settings, directory, "test") as parts:
            scheduler, pushes = build_scheduler(parts, Listener(), parts.registry.configured)
            yield parts, scheduler, pushes
            await pushes.stop()
    finally:
        directory.release()


async def _quiet(pushes: Pushes) -> None:
    async with asyncio.timeout(30):
        while pushes.pending("gone"):  # noqa: ASYNC110 - what is waited for is outside of any event
            await asyncio.sleep(0.01)


async def test_nothing_listens_unless_it_is_configured(tmp_path: Path) -> None:
    async with life(tmp_path, FOOTNOTE_WEBHOOK_SECRET=SECRET) as (parts, _, pushes):
        assert http_server(parts, pushes, lambda: True, parts.registry.configured) is None


async def test_a_secret_that_can_be_guessed_is_refused(tmp_path: Path) -> None:
    async with life(tmp_path, FOOTNOTE_WEBHOOK_SECRET="short", FOOTNOTE_HTTP_LISTEN="127.0.0.1:0") as (parts, _, pushes):
        with pytest.raises(ConfigurationError, match="FOOTNOTE_WEBHOOK_SECRET has fewer than 16") as raised:
            http_server(parts, pushes, lambda: True, parts.registry.configured)
        assert "short" not in str(raised.value)


async def test_a_push_that_a_crash_kept_from_being_built_is_built_at_the_next_start(tmp_path: Path) -> None:
    body = json.dumps({"ref": "refs/heads/main", "repository": {"html_url": "https://github.com/example/gone"}}).encode()
    headers = {
        "Content-Type": "application/json",
        "X-GitHub-Event": "push",
        "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        "X-Hub-Signature-256": "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest(),
    }
    async with life(tmp_path, FOOTNOTE_WEBHOOK_SECRET=SECRET, FOOTNOTE_HTTP_LISTEN="127.0.0.1:0") as (parts, _, pushes):
        await resume_pushes(parts, pushes, parts.registry.configured)
        assert not pushes.pending("gone")
        await pushes.stop()  # what dies before it has built anything
        server = http_server(parts, pushes, lambda: False, parts.registry.configured)
        assert server is not None
        await server.start()
        try:
            async with aiohttp.ClientSession() as session:
                async with session.post(server.url + "/webhooks/github", data=body, headers=headers) as taken:
                    assert taken.status == 202
                async with session.get(server.url + "/health") as health:
                    assert (health.status, await health.json()) == (503, {"healthy": False, "slack": False, "database": True})
                await parts.database.close()
                async with session.get(server.url + "/health") as health:
                    assert (health.status, (await health.json())["database"]) == (503, False)
                await parts.database.start()
        finally:
            await server.stop()
        assert await parts.log.last_build("gone") is None
    async with life(tmp_path) as (parts, _, pushes):
        await resume_pushes(parts, pushes, parts.registry.configured)
        assert pushes.pending("gone")
        await _quiet(pushes)
        record = await parts.log.last_build("gone")
        assert record is not None
        assert (record.ok, record.cause, record.error_kind) == (False, "push", "SourceNotFound")


async def test_a_source_that_is_polled_is_a_job_and_one_that_is_gone_is_told(tmp_path: Path) -> None:
    async with life(tmp_path) as (parts, scheduler, _):
        await scheduler.start()
        try:
            assert "poll gone" in scheduler.next_runs()
            async with asyncio.timeout(30):
                while "poll gone" not in await parts.log.last_runs():  # noqa: ASYNC110 - see _quiet
                    await asyncio.sleep(0.02)
        finally:
            await scheduler.stop()
        run = (await parts.log.last_runs())["poll gone"]
        assert not run.ok
        assert "does not exist" in run.reason


def test_a_qdrant_server_is_set_up_from_environment_and_file(tmp_path: Path) -> None:
    assert server_settings(settings_of(tmp_path, QDRANT_API_KEY="of no use alone")) is None
    settings = settings_of(
        tmp_path,
        QDRANT_URL="https://qdrant.example.com",
        QDRANT_API_KEY=SECRET,
        FOOTNOTE_QDRANT_EF="99",
        FOOTNOTE_QDRANT_QUANTIZATION="int8",
    )
    server = server_settings(settings)
    assert server is not None
    assert (server.url, server.api_key, server.search_width) == ("https://qdrant.example.com:6333", SECRET, 99)
    assert (server.quantization, server.links, server.replicas) == ("int8", 32, 0)
    assert {SECRET, "https://qdrant.example.com"} <= set(live_secrets(settings))
    assert SECRET not in repr(settings) + str(server)
    local = settings_of(tmp_path, QDRANT_URL="http://localhost:6333", QDRANT_API_KEY=SECRET)
    assert live_secrets(local) == (SECRET,)
    with pytest.raises(ConfigurationError, match="QDRANT_URL") as caught:
        server_settings(settings_of(tmp_path, QDRANT_URL=f"https://ada:{SECRET}@qdrant.example.com"))
    assert SECRET not in str(caught.value)


def test_questions_are_expanded_only_where_it_is_set_and_a_model_is_there(tmp_path: Path) -> None:
    model = GroqLanguageModel(GroqSettings(), "")
    asked, local = Repository("asked", "x", generator="groq"), Repository("local", "x")
    off = expander_for(settings_of(tmp_path), model)
    assert (off(asked), off(local)) == (None, None)
    config = CONFIG.replace('poll = "5m"', 'generator = "groq"').format(source="x") + '\n[retrieval]\nexpansion = "hyde"\n'
    (tmp_path / "footnote.toml").write_text(config)
    on = expander_for(load_settings(tmp_path / "footnote.toml", {"FOOTNOTE_DATA_DIR": str(tmp_path / "data")}), model)
    assert on(asked) is not None
    assert on(asked) is on(asked)
    assert on(local) is None
