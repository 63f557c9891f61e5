"""A real server on a free port, a real database, and pushes that lead to builds whose length a test decides."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.http import deliveries
from bot.http.deliveries import Deliveries
from bot.http.server import HttpServer
from bot.http.webhooks import Webhooks
from rag import answer_log
from rag.answer_log import AnswerLog
from rag.database import Database
from rag.types import Repository
from scheduler import Builds, Pushes
from tests.scheduler.conftest import Clock, Listener, Workshop

SECRET = "correct-horse-battery-staple"
SHOP = Repository("shop", "https://github.com/Example/shop.git")
DOCS = Repository("docs", "git@gitlab.example.org:team/sub/docs.git", branch="release/2")
PATH = Repository("path", "/srv/git/tools.git", web="https://git.example.org/team/tools/")
MIGRATIONS = (*answer_log.MIGRATIONS, *deliveries.MIGRATIONS)


def github(ref: str = "refs/heads/main", url: str = "https://github.com/example/shop", **more: Any) -> dict[str, Any]:
    """A push as GitHub tells it; each is another."""
    where = {"clone_url": f"{url}.git", "ssh_url": "", "html_url": url, "default_branch": "main", "private": True}
    return {"ref": ref, "before": "0" * 40, "after": uuid.uuid4().hex, "deleted": False, "repository": where, "commits": [], **more}


def gitlab(ref: str = "refs/heads/release/2", after: str = "a" * 40) -> dict[str, Any]:
    project = {
        "git_http_url": "https://gitlab.example.org/team/sub/docs.git",
        "git_ssh_url": "ssh://git@gitlab.example.org:2222/Team/Sub/docs.git",
        "web_url": "https://gitlab.example.org/team/sub/docs",
        "default_branch": "main",
    }
    return {"object_kind": "push", "ref": ref, "before": "b" * 40, "after": after, "project": project, "commits": []}


def sign(body: bytes, secret: str = SECRET) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


@dataclass
class Sender:
    """What the two services do: POST, with their headers."""

    session: aiohttp.ClientSession
    url: str

    async def post(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
        headers = {"Content-Type": "application/json", **headers}
        async with self.session.post(self.url + path, data=body, headers={k: v for k, v in headers.items() if v}) as response:
            return response.status, json.loads(await response.read())

    async def github(
        self, payload: dict[str, Any] | bytes, *, event: str = "push", delivery: str = "new", signature: str = "right", **headers: str
    ) -> tuple[int, dict[str, Any]]:
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        own = {
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": str(uuid.uuid4()) if delivery == "new" else delivery,
            "X-Hub-Signature-256": sign(body) if signature == "right" else signature,
        }
        return await self.post("/webhooks/github", body, own | headers)

    async def gitlab(
        self, payload: dict[str, Any], *, event: str = "Push Hook", delivery: str = "new", token: str = SECRET
    ) -> tuple[int, dict[str, Any]]:
        own = {
            "X-Gitlab-Event": event,
            "X-Gitlab-Event-UUID": str(uuid.uuid4()) if delivery == "new" else delivery,
            "X-Gitlab-Token": token,
        }
        return await self.post("/webhooks/gitlab", json.dumps(payload).encode(), own)


@dataclass
class World:
    sender: Sender
    server: HttpServer
    database: Database
    log: AnswerLog
    workshop: Workshop
    pushes: Pushes
    builds: Builds
    well: dict[str, bool] = field(default_factory=lambda: {"slack": True, "database": True})


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    workshop = Workshop(seconds=0.05)
    async with Database(tmp_path / "footnote.sqlite", MIGRATIONS) as database:
        log = AnswerLog(database)
        builds = Builds(workshop.rebuild, log, Listener())
        pushes = Pushes(builds, pause=0.02)
        webhooks = Webhooks(SECRET, lambda: (SHOP, DOCS, PATH), Deliveries(database, Clock()), pushes, max_body=100_000, read_timeout=0.5)
        well = {"slack": True, "database": True}

        async def health() -> dict[str, bool]:
            return well

        server = HttpServer("127.0.0.1", 0, health, webhooks)
        await server.start()
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as session:
            yield World(Sender(session, server.url), server, database, log, workshop, pushes, builds, well)
        await server.stop()
        await pushes.stop()
        await builds.stop()
