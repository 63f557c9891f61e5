from __future__ import annotations

import asyncio
import json
import logging
import time
from contextlib import AsyncExitStack
from importlib.resources import files

import pytest

from bot.slack_service import SlackService
from bot.web import SlackUncertain
from rag.errors import ConfigurationError
from tests.bot.conftest import House


@pytest.mark.parametrize(("setting", "variable"), [("bot_token", "SLACK_BOT_TOKEN"), ("app_token", "SLACK_APP_TOKEN")])
async def test_a_bad_token_is_said_at_once(house: House, setting: str, variable: str) -> None:
    service = house.service(**{setting: "xoxb-bad-and-secret"})
    began = time.monotonic()
    with pytest.raises(ConfigurationError, match=variable) as raised:
        await service.start()
    assert time.monotonic() - began < 5
    assert "bad-and-secret" not in str(raised.value)


async def test_a_workspace_that_is_not_there_is_said(house: House) -> None:
    service = house.service(base_url="http://127.0.0.1:9/api/")
    service.web._patience = 0.5
    with pytest.raises(SlackUncertain, match="cannot be reached"):
        await service.start()


async def test_a_closed_socket_is_opened_again(house: House, bot: SlackService) -> None:
    await house.playground.sockets.disconnect("refresh_requested")
    await house.reply(await house.say("@footnote how?"))


async def test_a_silent_socket_is_replaced(house: House, bot: SlackService) -> None:
    house.playground.sockets.silence()
    ts = await house.say("@footnote how?")
    await house.reply(ts, timeout=20)
    assert bot.healthy


async def test_stopping_twice_or_without_a_start_is_harmless(house: House) -> None:
    service = house.service()
    await service.stop()
    await service.start()
    await service.stop()
    await service.stop()
    assert not house.playground.sockets.connections


async def test_many_mentions_are_acknowledged_before_slack_retries(house: House, bot: SlackService, stack: AsyncExitStack) -> None:
    asked = await asyncio.gather(*(house.say(f"@footnote how {n}?", user=("maya", "tomas")[n % 2]) for n in range(60)))
    await house.playground.wait_settled(20)
    assert all(delivery.attempts == 1 for delivery in house.playground.deliveries)
    for ts in asked:
        await house.reply(ts, timeout=30)


async def test_nothing_said_and_no_token_is_in_the_program_log(house: House, bot: SlackService, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await house.reply(await house.say("@footnote how does zanzibar work?"))
    house.playground.faults.inject("chat.startStream", "invalid_arguments")
    await house.reply(await house.say("@footnote how does zanzibar work again?"))
    written = "\n".join(record.getMessage() + str(record.exc_text or "") for record in caplog.records)
    assert "answer" in written
    assert "zanzibar" not in written
    assert "xoxb-" not in written
    assert "xapp-" not in written


async def test_the_home_tab_lists_what_may_be_asked_about(house: House, bot: SlackService) -> None:
    await house.playground.open_home("maya")
    view = await house.playground.wait_for(lambda: house.playground.interactions.homes.get("U0MAYA0001"))
    shown = json.dumps(view)
    assert "`flask`" in shown
    assert "/repo use NAME" in shown
    await house.playground.open_home("priya")
    guest = await house.playground.wait_for(lambda: house.playground.interactions.homes.get("U0PRIYA003"))
    assert "flask" not in json.dumps(guest)


def test_the_manifest_asks_for_what_the_bot_uses() -> None:
    manifest = json.loads(files("bot").joinpath("manifest.json").read_text("utf-8"))
    assert manifest["settings"]["socket_mode_enabled"]
    assert set(manifest["settings"]["event_subscriptions"]["bot_events"]) == {
        "app_home_opened",
        "app_mention",
        "message.im",
        "reaction_added",
        "reaction_removed",
    }
    scopes = set(manifest["oauth_config"]["scopes"]["bot"])
    assert {"app_mentions:read", "chat:write", "commands", "channels:history", "channels:read", "reactions:read", "users:read"} <= scopes
    assert [command["command"] for command in manifest["features"]["slash_commands"]] == ["/repo"]
    assert len(manifest["features"]["agent_view"]["agent_description"]) <= 300
