"""chat.postMessage, update, delete, postEphemeral, getPermalink."""

from __future__ import annotations

from playground import limits
from playground.arguments import Arguments
from playground.blocks import check_blocks, stored_blocks
from playground.errors import SlackError
from playground.methods.registry import Call, method
from playground.model import Json, Message
from playground.streams import is_streaming
from playground.workspace import Workspace


def read_body(workspace: Workspace, arguments: Arguments) -> tuple[str, list[Json], list[Json]]:
    """(text, blocks, attachments) of a message to be. Raises: SlackError as Slack does."""
    text, markdown = arguments.text("text"), arguments.text("markdown_text")
    blocks, attachments = arguments.items("blocks"), arguments.items("attachments")
    if markdown:
        if text or blocks:
            raise SlackError("markdown_text_conflict")
        if len(markdown) > limits.MARKDOWN_CHARACTERS:
            raise SlackError("msg_too_long")
        text, blocks = markdown, [{"type": "markdown", "text": markdown}]
    if not text and not blocks and not attachments:
        raise SlackError("no_text")
    check_blocks(blocks or [])
    return text[: limits.TEXT_TRUNCATED_AT], stored_blocks(blocks or [], lambda: workspace.next_id("b")), attachments or []


@method("chat.postMessage")
def post_message(call: Call) -> Json:
    channel = call.channel(member=True)
    message = _by_the_bot(call, channel.id)
    message.username = call.arguments.text("username")
    message.metadata = _metadata(call.arguments)
    call.workspace.post(message)
    return {"channel": channel.id, "ts": message.ts, "message": message.as_slack()}


@method("chat.update")
def update(call: Call) -> Json:
    workspace, arguments = call.workspace, call.arguments
    channel = call.channel(member=True)
    message = workspace.message(channel.id, arguments.required("ts"))
    if message.user != workspace.bot.id:
        raise SlackError("cant_update_message")
    if is_streaming(workspace, message):
        raise SlackError("streaming_state_conflict")
    if len(arguments.text("text")) > limits.UPDATE_TEXT_CHARACTERS:
        raise SlackError("msg_too_long")
    text, blocks, attachments = read_body(workspace, arguments)
    metadata = _metadata(arguments)

    def edit(changed: Message) -> None:
        changed.text = text or changed.text
        changed.blocks = blocks
        changed.attachments = attachments
        changed.stream = None
        changed.edited = {"user": workspace.bot.id, "ts": workspace.next_ts()}
        changed.metadata = metadata if metadata is not None else changed.metadata

    workspace.change(message, edit)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": message.as_slack()}


@method("chat.delete")
def delete(call: Call) -> Json:
    channel = call.channel(member=True)
    message = call.workspace.message(channel.id, call.arguments.required("ts"))
    if message.user != call.workspace.bot.id:
        raise SlackError("cant_delete_message")
    call.workspace.delete(message)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.postEphemeral")
def post_ephemeral(call: Call) -> Json:
    channel = call.channel(member=True)
    person = call.arguments.required("user")
    if person not in channel.members:
        raise SlackError("user_not_in_channel")
    message = _by_the_bot(call, channel.id)
    message.only_for = person
    call.workspace.post(message)
    return {"message_ts": message.ts}


@method("chat.getPermalink")
def get_permalink(call: Call) -> Json:
    channel = call.channel()
    message = call.workspace.message(channel.id, call.arguments.required("message_ts"))
    link = f"{call.platform.url()}/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.is_reply:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


def _by_the_bot(call: Call, channel: str) -> Message:
    """What the arguments of a message say, not posted yet. Raises: SlackError."""
    workspace, arguments, bot = call.workspace, call.arguments, call.workspace.bot
    text, blocks, attachments = read_body(workspace, arguments)
    return Message(
        ts=workspace.next_ts(),
        channel=channel,
        user=bot.id,
        text=text,
        blocks=blocks,
        attachments=attachments,
        thread_ts=_root(workspace, channel, arguments.text("thread_ts")),
        bot_id=bot.bot_id,
        app_id=bot.app_id,
        team=bot.team_id,
    )


def _metadata(arguments: Arguments) -> Json | None:
    metadata = arguments.object("metadata")
    if metadata is not None and (not isinstance(metadata.get("event_type"), str) or not isinstance(metadata.get("event_payload"), dict)):
        raise SlackError("invalid_metadata_format")
    return metadata


def _root(workspace: Workspace, channel: str, thread_ts: str) -> str:
    """A reply to a reply belongs to the reply's thread."""
    found = workspace.messages[channel].get(thread_ts)
    return found.thread_ts or found.ts if found is not None else thread_ts
