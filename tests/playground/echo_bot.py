"""The smallest real app: Bolt over Socket Mode, answering a mention with a stream that ends in thumbs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from playground import Playground

THUMBS = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "vote",
            "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "up:1"},
            "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "down:1"},
        }
    ],
}


def make_echo(playground: Playground, heard: list[dict[str, Any]]) -> AsyncApp:
    """An app that notes every event and action body it gets."""
    client = AsyncWebClient(token=playground.bot_token, base_url=playground.api_url)
    app = AsyncApp(client=client, process_before_response=False)

    @app.event("app_mention")
    async def mention(event: dict[str, Any], body: dict[str, Any], client: AsyncWebClient) -> None:
        heard.append(body)
        stream = await client.chat_stream(
            buffer_size=1, channel=event["channel"], thread_ts=event["ts"], recipient_team_id=event["team"], recipient_user_id=event["user"]
        )
        for word in ("You ", "said: ", event["text"]):
            await stream.append(markdown_text=word)
        await stream.stop(blocks=[THUMBS])

    for name in ("message", "reaction_added", "reaction_removed", "member_joined_channel", "app_home_opened", "agent_session_stopped"):

        @app.event(name)
        async def other(body: dict[str, Any]) -> None:
            heard.append(body)

    @app.action("vote")
    async def vote(ack: Any, body: dict[str, Any]) -> None:
        await ack()
        heard.append(body)

    @app.command("/repo")
    async def repo(ack: Any, command: dict[str, Any], respond: Any) -> None:
        await ack(f"acked {command['text']}")
        await respond(text=f"responded {command['text']}")

    return app


@asynccontextmanager
async def echo_bot(playground: Playground) -> AsyncIterator[list[dict[str, Any]]]:
    """Run the app; yields what it hears."""
    heard: list[dict[str, Any]] = []
    handler: Any = AsyncSocketModeHandler(make_echo(playground, heard), playground.app_token)
    await handler.connect_async()
    await playground.wait_connected()
    try:
        yield heard
    finally:
        await handler.close_async()
