"""App Home, modals, statuses, response URLs."""

from __future__ import annotations

from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.webhook.async_client import AsyncWebhookClient

from playground import Playground
from playground.defaults import BOT_USER, ENGINEERING, GENERAL, MAYA
from tests.playground.clock import Clock
from tests.playground.refusals import refused

BUTTON = {"type": "button", "text": {"type": "plain_text", "text": "Go"}, "action_id": "vote", "value": "1"}
HOME: dict[str, Any] = {"type": "home", "blocks": [{"type": "actions", "elements": [BUTTON]}]}
MODAL: dict[str, Any] = {
    "type": "modal",
    "title": {"type": "plain_text", "text": "Why?"},
    "submit": {"type": "plain_text", "text": "Send"},
    "private_metadata": "a1",
    "blocks": [
        {
            "type": "input",
            "block_id": "reason",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "text"},
        }
    ],
}


async def test_a_home_tab_is_published_pressed_and_guarded_by_its_hash(
    playground: Playground, client: AsyncWebClient, heard: list[dict[str, Any]]
) -> None:
    await playground.open_home("maya")
    await playground.wait_for(lambda: any(body.get("event", {}).get("type") == "app_home_opened" for body in heard))
    assert heard[0]["event"]["tab"] == "home"
    view = (await client.views_publish(user_id=MAYA, view=HOME))["view"]
    assert await refused(client.views_publish(user_id=MAYA, view=HOME, hash="old")) == "hash_conflict"
    assert await refused(client.views_publish(user_id=MAYA, view=HOME, hash=view["hash"])) == ""
    assert await refused(client.views_publish(user_id=BOT_USER, view=HOME)) == "invalid_arguments"
    assert await refused(client.views_publish(user_id=MAYA, view=MODAL)) == "invalid_arguments"
    assert (await playground.click_home("maya", "vote")).acknowledged
    pressed = await playground.wait_for(lambda: [body for body in heard if body.get("type") == "block_actions"])
    assert pressed[0]["view"]["id"] == playground.interactions.homes[MAYA]["id"]


async def test_a_modal_opens_within_three_seconds_of_a_press_and_once(playground: Playground, client: AsyncWebClient, clock: Clock) -> None:
    trigger = playground.interactions.trigger(MAYA)
    assert await refused(client.views_open(trigger_id="made up", view=MODAL)) == "invalid_trigger_id"
    opened = (await client.views_open(trigger_id=trigger, view=MODAL))["view"]
    assert opened["private_metadata"] == "a1"
    assert await refused(client.views_open(trigger_id=trigger, view=MODAL)) == "exchanged_trigger_id"
    late = playground.interactions.trigger(MAYA)
    clock.advance(3.5)
    assert await refused(client.views_open(trigger_id=late, view=MODAL)) == "expired_trigger_id"
    untitled = MODAL | {"title": {"type": "plain_text", "text": "x" * 25}}
    assert await refused(client.views_open(trigger_id=playground.interactions.trigger(MAYA), view=untitled)) == "invalid_arguments"


async def test_a_submitted_modal_reaches_the_app_with_its_values(playground: Playground, client: AsyncWebClient) -> None:
    opened = (await client.views_open(trigger_id=playground.interactions.trigger(MAYA), view=MODAL))["view"]
    values = {"reason": {"text": {"type": "plain_text_input", "value": "wrong file"}}}
    delivery = await playground.submit("maya", opened["id"], values)
    assert delivery.given_up
    assert delivery.payload["type"] == "view_submission"
    assert delivery.payload["view"]["state"]["values"] == values
    assert delivery.payload["view"]["private_metadata"] == "a1"
    assert opened["id"] in playground.interactions.modals


async def test_a_status_lasts_two_minutes_or_until_the_reply(playground: Playground, client: AsyncWebClient, clock: Clock) -> None:
    root = await playground.say("maya", "engineering", "hello")

    async def set_status() -> str:
        await client.assistant_threads_setStatus(channel_id=ENGINEERING, thread_ts=root, status="is thinking…", loading_messages=["one"])
        return playground.interactions.status(ENGINEERING, root)

    assert await set_status() == "is thinking…"
    clock.advance(121)
    assert playground.interactions.status(ENGINEERING, root) == ""
    assert await set_status() == "is thinking…"
    await client.chat_postMessage(channel=ENGINEERING, thread_ts=root, text="done")
    assert playground.interactions.status(ENGINEERING, root) == ""
    unknown = client.assistant_threads_setStatus(channel_id=ENGINEERING, thread_ts="1.000001", status="x")
    assert await refused(unknown) == "invalid_thread_ts"
    many = client.assistant_threads_setStatus(channel_id=ENGINEERING, thread_ts=root, status="x", loading_messages=["m"] * 11)
    assert await refused(many) == "invalid_arguments"


async def test_an_agent_session_has_one_of_four_states(playground: Playground, client: AsyncWebClient) -> None:
    root = await playground.say("maya", "engineering", "hello")
    await client.agents_sessions_setStatus(channel_id=ENGINEERING, thread_ts=root, status="processing", title="A question")
    assert playground.interactions.sessions[(ENGINEERING, root)] == "processing"
    assert await refused(client.agents_sessions_setStatus(channel_id=ENGINEERING, thread_ts=root, status="asleep")) == "invalid_arguments"


async def test_a_response_url_takes_five_answers_in_half_an_hour(playground: Playground, clock: Clock) -> None:
    hook = AsyncWebhookClient(playground.interactions.response_url(GENERAL, MAYA))
    for number in range(5):
        assert (await hook.send(text=str(number), response_type="in_channel" if number == 0 else None)).status_code == 200
    sixth = await hook.send(text="6")
    assert (sixth.status_code, "used_url" in sixth.body) == (404, True)
    assert [message.text for message in playground.messages("general")] == ["0"]
    assert len(playground.messages("general", seen_by="maya")) == 5
    late = AsyncWebhookClient(playground.interactions.response_url(GENERAL, MAYA))
    clock.advance(30 * 60 + 1)
    assert (await late.send(text="late")).status_code == 404


async def test_a_response_url_may_replace_or_delete_what_was_pressed(playground: Playground, client: AsyncWebClient) -> None:
    await client.chat_postMessage(channel=GENERAL, text="pick", blocks=HOME["blocks"])
    message = playground.messages("general")[0]
    hook = AsyncWebhookClient(playground.interactions.response_url(GENERAL, MAYA, message))
    await hook.send(text="picked", replace_original=True)
    assert [message.text for message in playground.messages("general")] == ["picked"]
    await hook.send(delete_original=True)
    assert playground.messages("general") == []
    async with aiohttp.ClientSession() as session, session.post(hook.url, json={"text": ""}) as response:
        assert response.status == 400
