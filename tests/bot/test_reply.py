"""Everything that can go wrong on the way into the thread: the whole answer stands there once."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.fences import open_fence
from bot.render import VOTE_ACTION
from bot.services import ReplySettings
from bot.slack_service import SlackService
from playground.model import Message
from tests.bot.conftest import House, closed
from tests.bot.scripted import Script

PIECES = ("First statement.[1]\n", "Second statement.[1]\n", "Third statement.[1]\n")


def shown(messages: list[Message]) -> str:
    """All text that a reader sees in them."""
    return "\n".join(block["text"] for message in messages for block in message.blocks if block["type"] == "markdown")


async def whole_and_once(house: House, ts: str) -> list[Message]:
    """Waits for the row to close, then looks."""
    await closed(house, ts)
    messages = house.replies(ts)
    text = shown(messages)
    for piece in PIECES:
        assert text.count(piece.strip()) == 1, text
    assert json.dumps([message.blocks for message in messages]).count(VOTE_ACTION) == 1
    return messages


@pytest.mark.parametrize(
    ("method", "fault"),
    [
        ("chat.startStream", {"error": "channel_type_not_supported"}),
        ("chat.startStream", {"error": "unknown_method", "times": 9}),
        ("chat.startStream", {"drop": True}),
        ("chat.startStream", {"refuse": True}),
        ("chat.startStream", {"status": 500, "body": "oops"}),
        ("chat.startStream", {"retry_after": 1}),
        ("chat.startStream", {"retry_after": 60}),
        ("chat.appendStream", {"error": "message_not_in_streaming_state"}),
        ("chat.appendStream", {"drop": True}),
        ("chat.appendStream", {"retry_after": 1}),
        ("chat.appendStream", {"retry_after": 60, "times": 9}),
        ("chat.appendStream", {"status": 503, "body": ""}),
        ("chat.stopStream", {"error": "message_not_in_streaming_state"}),
        ("chat.stopStream", {"error": "internal_error"}),
        ("chat.stopStream", {"drop": True}),
        ("chat.stopStream", {"refuse": True}),
        ("chat.stopStream", {"error": "invalid_blocks"}),
        ("chat.stopStream", {"retry_after": 1}),
    ],
)
async def test_a_stream_that_fails_ends_in_the_whole_answer(house: House, bot: SlackService, method: str, fault: dict[str, Any]) -> None:
    house.pipeline.scripts = [Script(PIECES, pause=0.12)]
    house.playground.faults.inject(method, **fault)
    ts = await house.say("@footnote how?")
    messages = await whole_and_once(house, ts)
    assert len(messages) == 1
    assert len(house.pipeline.asked) == 1


@pytest.mark.parametrize(
    "fault",
    [
        {"drop": True},
        {"refuse": True},
        {"status": 502, "body": "bad gateway"},
        {"retry_after": 1},
        {"drop": True, "times": 2},
        {"delay": 3.0},
    ],
)
async def test_a_post_that_may_have_been_taken_is_looked_for_before_it_is_repeated(house: House, fault: dict[str, Any], stack: Any) -> None:
    service = house.service(reply=ReplySettings(stream=False))
    await service.start()
    stack.push_async_callback(service.stop)
    house.pipeline.scripts = [Script(PIECES)]
    house.playground.faults.inject("chat.postMessage", **fault)
    ts = await house.say("@footnote how?")
    messages = await whole_and_once(house, ts)
    assert len(messages) == 1


async def test_blocks_that_slack_refuses_are_sent_as_text(house: House, stack: Any) -> None:
    service = house.service(reply=ReplySettings(stream=False))
    await service.start()
    stack.push_async_callback(service.stop)
    house.playground.faults.inject("chat.postMessage", error="invalid_blocks")
    ts = await house.say("@footnote how?")
    message = await house.reply(ts)
    assert "add_url_rule" in message.text


async def test_a_person_who_stops_the_stream_is_not_answered_again(house: House, bot: SlackService) -> None:
    house.pipeline.scripts = [Script(PIECES * 5, pause=0.12)]
    ts = await house.say("@footnote how?")
    await house.playground.wait_for(lambda: house.replies(ts))
    await house.playground.stop_stream("maya", "engineering", ts)
    await closed(house, ts)
    assert len(house.replies(ts)) == 1
    assert not house.called("chat.postMessage")
    assert not house.called("chat.update")


async def test_a_long_lived_stream_rolls_over_and_keeps_its_fences_whole(house: House, stack: Any) -> None:
    service = house.service(reply=replace(house.settings.reply, rollover=0.4))
    await service.start()
    stack.push_async_callback(service.stop)
    house.pipeline.scripts = [Script(("Look:\n", "```python\nx = 1\n", "y = 2\n", "z = 3\n", "```\n", "Done.[1]\n"), pause=0.25)]
    ts = await house.say("@footnote how?")
    await closed(house, ts)
    messages = house.replies(ts)
    assert len(messages) > 1
    assert all(not open_fence(shown([message])) for message in messages)
    text = shown(messages)
    for line in ("x = 1", "y = 2", "z = 3", "Done.[1]"):
        assert text.count(line) == 1
    assert [VOTE_ACTION in json.dumps(message.blocks) for message in messages] == [False] * (len(messages) - 1) + [True]


async def test_a_long_answer_takes_several_messages_each_within_the_limits(house: House, bot: SlackService) -> None:
    statements = tuple(f"Statement {number} " + "word " * 60 + "[1]\n" for number in range(60))
    house.pipeline.scripts = [Script(statements, pause=0.01)]
    ts = await house.say("@footnote how?")
    await closed(house, ts)
    messages = house.replies(ts)
    assert len(messages) >= 2
    text = shown(messages)
    assert all(text.count(f"Statement {number} ") == 1 for number in range(60))


async def test_an_append_budget_is_kept(house: House, stack: Any) -> None:
    service = house.service(reply=ReplySettings(append_interval=0.02, appends_per_minute=4))
    await service.start()
    stack.push_async_callback(service.stop)
    house.pipeline.scripts = [Script(tuple(f"Statement {n}.\n" for n in range(20)), pause=0.05)]
    ts = await house.say("@footnote how?")
    await closed(house, ts)
    assert len(house.called("chat.appendStream")) + len(house.called("chat.startStream")) <= 4
    assert all(f"Statement {n}." in shown(house.replies(ts)) for n in range(20))
