"""What the app hears of what people do, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.web.async_client import AsyncWebClient

from playground import Playground, PlaygroundError
from playground.composer import compose
from playground.defaults import BOT_ID, BOT_USER, ENGINEERING, GENERAL, MAYA, TOMAS
from playground.workspace import Workspace


def events(heard: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [body["event"] for body in heard if body["event"]["type"] == kind or body["event"].get("subtype") == kind]


async def test_editing_and_deleting_are_told_with_what_was_there_before(playground: Playground, heard: list[dict[str, Any]]) -> None:
    ts = await playground.say("maya", "general", "one")
    await playground.edit("maya", "general", ts, "two")
    await playground.delete("maya", "general", ts)
    await playground.wait_settled()
    changed, deleted = events(heard, "message_changed")[0], events(heard, "message_deleted")[0]
    assert (changed["message"]["text"], changed["previous_message"]["text"], changed["channel_type"]) == ("two", "one", "channel")
    assert (deleted["deleted_ts"], deleted["previous_message"]["text"]) == (ts, "two")


async def test_a_mention_added_by_an_edit_is_a_mention(playground: Playground, heard: list[dict[str, Any]]) -> None:
    ts = await playground.say("maya", "general", "how?")
    await playground.edit("maya", "general", ts, "@footnote how?")
    await playground.wait_settled()
    assert [event["ts"] for event in events(heard, "app_mention")] == [ts]


async def test_reactions_are_told_with_the_author_of_the_message(
    playground: Playground, client: AsyncWebClient, heard: list[dict[str, Any]]
) -> None:
    posted = await client.chat_postMessage(channel=GENERAL, text="an answer")
    await playground.react("tomas", "general", posted["ts"], "+1")
    await playground.unreact("tomas", "general", posted["ts"], "+1")
    await playground.wait_settled()
    added, removed = events(heard, "reaction_added")[0], events(heard, "reaction_removed")[0]
    assert added["item"] == removed["item"] == {"type": "message", "channel": GENERAL, "ts": posted["ts"]}
    assert (added["user"], added["item_user"], added["reaction"]) == (TOMAS, BOT_USER, "+1")


async def test_the_app_hears_nothing_of_a_channel_it_is_not_in(playground: Playground, heard: list[dict[str, Any]]) -> None:
    await playground.say("maya", "random", "@footnote hello")
    assert "not in this channel" in playground.messages("random", seen_by="maya")[1].text
    await playground.join("footnote", "random", "maya")
    await playground.wait_settled()
    assert [body["event"]["type"] for body in heard] == ["member_joined_channel"]
    assert (heard[0]["event"]["user"], heard[0]["event"]["inviter"]) == (BOT_USER, MAYA)


async def test_its_own_messages_come_back_only_where_bolt_lets_them(
    playground: Playground, client: AsyncWebClient, heard: list[dict[str, Any]]
) -> None:
    await client.chat_postMessage(channel=GENERAL, text="mine")
    await playground.wait_settled()
    sent = [delivery.payload["event"] for delivery in playground.deliveries]
    assert [(event["user"], event["bot_id"]) for event in sent] == [(BOT_USER, BOT_ID)]
    assert heard == []  # Bolt ignores an app's own messages


async def test_another_bot_carries_its_bot_id(playground: Playground, heard: list[dict[str, Any]]) -> None:
    await playground.say("deploybot", "general", "@footnote deployed")
    await playground.wait_settled()
    assert {event["bot_id"] for event in [*events(heard, "message"), *events(heard, "app_mention")]} == {"B0DEPLOYBT"}


async def test_ephemerals_make_no_events(playground: Playground, client: AsyncWebClient, heard: list[dict[str, Any]]) -> None:
    await client.chat_postEphemeral(channel=GENERAL, user=MAYA, text="psst")
    await playground.wait_settled()
    assert playground.deliveries == []


async def test_a_reply_names_its_thread_and_the_root_does_not(playground: Playground, heard: list[dict[str, Any]]) -> None:
    root = await playground.say("maya", "general", "root")
    await playground.say("tomas", "general", "reply", root)
    await playground.wait_settled()
    first, second = events(heard, "message")
    assert "thread_ts" not in first
    assert (second["thread_ts"], second["parent_user_id"]) == (root, MAYA)


@pytest.mark.parametrize(
    ("who", "where", "problem"),
    [
        ("nobody", "general", "There is nobody called 'nobody': there are maya, tomas"),
        ("maya", "cellar", "There is no channel 'cellar': there are general"),
        ("tomas", "security", "tomas is not in security: members are maya, footnote"),
        ("priya", "general", "priya is not in general"),
    ],
)
async def test_what_a_person_cannot_do_is_explained(playground: Playground, who: str, where: str, problem: str) -> None:
    with pytest.raises(PlaygroundError, match=problem):
        await playground.say(who, where, "hello")


async def test_pressing_what_is_not_there_is_explained(playground: Playground, client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=GENERAL, text="x", blocks=[{"type": "divider"}])
    with pytest.raises(PlaygroundError, match="There is no element 'vote': there is nothing to press"):
        await playground.click("maya", "general", posted["ts"], "vote")
    with pytest.raises(PlaygroundError, match=r"There is no message 1\.2"):
        await playground.click("maya", "general", "1.2", "vote")
    with pytest.raises(PlaygroundError, match="cannot be run in a thread"):
        await playground.command("maya", "general", "/repo", "list", posted["ts"])


async def test_waiting_in_vain_says_what_the_app_did(playground: Playground, client: AsyncWebClient) -> None:
    await client.auth_test()
    with pytest.raises(TimeoutError, match=r"the app's last calls: auth\.test -> 200"):
        await playground.wait_for(lambda: False, timeout=0.05)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("@footnote hi", f"<@{BOT_USER}> hi"),
        (f"<@{BOT_USER}> hi", f"<@{BOT_USER}> hi"),
        ("ask @footnote.", f"ask <@{BOT_USER}>."),
        ("mail maya@playground.example", "mail maya@playground.example"),
        ("see #general", f"see <#{GENERAL}|general>"),
        ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
        ("see https://example.com/a?b=1&c=2.", "see <https://example.com/a?b=1&amp;c=2>."),
        ("`@footnote <b>`", "`@footnote &lt;b&gt;`"),
        ("@here now", "<!here> now"),
        ("@unknown person", "@unknown person"),
        ("<@U123|x> <script>", "&lt;@U123|x&gt; &lt;script&gt;"),
    ],
)
def test_what_is_typed_becomes_what_slack_stores(typed: str, text: str) -> None:
    assert compose(typed, Workspace(lambda: 0.0))[0] == text


@given(st.text(alphabet="<>&@#`|! abfootnoteU0/:.\n", max_size=60))
def test_nothing_typed_becomes_markup_that_slack_did_not_make(typed: str) -> None:
    workspace = Workspace(lambda: 0.0)
    text, _ = compose(typed, workspace)
    for piece in text.split("<")[1:]:
        inner = piece.partition(">")[0]
        assert ">" in piece
        assert inner.startswith(("@", "#", "!", "http"))


async def test_everything_is_in_the_channel_it_was_said_in(playground: Playground) -> None:
    ts = await playground.say("priya", "engineering", "hello")
    assert playground.workspace.message(ENGINEERING, ts).user == "U0PRIYA003"
