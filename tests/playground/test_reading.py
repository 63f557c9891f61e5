"""What an app can read: conversations, people, history, reactions."""

from __future__ import annotations

from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from playground import Channel, Playground
from playground.defaults import BOT_USER, ENGINEERING, GENERAL, GUEST, MAYA, PRIVATE, RANDOM, SHARED, STRANGER, TOMAS
from tests.playground.refusals import refused


async def channels_of(client: AsyncWebClient, types: str) -> set[str]:
    return {channel["id"] for channel in (await client.conversations_list(types=types))["channels"]}


async def test_channels_are_listed_by_type_and_private_ones_only_to_members(playground: Playground, client: AsyncWebClient) -> None:
    playground.workspace.add_channel(Channel("G0OTHERS01", "others", "group", [MAYA]))
    await playground.say("maya", "@footnote", "hello")
    assert await channels_of(client, "public_channel") == {GENERAL, ENGINEERING, RANDOM, SHARED}
    assert await channels_of(client, "private_channel") == {PRIVATE}
    assert len(await channels_of(client, "im")) == 1
    assert await refused(client.conversations_list(types="cellar")) == "invalid_types"
    assert await refused(client.conversations_info(channel="G0OTHERS01")) == "channel_not_found"


async def test_a_channel_says_who_may_hear(client: AsyncWebClient) -> None:
    async def info(channel: str) -> dict[str, Any]:
        found: dict[str, Any] = (await client.conversations_info(channel=channel, include_num_members=True))["channel"]
        return found

    assert (await info(PRIVATE))["is_private"] is True
    assert (await info(SHARED))["is_ext_shared"] is True
    assert (await info(RANDOM))["is_member"] is False
    assert (await info(GENERAL))["num_members"] == 4
    assert (await client.conversations_members(channel=ENGINEERING))["members"] == [MAYA, TOMAS, GUEST, BOT_USER]


async def test_people_are_told_apart(client: AsyncWebClient) -> None:
    assert (await client.users_info(user=GUEST))["user"]["is_restricted"] is True
    stranger = (await client.users_info(user=STRANGER))["user"]
    assert stranger["is_stranger"] is True
    assert "email" not in stranger["profile"]
    assert STRANGER not in {user["id"] for user in (await client.users_list())["members"]}
    assert await refused(client.users_info(user="U0NOBODY00")) == "user_not_found"
    assert (await client.users_lookupByEmail(email="maya@playground.example"))["user"]["id"] == MAYA
    assert await refused(client.users_lookupByEmail(email="nobody@playground.example")) == "users_not_found"


async def test_history_is_newest_first_without_replies_and_in_pages(playground: Playground, client: AsyncWebClient) -> None:
    stamps = [await playground.say("maya", "general", str(number)) for number in range(5)]
    await playground.say("maya", "general", "reply", stamps[0])
    first = await client.conversations_history(channel=GENERAL, limit=2)
    assert [message["text"] for message in first["messages"]] == ["4", "3"]
    assert first["has_more"] is True
    pages = [page["messages"] async for page in first]
    assert [message["text"] for page in pages for message in page] == ["4", "3", "2", "1", "0"]
    newer = await client.conversations_history(channel=GENERAL, oldest=stamps[2])
    assert [message["text"] for message in newer["messages"]] == ["4", "3"]
    inclusive = await client.conversations_history(channel=GENERAL, oldest=stamps[2], latest=stamps[3], inclusive=True)
    assert [message["text"] for message in inclusive["messages"]] == ["3", "2"]
    assert await refused(client.conversations_history(channel=GENERAL, cursor="x")) == "invalid_cursor"
    assert await refused(client.conversations_history(channel=RANDOM)) == "not_in_channel"


async def test_replies_are_a_thread_oldest_first(playground: Playground, client: AsyncWebClient) -> None:
    root = await playground.say("maya", "general", "root")
    reply = await playground.say("tomas", "general", "reply", root)
    thread = (await client.conversations_replies(channel=GENERAL, ts=root))["messages"]
    assert [message["text"] for message in thread] == ["root", "reply"]
    assert (thread[0]["reply_count"], thread[0]["latest_reply"], thread[1]["thread_ts"]) == (1, reply, root)
    alone = (await client.conversations_replies(channel=GENERAL, ts=reply))["messages"]
    assert [message["text"] for message in alone] == ["reply"]
    assert await refused(client.conversations_replies(channel=GENERAL, ts="1.000001")) == "thread_not_found"


async def test_reactions_are_added_once_and_taken_back(playground: Playground, client: AsyncWebClient) -> None:
    ts = await playground.say("maya", "general", "hello")
    where: dict[str, Any] = {"channel": GENERAL, "timestamp": ts}
    assert await refused(client.reactions_add(name="eyes", **where)) == ""
    assert await refused(client.reactions_add(name="eyes", **where)) == "already_reacted"
    await playground.react("tomas", "general", ts, "eyes")
    found = (await client.reactions_get(**where))["message"]["reactions"]
    assert found == [{"name": "eyes", "users": [BOT_USER, TOMAS], "count": 2}]
    assert await refused(client.reactions_remove(name="eyes", **where)) == ""
    assert await refused(client.reactions_remove(name="eyes", **where)) == "no_reaction"
    assert await refused(client.reactions_add(name="no such", **where)) == "invalid_name"
    assert await refused(client.reactions_add(name="eyes", channel=GENERAL, timestamp="1.000001")) == "message_not_found"


async def test_timestamps_never_repeat(playground: Playground) -> None:
    stamps = [playground.workspace.next_ts() for _ in range(1_000)]
    assert sorted(set(stamps), key=float) == stamps
