"""Who may talk to the playground, and what its page's endpoints answer."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest

from playground import Playground
from playground.defaults import ENGINEERING, GENERAL, MAYA
from tests.playground.echo_bot import echo_bot


async def get(url: str, **headers: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as response:
        return response.status, await response.text()


async def post(playground: Playground, action: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    url = f"{playground.url}/page/{action}"
    async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=headers) as response:
        text = await response.text()
        return response.status, json.loads(text) if text.startswith("{") else {"text": text}


@pytest.mark.parametrize("path", ["/", "/page/events?user=maya", "/api/auth.test", "/static/app.js", "/source/a/blob/c/p.py"])
async def test_another_host_name_is_refused(playground: Playground, path: str) -> None:
    assert (await get(playground.url + path, Host="rebound.example"))[0] == 403
    assert (await get(playground.url + path, Host=f"rebound.example:{playground.port}"))[0] == 403
    assert (await get(playground.url + path, Host=f"127.0.0.1:{playground.port + 1}"))[0] == 403


async def test_another_origin_is_refused(playground: Playground) -> None:
    body = {"user": "maya", "channel": "general", "text": "hello"}
    assert (await post(playground, "say", body, Origin="http://evil.example"))[0] == 403
    assert (await post(playground, "say", body, Origin="null"))[0] == 403
    assert (await post(playground, "say", body, Origin=f"http://localhost:{playground.port + 1}"))[0] == 403
    assert (await post(playground, "say", body, **{"Sec-Fetch-Site": "cross-site"}))[0] == 403
    assert playground.messages("general") == []
    assert (await post(playground, "say", body, Origin=playground.url, **{"Sec-Fetch-Site": "same-origin"}))[0] == 200
    assert [message.text for message in playground.messages("general")] == ["hello"]


async def test_a_form_of_another_page_cannot_act(playground: Playground) -> None:
    headers, url = {"Content-Type": "text/plain"}, f"{playground.url}/page/say"
    async with aiohttp.ClientSession() as session, session.post(url, data='{"user":"maya"}', headers=headers) as response:
        assert response.status == 415


async def test_everything_is_sent_under_a_strict_policy(playground: Playground) -> None:
    async with aiohttp.ClientSession() as session:
        for path in ("/", "/static/app.js", "/api/auth.test", "/nowhere"):
            async with session.get(playground.url + path) as response:
                policy = response.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy
                assert response.headers["X-Content-Type-Options"] == "nosniff"
                assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"


async def test_it_listens_on_loopback_only(playground: Playground) -> None:
    assert playground.url.startswith("http://127.0.0.1:")


async def test_only_the_pages_own_files_are_served(playground: Playground) -> None:
    assert (await get(f"{playground.url}/static/app.css"))[0] == 200
    for name in ("..%2fserver.py", "server.py", "%2e%2e/server.py", "nothing.js"):
        assert (await get(f"{playground.url}/static/{name}"))[0] == 404


async def test_the_pages_files_ask_for_nothing_from_elsewhere(playground: Playground) -> None:
    for name in (
        "app.css",
        "message.css",
        "source.css",
        "app.js",
        "dom.js",
        "markup.js",
        "blocks.js",
        "messages.js",
        "source.js",
        "api.js",
    ):
        _, text = await get(f"{playground.url}/static/{name}")
        assert "innerHTML" not in text
        assert "insertAdjacentHTML" not in text
        assert "@import" not in text
        assert "//cdn" not in text


async def test_what_cannot_be_done_is_a_400_with_words(playground: Playground) -> None:
    assert (await post(playground, "say", {"user": "tomas", "channel": "security", "text": "x"}))[1]["error"].startswith("tomas is not in")
    assert (await post(playground, "say", {"user": "tomas"}))[0] == 400
    assert (await post(playground, "say", [1]))[1]["error"] == "The body must be a JSON object."
    assert (await post(playground, "direct", {"user": "maya", "other": "nobody"}))[1]["error"] == "Slack refuses: user_not_found."
    assert (await post(playground, "fly", {}))[0] == 404


async def events_until(response: aiohttp.ClientResponse, wanted: str) -> dict[str, Any]:
    """The body of the next event of a name."""
    name = ""
    async for line in response.content:
        text = line.decode().rstrip("\n")
        if text.startswith("event: "):
            name = text.removeprefix("event: ")
        if text.startswith("data: ") and name == wanted:
            body: dict[str, Any] = json.loads(text.removeprefix("data: "))
            return body
    raise AssertionError(f"the feed ended before {wanted}")


async def test_the_feed_starts_with_what_a_person_may_see_and_goes_on_with_it(playground: Playground) -> None:
    await playground.say("maya", "security", "secret")
    await playground.say("maya", "engineering", "public")
    timeout = aiohttp.ClientTimeout(total=10)
    async with aiohttp.ClientSession(timeout=timeout) as session, session.get(f"{playground.url}/page/events?user=priya") as response:
        state = await events_until(response, "state")
        assert [channel["name"] for channel in state["channels"]] == ["engineering"]
        assert [message["text"] for message in state["messages"]] == ["public"]
        await playground.say("maya", "security", "another secret")
        await playground.say("maya", "engineering", "another")
        assert (await events_until(response, "message"))["text"] == "another"
        ts = await playground.say("priya", "engineering", "mine")
        await playground.delete("priya", "engineering", ts)
        assert await events_until(response, "gone") == {"channel": ENGINEERING, "ts": ts}
    async with aiohttp.ClientSession() as session, session.get(f"{playground.url}/page/events?user=footnote") as response:
        assert response.status == 404


async def test_a_command_from_the_page_reaches_the_app(playground: Playground) -> None:
    async with echo_bot(playground):
        status, body = await post(playground, "command", {"user": "maya", "channel": GENERAL, "command": "/repo", "text": "list"})
        assert (status, body) == (200, {"acknowledged": True})
        await playground.wait_for(lambda: len(playground.messages("general", seen_by=MAYA)) == 2)


async def test_sources_are_read_by_the_callable_and_refusals_shown() -> None:
    async def read(repository: str, commit: str, path: str) -> str:
        if path != "src/a b.py":
            raise LookupError(f"{path} is not in {repository} at {commit}")
        return "line one\n"

    async with Playground(read_source=read) as playground:
        base = f"{playground.url}/page/source?repository=flask&commit=abc&path="
        assert await get(f"{base}src/a%20b.py") == (200, '{"text": "line one\\n"}')
        status, text = await get(f"{base}nothing.py")
        assert (status, json.loads(text)) == (404, {"error": "nothing.py is not in flask at abc"})
        assert (await get(f"{playground.url}/source/own/er/blob/abc/src/a%20b.py"))[0] == 200
    async with Playground() as playground:
        assert (await get(f"{playground.url}/page/source?repository=a&commit=b&path=c"))[0] == 404


async def test_stopping_ends_open_feeds_and_retries() -> None:
    playground = Playground()
    await playground.start()
    async with aiohttp.ClientSession() as session, session.get(f"{playground.url}/page/events?user=maya") as response:
        await events_until(response, "state")
        await playground.say("maya", "general", "to nobody")
        await playground.stop()
        assert await response.content.read() is not None
    await playground.stop()
