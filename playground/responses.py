"""What an app sends to a response URL, and what it sends back with an acknowledgement."""

from __future__ import annotations

from aiohttp import web

from playground.arguments import Arguments, read_arguments
from playground.errors import SlackError
from playground.interactions import Interactions, ResponseUrl
from playground.methods.chat import read_body
from playground.model import Json, Message
from playground.workspace import Workspace


class Responses:
    """POST /response/<team>/<key>."""

    def __init__(self, workspace: Workspace, interactions: Interactions) -> None:
        self._workspace = workspace
        self._interactions = interactions

    async def handle(self, request: web.Request) -> web.Response:
        """200 "ok", or Slack's error word with 404 (used up) or 400."""
        try:
            url = self._interactions.use_response_url(request.match_info["key"])
            self.take(url, await read_arguments(request))
        except SlackError as error:
            return web.json_response(error.body(), status=404 if error.code == "used_url" else 400)
        return web.Response(text="ok")

    def take(self, url: ResponseUrl, arguments: Arguments) -> Message | None:
        """Post, replace or delete, as the body says. Raises: SlackError."""
        original = url.message
        if arguments.flag("delete_original"):
            if original is not None:
                self._workspace.delete(original)
            return None
        text, blocks, attachments = read_body(self._workspace, arguments)
        if arguments.flag("replace_original") and original is not None:

            def replace(message: Message) -> None:
                message.text, message.blocks, message.attachments = text, blocks, attachments

            self._workspace.change(original, replace)
            return original
        bot, shown_to_all = self._workspace.bot, arguments.text("response_type", "ephemeral") == "in_channel"
        message = Message(
            ts=self._workspace.next_ts(),
            channel=url.channel,
            user=bot.id,
            text=text,
            blocks=blocks,
            attachments=attachments,
            thread_ts=arguments.text("thread_ts") or (original.thread_ts if original is not None and original.is_reply else ""),
            bot_id=bot.bot_id,
            app_id=bot.app_id,
            team=bot.team_id,
            only_for="" if shown_to_all else url.person,
        )
        return self._workspace.post(message)

    def take_ack(self, channel: str, person: str, payload: Json | None) -> Message | None:
        """The body that came with a slash command's acknowledgement."""
        if not payload or not (payload.get("text") or payload.get("blocks") or payload.get("attachments")):
            return None
        return self.take(ResponseUrl(channel, person, self._workspace.clock()), Arguments(payload))
