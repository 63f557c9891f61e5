"""A real Bolt app lives in the playground as it would in Slack."""

from __future__ import annotations

from typing import Any

from playground import Playground
from playground.defaults import BOT_USER, ENGINEERING, MAYA, PARTNER_TEAM_ID, STRANGER


async def test_a_mention_is_answered_by_a_stream_in_its_thread(playground: Playground, heard: list[dict[str, Any]]) -> None:
    ts = await playground.say("maya", "engineering", "@footnote where is <b> & co?")

    def answered() -> bool:
        thread = playground.messages("engineering", ts)
        return len(thread) == 2 and thread[1].stream is not None and thread[1].stream.state == "completed"

    await playground.wait_for(answered)
    answer = playground.messages("engineering", ts)[1]
    assert answer.text == f"You said: <@{BOT_USER}> where is &lt;b&gt; &amp; co?"
    assert [block["type"] for block in answer.blocks] == ["markdown", "context_actions"]
    assert [call.method for call in playground.calls if call.method.startswith("chat.")] == [
        "chat.startStream",
        "chat.appendStream",
        "chat.appendStream",
        "chat.stopStream",
    ]


async def test_one_message_arrives_as_mention_and_as_message_with_two_event_ids(
    playground: Playground, heard: list[dict[str, Any]]
) -> None:
    ts = await playground.say("maya", "engineering", "@footnote hello")
    await playground.wait_for(lambda: len([body for body in heard if body["event"].get("ts") == ts]) == 2)
    twins = {body["event"]["type"]: body for body in heard if body["event"].get("ts") == ts}
    assert set(twins) == {"app_mention", "message"}
    assert twins["app_mention"]["event_id"] != twins["message"]["event_id"]
    assert "channel_type" not in twins["app_mention"]["event"]
    assert twins["message"]["event"]["channel_type"] == "channel"
    assert twins["message"]["event"]["user"] == MAYA
    assert twins["message"]["event"]["channel"] == ENGINEERING


async def test_thumbs_reach_the_app_with_their_value(playground: Playground, heard: list[dict[str, Any]]) -> None:
    ts = await playground.say("maya", "engineering", "@footnote hello")
    await playground.wait_for(lambda: any(len(message.blocks) == 2 for message in playground.messages("engineering", ts)))
    answer = playground.messages("engineering", ts)[1]
    delivery = await playground.click("tomas", "engineering", answer.ts, "vote", "down:1")
    assert delivery.acknowledged
    action = await playground.wait_for(lambda: [body for body in heard if body.get("type") == "block_actions"])
    assert action[0]["actions"][0]["value"] == "down:1"
    assert action[0]["actions"][0]["type"] == "feedback_buttons"
    assert action[0]["container"] == {
        "type": "message",
        "message_ts": answer.ts,
        "channel_id": ENGINEERING,
        "is_ephemeral": False,
        "thread_ts": ts,
    }
    assert answer.pressed == {action[0]["user"]["id"]: {"vote": "down:1"}}


async def test_a_command_is_answered_by_its_ack_and_by_its_response_url(playground: Playground, heard: list[dict[str, Any]]) -> None:
    delivery = await playground.command("maya", "engineering", "/repo", "list")
    assert delivery.acknowledged
    await playground.wait_for(lambda: len(playground.messages("engineering", seen_by="maya")) == 2)
    assert {message.text for message in playground.messages("engineering", seen_by="maya")} == {"acked list", "responded list"}
    assert playground.messages("engineering") == []
    assert playground.messages("engineering", seen_by="tomas") == []


async def test_a_direct_message_is_a_message_and_no_mention(playground: Playground, heard: list[dict[str, Any]]) -> None:
    await playground.say("maya", "@footnote", "hello @footnote")
    await playground.wait_settled()
    assert [(body["event"]["type"], body["event"]["channel_type"]) for body in heard] == [("message", "im")]


async def test_a_stranger_in_a_shared_channel_carries_its_own_team(playground: Playground, heard: list[dict[str, Any]]) -> None:
    await playground.say("jonas", "partners", "@footnote hello")
    await playground.wait_for(lambda: any(body["event"]["type"] == "app_mention" for body in heard))
    body = next(body for body in heard if body["event"]["type"] == "app_mention")
    assert body["is_ext_shared_channel"] is True
    assert body["event"]["user"] == STRANGER
    assert body["event"]["user_team"] == PARTNER_TEAM_ID
