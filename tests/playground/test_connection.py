"""Tokens, verbs, bodies, unknown methods, faults and rate limits: what holds for every Web API method."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from playground import Playground
from playground.defaults import BOT_ID, BOT_USER, ENGINEERING, GENERAL, TEAM_ID
from tests.playground.clock import Clock
from tests.playground.refusals import refused


async def test_the_bot_learns_who_it_is(client: AsyncWebClient) -> None:
    answer = await client.auth_test()
    assert (answer["team_id"], answer["user_id"], answer["bot_id"]) == (TEAM_ID, BOT_USER, BOT_ID)
    assert (await client.bots_info(bot=BOT_ID))["bot"]["user_id"] == BOT_USER
    assert (await client.team_info())["team"]["id"] == TEAM_ID


@pytest.mark.parametrize(
    ("token", "code"), [("", "not_authed"), ("xoxb-other", "invalid_auth"), ("xapp-playground", "not_allowed_token_type")]
)
async def test_a_wrong_token_is_refused(playground: Playground, token: str, code: str) -> None:
    async with aiohttp.ClientSession() as session:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with session.post(f"{playground.api_url}auth.test", headers=headers) as response:
            assert (response.status, await response.json()) == (200, {"ok": False, "error": code})


async def test_socket_mode_wants_the_app_token(playground: Playground, client: AsyncWebClient) -> None:
    assert await refused(client.apps_connections_open(app_token=playground.bot_token)) == "not_allowed_token_type"
    assert (await client.apps_connections_open(app_token=playground.app_token))["url"].startswith("ws://127.0.0.1:")


async def test_an_unknown_method_says_so(client: AsyncWebClient) -> None:
    assert await refused(client.api_call("chat.shout")) == "unknown_method"


async def test_arguments_may_come_as_query_form_or_json(playground: Playground) -> None:
    headers = {"Authorization": f"Bearer {playground.bot_token}"}
    url = f"{playground.api_url}chat.postMessage"
    block = '[{"type":"section","text":{"type":"mrkdwn","text":"hello"}}]'
    async with aiohttp.ClientSession(headers=headers) as session:
        for request in (
            session.get(url, params={"channel": GENERAL, "text": "a", "blocks": block}),
            session.post(url, data={"channel": GENERAL, "text": "b", "blocks": block}),
            session.post(url, json={"channel": GENERAL, "text": "c", "blocks": [{"type": "divider"}]}),
            session.post(f"{playground.api_url}chat.postMessage", data={"token": playground.bot_token, "channel": GENERAL, "text": "d"}),
        ):
            async with request as response:
                assert (await response.json())["ok"] is True
        async with session.post(url, data="{not json", headers={"Content-Type": "application/json"}) as response:
            assert (await response.json())["error"] == "invalid_json"
    assert [message.text for message in playground.messages("general")] == ["a", "b", "c", "d"]
    assert "token" not in playground.calls[3].arguments


async def test_a_fault_fails_so_many_calls_and_then_no_more(playground: Playground, client: AsyncWebClient) -> None:
    playground.faults.inject("chat.postMessage", "fatal_error", times=2, after=1)
    outcomes = [await refused(client.chat_postMessage(channel=GENERAL, text=str(number))) for number in range(4)]
    assert outcomes == ["", "fatal_error", "fatal_error", ""]
    assert [message.text for message in playground.messages("general")] == ["0", "3"]
    assert [call.ok for call in playground.calls if call.method == "chat.postMessage"] == [True, False, False, True]


async def test_an_injected_rate_limit_is_a_429_with_its_header(playground: Playground, client: AsyncWebClient) -> None:
    playground.faults.inject("chat.postMessage", retry_after=7)
    with pytest.raises(SlackApiError) as caught:
        await client.chat_postMessage(channel=GENERAL, text="hello")
    assert caught.value.response.status_code == 429
    assert caught.value.response["error"] == "ratelimited"
    assert caught.value.response.headers["Retry-After"] == "7"


async def test_the_sdks_own_retry_gets_through_a_rate_limit(playground: Playground, client: AsyncWebClient) -> None:
    client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    playground.faults.inject("chat.postMessage", retry_after=0)
    assert (await client.chat_postMessage(channel=GENERAL, text="hello"))["ok"] is True
    assert [call.status for call in playground.calls if call.method == "chat.postMessage"] == [429, 200]


async def test_streams_may_be_started_twenty_times_a_minute(playground: Playground, client: AsyncWebClient, clock: Clock) -> None:
    ts = await playground.say("maya", ENGINEERING, "hello")

    async def start() -> str:
        return await refused(
            client.chat_startStream(channel=ENGINEERING, thread_ts=ts, recipient_team_id=TEAM_ID, recipient_user_id="U0MAYA0001")
        )

    assert {await start() for _ in range(20)} == {""}
    assert await start() == "ratelimited"
    assert playground.calls[-1].status == 429
    clock.advance(61)
    assert await start() == ""


async def test_a_call_can_be_done_and_its_answer_lost(playground: Playground) -> None:
    client = AsyncWebClient(token=playground.bot_token, base_url=playground.api_url, retry_handlers=[])
    playground.faults.inject("chat.postMessage", drop=True)
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=GENERAL, text="done")
    playground.faults.inject("chat.postMessage", refuse=True)
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=GENERAL, text="never done")
    assert [message.text for message in playground.messages("general")] == ["done"]


async def test_a_call_can_be_slow_or_answer_rubbish(playground: Playground, client: AsyncWebClient) -> None:
    playground.faults.inject("auth.test", delay=0.2)
    begun = asyncio.get_running_loop().time()
    await client.auth_test()
    assert asyncio.get_running_loop().time() - begun >= 0.19
    playground.faults.inject("auth.test", status=503, body="<html>down</html>")
    with pytest.raises(SlackApiError) as caught:
        await client.auth_test()
    assert caught.value.response.status_code == 503
    playground.faults.inject("auth.test", "fatal_error", times=9)
    playground.faults.clear()
    assert (await client.auth_test())["ok"] is True


async def test_a_fault_may_choose_by_arguments(playground: Playground, client: AsyncWebClient) -> None:
    playground.faults.inject("chat.postMessage", "restricted_action", when=lambda arguments: arguments.get("channel") == GENERAL)
    assert await refused(client.chat_postMessage(channel=ENGINEERING, text="here")) == ""
    assert await refused(client.chat_postMessage(channel=GENERAL, text="there")) == "restricted_action"
