"""chat.startStream and its kin: states, modes, lifetimes, recipients."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.models.messages.chunk import MarkdownTextChunk, TaskUpdateChunk
from slack_sdk.web.async_client import AsyncWebClient

from playground import Playground
from playground.defaults import ENGINEERING, MAYA, PARTNER_TEAM_ID, SHARED, STRANGER, TEAM_ID
from tests.playground.clock import Clock
from tests.playground.refusals import refused

RECIPIENT: dict[str, Any] = {"recipient_team_id": TEAM_ID, "recipient_user_id": MAYA}


@pytest.fixture
async def root(playground: Playground) -> str:
    return await playground.say("maya", "engineering", "a question")


@pytest.fixture
async def stream(client: AsyncWebClient, root: str) -> dict[str, Any]:
    """channel and ts of a running stream."""
    started = await client.chat_startStream(channel=ENGINEERING, thread_ts=root, **RECIPIENT)
    return {"channel": ENGINEERING, "ts": started["ts"]}


def text_of(playground: Playground, stream: dict[str, Any]) -> str:
    return playground.workspace.message(stream["channel"], stream["ts"]).text


async def test_a_stream_grows_and_is_finished(playground: Playground, client: AsyncWebClient, root: str, stream: dict[str, Any]) -> None:
    await client.chat_appendStream(**stream, markdown_text="Hello ")
    await client.chat_appendStream(**stream, markdown_text="**there**")
    assert text_of(playground, stream) == "Hello **there**"
    metadata = {"event_type": "answer", "event_payload": {"id": "1"}}
    stopped = await client.chat_stopStream(**stream, markdown_text=".", blocks=[{"type": "divider"}], metadata=metadata)
    assert stopped["message"]["text"] == "Hello **there**."
    assert [block["type"] for block in stopped["message"]["blocks"]] == ["markdown", "divider"]
    replies = await client.conversations_replies(channel=ENGINEERING, ts=root, include_all_metadata=True)
    assert replies["messages"][1]["metadata"] == metadata
    assert await refused(client.chat_appendStream(**stream, markdown_text="x")) == "message_not_in_streaming_state"
    assert await refused(client.chat_stopStream(**stream)) == "message_not_in_streaming_state"


async def test_outside_direct_messages_a_stream_needs_its_recipient(playground: Playground, client: AsyncWebClient, root: str) -> None:
    async def start(**recipient: Any) -> str:
        return await refused(client.chat_startStream(channel=ENGINEERING, thread_ts=root, **recipient))

    assert await start(recipient_user_id=MAYA) == "missing_recipient_team_id"
    assert await start(recipient_team_id=TEAM_ID) == "missing_recipient_user_id"
    assert await start(recipient_team_id=TEAM_ID, recipient_user_id="U0NOBODY00") == "user_not_found"
    assert await start(**RECIPIENT) == ""
    ts = await playground.say("maya", "@footnote", "hello")
    direct = playground.messages("@footnote", seen_by="maya")[0].channel
    assert await refused(client.chat_startStream(channel=direct, thread_ts=ts)) == ""


async def test_a_strangers_stream_needs_the_strangers_team(playground: Playground, client: AsyncWebClient) -> None:
    ts = await playground.say("jonas", "partners", "hello")

    async def start(team: str) -> str:
        recipient: dict[str, Any] = {"recipient_team_id": team, "recipient_user_id": STRANGER}
        return await refused(client.chat_startStream(channel=SHARED, thread_ts=ts, **recipient))

    assert await start(TEAM_ID) == "team_not_found"
    assert await start(PARTNER_TEAM_ID) == ""


async def test_a_stream_answers_something(client: AsyncWebClient) -> None:
    assert await refused(client.chat_startStream(channel=ENGINEERING, thread_ts="1.000001", **RECIPIENT)) == "message_not_found"
    assert await refused(client.chat_startStream(channel=ENGINEERING, thread_ts="", **RECIPIENT)) == "invalid_arguments"


async def test_the_two_modes_do_not_mix(client: AsyncWebClient, stream: dict[str, Any]) -> None:
    await client.chat_appendStream(**stream, markdown_text="text")
    chunk = MarkdownTextChunk(text="chunk")
    assert await refused(client.chat_appendStream(**stream, chunks=[chunk])) == "streaming_mode_mismatch"
    assert await refused(client.chat_stopStream(**stream, chunks=[chunk])) == "streaming_mode_mismatch"
    both = client.chat_appendStream(**stream, markdown_text="x", chunks=[chunk])
    assert await refused(both) == "cannot_provide_both_markdown_text_and_chunks"
    assert await refused(client.chat_stopStream(**stream)) == ""


async def test_chunks_carry_tasks_plans_and_blocks(playground: Playground, client: AsyncWebClient, stream: dict[str, Any]) -> None:
    task = TaskUpdateChunk(id="t", title="Searching", status="in_progress", details="first ")
    await client.chat_appendStream(**stream, chunks=[{"type": "plan_update", "title": "Plan"}, task])
    await client.chat_appendStream(**stream, chunks=[TaskUpdateChunk(id="t", title="Searched", status="complete", details="second")])
    await client.chat_appendStream(**stream, chunks=[{"type": "blocks", "blocks": [{"type": "divider"}]}, MarkdownTextChunk(text="after")])
    message = playground.workspace.message(stream["channel"], stream["ts"])
    assert message.stream is not None
    assert message.stream.plan == "Plan"
    assert message.stream.tasks["t"]["title"] == "Searched"
    assert message.stream.tasks["t"]["status"] == "complete"
    assert message.stream.tasks["t"]["details"] == "first second"
    assert [block["type"] for block in message.blocks] == ["divider", "markdown"]
    assert await refused(client.chat_appendStream(**stream, chunks=[{"type": "song"}])) == "invalid_chunks"
    bad_task = {"type": "task_update", "id": "t", "title": "x", "status": "lost"}
    assert await refused(client.chat_appendStream(**stream, chunks=[bad_task])) == "invalid_chunks"


async def test_limits_of_text_and_blocks(client: AsyncWebClient, stream: dict[str, Any]) -> None:
    divider = {"type": "divider"}
    assert await refused(client.chat_appendStream(**stream, chunks=[MarkdownTextChunk(text="x" * 12_000)])) == ""
    assert await refused(client.chat_appendStream(**stream, chunks=[MarkdownTextChunk(text="x" * 12_001)])) == "msg_too_long"
    assert await refused(client.chat_appendStream(**stream, chunks=[{"type": "blocks", "blocks": [divider] * 50}])) == ""
    assert await refused(client.chat_appendStream(**stream, chunks=[{"type": "blocks", "blocks": [divider]}])) == "msg_blocks_too_many"
    assert await refused(client.chat_stopStream(**stream, blocks=[divider] * 51)) == "invalid_blocks"
    assert await refused(client.chat_stopStream(**stream, blocks=[divider] * 50)) == ""


async def test_a_stream_dies_after_five_minutes_even_when_it_is_fed(
    playground: Playground, client: AsyncWebClient, stream: dict[str, Any], clock: Clock
) -> None:
    for _ in range(4):
        clock.advance(70)
        await client.chat_appendStream(**stream, markdown_text="x")
    clock.advance(21)
    assert await refused(client.chat_appendStream(**stream, markdown_text="y")) == "message_not_in_streaming_state"
    assert await refused(client.chat_stopStream(**stream)) == "message_not_in_streaming_state"
    assert text_of(playground, stream) == "xxxx"
    updated = await client.chat_update(channel=stream["channel"], ts=stream["ts"], text="all of it")
    assert updated["message"]["text"] == "all of it"


async def test_a_live_stream_cannot_be_updated(client: AsyncWebClient, stream: dict[str, Any]) -> None:
    assert await refused(client.chat_update(channel=stream["channel"], ts=stream["ts"], text="x")) == "streaming_state_conflict"


async def test_a_person_may_stop_it(
    playground: Playground, client: AsyncWebClient, heard: list[dict[str, Any]], root: str, stream: dict[str, Any]
) -> None:
    await client.chat_appendStream(**stream, markdown_text="so far")
    await playground.stop_stream("maya", "engineering", root)
    assert await refused(client.chat_appendStream(**stream, markdown_text="more")) == "stopped_by_user"
    assert await refused(client.chat_stopStream(**stream)) == ""
    assert text_of(playground, stream) == "so far"
    await playground.wait_for(lambda: any(body["event"]["type"] == "agent_session_stopped" for body in heard))
    event = next(body["event"] for body in heard if body["event"]["type"] == "agent_session_stopped")
    assert (event["thread_ts"], event["streaming_message_ts"], event["user"]) == (root, [stream["ts"]], MAYA)


async def test_the_sdks_helper_streams_with_its_buffer(playground: Playground, client: AsyncWebClient, root: str) -> None:
    helper = await client.chat_stream(channel=ENGINEERING, thread_ts=root, buffer_size=10, **RECIPIENT)
    for letter in "abcdefghijklmnopqrstuvw":
        await helper.append(markdown_text=letter)
    await helper.stop(markdown_text="xyz")
    assert playground.messages("engineering", root)[1].text == "abcdefghijklmnopqrstuvwxyz"
    streaming = [call.method for call in playground.calls if call.method.endswith("Stream")]
    assert streaming == ["chat.startStream", "chat.appendStream", "chat.stopStream"]
