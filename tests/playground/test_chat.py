"""Posting, updating, deleting: places, people and limits."""

from __future__ import annotations

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground import Channel, Playground
from playground.defaults import BOT_USER, ENGINEERING, GENERAL, GUEST, MAYA, RANDOM
from tests.playground.refusals import complaints, refused


async def test_a_message_is_posted_updated_and_deleted(playground: Playground, client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=GENERAL, text="one", unfurl_links=False)
    assert posted["message"]["text"] == "one"
    assert posted["message"]["bot_id"]
    updated = await client.chat_update(channel=GENERAL, ts=posted["ts"], text="two")
    assert updated["message"]["edited"]["user"] == BOT_USER
    assert [message.text for message in playground.messages("general")] == ["two"]
    await client.chat_delete(channel=GENERAL, ts=posted["ts"])
    assert playground.messages("general") == []
    assert await refused(client.chat_update(channel=GENERAL, ts=posted["ts"], text="three")) == "message_not_found"
    assert await refused(client.chat_delete(channel=GENERAL, ts=posted["ts"])) == "message_not_found"


async def test_updating_with_text_alone_takes_the_blocks_away(playground: Playground, client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=GENERAL, text="x", blocks=[{"type": "divider"}])
    await client.chat_update(channel=GENERAL, ts=posted["ts"], text="plain")
    assert playground.messages("general")[0].blocks == []


async def test_places_that_cannot_be_written_to(playground: Playground, client: AsyncWebClient) -> None:
    playground.workspace.add_channel(Channel("G0OTHERS01", "others", "group", [MAYA]))
    playground.workspace.add_channel(Channel("C0OLDPLACE", "old", "channel", [MAYA, BOT_USER], is_archived=True))
    assert await refused(client.chat_postMessage(channel="C0NOWHERE0", text="x")) == "channel_not_found"
    assert await refused(client.chat_postMessage(channel=RANDOM, text="x")) == "not_in_channel"
    assert await refused(client.chat_postMessage(channel="G0OTHERS01", text="x")) == "channel_not_found"
    assert await refused(client.chat_postMessage(channel="C0OLDPLACE", text="x")) == "is_archived"
    assert await refused(client.chat_postMessage(channel=GENERAL, text="x", thread_ts="1.000001")) == "thread_not_found"
    assert await refused(client.api_call("chat.postMessage", json={"channel": GENERAL, "text": ""})) == "no_text"


async def test_what_others_wrote_cannot_be_changed(playground: Playground, client: AsyncWebClient) -> None:
    ts = await playground.say("maya", "general", "mine")
    assert await refused(client.chat_update(channel=GENERAL, ts=ts, text="yours")) == "cant_update_message"
    assert await refused(client.chat_delete(channel=GENERAL, ts=ts)) == "cant_delete_message"


@pytest.mark.parametrize(("length", "code"), [(4_000, ""), (4_001, "msg_too_long")])
async def test_an_update_takes_four_thousand_characters(client: AsyncWebClient, length: int, code: str) -> None:
    posted = await client.chat_postMessage(channel=GENERAL, text="x")
    assert await refused(client.chat_update(channel=GENERAL, ts=posted["ts"], text="y" * length)) == code


async def test_long_text_is_cut_when_posted(client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=GENERAL, text="x" * 40_001)
    assert len(posted["message"]["text"]) == 40_000


async def test_markdown_text_stands_alone_and_has_its_limit(client: AsyncWebClient) -> None:
    assert await refused(client.chat_postMessage(channel=GENERAL, markdown_text="x" * 12_000)) == ""
    assert await refused(client.chat_postMessage(channel=GENERAL, markdown_text="x" * 12_001)) == "msg_too_long"
    assert await refused(client.chat_postMessage(channel=GENERAL, markdown_text="x", text="y")) == "markdown_text_conflict"


async def test_a_reply_to_a_reply_joins_the_thread(playground: Playground, client: AsyncWebClient) -> None:
    root = await playground.say("maya", "general", "root")
    reply = await client.chat_postMessage(channel=GENERAL, thread_ts=root, text="reply")
    deeper = await client.chat_postMessage(channel=GENERAL, thread_ts=reply["ts"], text="deeper")
    assert deeper["message"]["thread_ts"] == root
    assert [message.text for message in playground.messages("general", root)] == ["root", "reply", "deeper"]


async def test_an_ephemeral_is_seen_by_one_person_and_by_no_method(playground: Playground, client: AsyncWebClient) -> None:
    sent = await client.chat_postEphemeral(channel=ENGINEERING, user=GUEST, text="psst")
    assert [message.text for message in playground.messages("engineering", seen_by="priya")] == ["psst"]
    assert playground.messages("engineering", seen_by="maya") == []
    assert (await client.conversations_history(channel=ENGINEERING))["messages"] == []
    assert await refused(client.chat_update(channel=ENGINEERING, ts=sent["message_ts"], text="x")) == "message_not_found"
    assert await refused(client.chat_postEphemeral(channel=GENERAL, user=GUEST, text="x")) == "user_not_in_channel"


async def test_metadata_is_kept_and_read_back(client: AsyncWebClient) -> None:
    metadata = {"event_type": "answer", "event_payload": {"answer_id": "a1"}}
    posted = await client.chat_postMessage(channel=GENERAL, text="x", metadata=metadata)
    with_it = await client.conversations_replies(channel=GENERAL, ts=posted["ts"], include_all_metadata=True)
    without = await client.conversations_replies(channel=GENERAL, ts=posted["ts"])
    assert with_it["messages"][0]["metadata"] == metadata
    assert "metadata" not in without["messages"][0]
    assert await refused(client.chat_postMessage(channel=GENERAL, text="x", metadata={"event_type": 1})) == "invalid_metadata_format"


async def test_a_permalink_leads_to_the_page(playground: Playground, client: AsyncWebClient) -> None:
    root = await playground.say("maya", "general", "root")
    reply = await client.chat_postMessage(channel=GENERAL, thread_ts=root, text="reply")
    link = (await client.chat_getPermalink(channel=GENERAL, message_ts=reply["ts"]))["permalink"]
    async with aiohttp.ClientSession() as session, session.get(link, allow_redirects=False) as response:
        assert response.headers["Location"] == f"/#in={GENERAL}&thread={root}"


async def test_a_bot_may_open_a_direct_message_by_writing_to_a_person(playground: Playground, client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=MAYA, text="hello")
    assert posted["channel"].startswith("D")
    assert (await client.conversations_open(users=MAYA))["channel"]["id"] == posted["channel"]
    assert [message.text for message in playground.messages("@footnote", seen_by="maya")] == ["hello"]


async def test_blocks_are_checked_where_a_message_is_made(client: AsyncWebClient) -> None:
    code, messages = await complaints(client.chat_postMessage(channel=GENERAL, text="x", blocks=[{"type": "section"}]))
    assert code == "invalid_blocks"
    assert messages == ["[ERROR] missing required field: text [json-pointer:/blocks/0]"]
    assert await refused(client.chat_postMessage(channel=GENERAL, text="x", blocks="[{")) == "invalid_blocks_format"
