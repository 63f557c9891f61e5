"""What listens, where, and what it tells of itself."""

from __future__ import annotations

import aiohttp
import pytest

from bot.http.server import HttpServer
from rag.errors import ConfigurationError
from tests.bot.http.conftest import World


async def _well() -> dict[str, bool]:
    return {"slack": True, "database": True}


@pytest.mark.parametrize(("slack", "database", "status"), [(True, True, 200), (False, True, 503), (True, False, 503), (False, False, 503)])
async def test_health(world: World, slack: bool, database: bool, status: int) -> None:
    world.well |= {"slack": slack, "database": database}
    async with world.sender.session.get(world.server.url + "/health") as response:
        assert response.status == status
        assert await response.json() == {"healthy": status == 200, "slack": slack, "database": database}
        assert response.headers["Server"] == "footnote"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/webhooks/github", 405),
        ("PUT", "/webhooks/gitlab", 405),
        ("POST", "/health", 405),
        ("POST", "/run/status", 404),
        ("POST", "/webhooks/github/x", 404),
        ("GET", "/%2e%2e/footnote.sqlite", 404),
    ],
)
async def test_nothing_else_is_answered(world: World, method: str, path: str, status: int) -> None:
    async with world.sender.session.request(method, world.server.url + path) as response:
        assert response.status == status
        assert set(await response.json()) == {"error"}
        assert response.headers["Server"] == "footnote"


async def test_without_a_secret_no_webhook_is_taken() -> None:
    server = HttpServer("127.0.0.1", 0, _well, None)
    await server.start()
    try:
        async with aiohttp.ClientSession() as session, session.post(server.url + "/webhooks/github", json={}) as response:
            assert response.status == 404
    finally:
        await server.stop()


async def test_a_port_that_is_taken_is_named(world: World) -> None:
    port = int(world.server.url.rpartition(":")[2])
    with pytest.raises(ConfigurationError, match=rf"http\.listen: 127\.0\.0\.1 port {port} cannot be listened on"):
        await HttpServer("127.0.0.1", port, _well, None).start()


async def test_after_stop_nothing_listens(world: World) -> None:
    url = world.server.url
    await world.server.stop()
    with pytest.raises(aiohttp.ClientConnectorError):
        await world.sender.session.get(url + "/health")
