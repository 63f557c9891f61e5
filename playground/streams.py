"""Streamed messages: started, appended to, stopped; dead after five minutes whatever happens."""

from __future__ import annotations

from playground import limits
from playground.arguments import Arguments
from playground.blocks import check_blocks, stored_blocks
from playground.errors import SlackError
from playground.model import Json, Message, Stream, StreamMode
from playground.workspace import Workspace

_TASK_STATES = ("pending", "in_progress", "complete", "error")


def start(workspace: Workspace, channel: str, thread_ts: str, recipient: str, arguments: Arguments) -> Message:
    """Post a message that streams. Raises: SlackError as chat.startStream does."""
    mode, chunks = content(arguments)
    bot = workspace.bot
    message = Message(
        ts=workspace.next_ts(),
        channel=channel,
        user=bot.id,
        thread_ts=thread_ts,
        bot_id=bot.bot_id,
        app_id=bot.app_id,
        team=bot.team_id,
        stream=Stream(
            started=workspace.clock(),
            recipient=recipient,
            mode=mode,
            task_display_mode=arguments.text("task_display_mode", "timeline"),
        ),
    )
    _apply(workspace, message, chunks)
    return workspace.post(message, event=False)


def append(workspace: Workspace, message: Message, arguments: Arguments) -> None:
    """Let a stream grow. Raises: SlackError as chat.appendStream does."""
    stream = living(workspace, message)
    if stream.stopped_by_user:
        raise SlackError("stopped_by_user")
    mode, chunks = content(arguments)
    if not chunks:
        raise SlackError("no_text")
    _same_mode(stream, mode)
    _check_room(message, chunks)
    workspace.change(message, lambda changed: _apply(workspace, changed, chunks), kind="streamed")


def stop(workspace: Workspace, message: Message, arguments: Arguments) -> None:
    """Finish a stream, with blocks under it. Raises: SlackError as chat.stopStream does."""
    stream = living(workspace, message)
    mode, chunks = content(arguments)
    if chunks:
        _same_mode(stream, mode)
    blocks = arguments.items("blocks") or []
    check_blocks(blocks)
    _check_room(message, [*chunks, {"type": "blocks", "blocks": blocks}] if blocks else chunks, extra=limits.MESSAGE_BLOCKS)
    metadata = arguments.object("metadata")

    def finish(changed: Message) -> None:
        _apply(workspace, changed, chunks)
        changed.blocks += stored_blocks(blocks, lambda: workspace.next_id("b"))
        if metadata is not None:
            changed.metadata = metadata
        stream.state = "completed"

    workspace.change(message, finish)


def living(workspace: Workspace, message: Message) -> Stream:
    """The stream of a message that still streams. Raises: SlackError message_not_in_streaming_state."""
    stream = message.stream
    if stream is not None and stream.state == "streaming" and workspace.clock() - stream.started >= limits.STREAM_SECONDS:
        expire(workspace, message)
    if stream is None or stream.state != "streaming":
        raise SlackError("message_not_in_streaming_state")
    return stream


def expire(workspace: Workspace, message: Message) -> None:
    """Slack closes a stream that nobody stopped."""

    def close(changed: Message) -> None:
        if changed.stream is not None:
            changed.stream.state = "expired"

    workspace.change(message, close)


def is_streaming(workspace: Workspace, message: Message) -> bool:
    """Whether a stream holds the message right now."""
    try:
        living(workspace, message)
    except SlackError:
        return False
    return True


def content(arguments: Arguments) -> tuple[StreamMode, list[Json]]:
    """(mode, chunks) of a call: `markdown_text` is one chunk. Raises: SlackError for both at once, too long or misshapen."""
    text, chunks = arguments.text("markdown_text"), arguments.items("chunks")
    if text and chunks:
        raise SlackError("cannot_provide_both_markdown_text_and_chunks")
    if text:
        if len(text) > limits.MARKDOWN_CHARACTERS:
            raise SlackError("msg_too_long")
        return "markdown_text", [{"type": "markdown_text", "text": text}]
    for chunk in chunks or []:
        _check_chunk(chunk)
    return ("chunks" if chunks else ""), chunks or []


def _check_chunk(chunk: Json) -> None:
    match chunk.get("type"):
        case "markdown_text":
            if not isinstance(chunk.get("text"), str):
                raise SlackError("invalid_chunks", "[ERROR] missing required field: text")
            if len(chunk["text"]) > limits.MARKDOWN_CHARACTERS:
                raise SlackError("msg_too_long")
        case "task_update":
            if not chunk.get("id") or not chunk.get("title") or chunk.get("status", "pending") not in _TASK_STATES:
                raise SlackError("invalid_chunks", "[ERROR] a task_update needs id, title and one of the four states")
        case "plan_update":
            if not chunk.get("title"):
                raise SlackError("invalid_chunks", "[ERROR] missing required field: title")
        case "blocks":
            check_blocks(chunk.get("blocks") or [])
        case kind:
            raise SlackError("invalid_chunks", f"[ERROR] unsupported type: {kind}")


def _same_mode(stream: Stream, mode: StreamMode) -> None:
    if stream.mode and mode and stream.mode != mode:
        raise SlackError("streaming_mode_mismatch")
    stream.mode = stream.mode or mode


def _check_room(message: Message, chunks: list[Json], extra: int = 0) -> None:
    """Fifty blocks by chunks, and fifty more under the finished message."""
    added = sum(len(chunk["blocks"]) for chunk in chunks if chunk["type"] == "blocks")
    if added and sum(block["type"] != "markdown" for block in message.blocks) + added > limits.MESSAGE_BLOCKS + extra:
        raise SlackError("msg_blocks_too_many")


def _apply(workspace: Workspace, message: Message, chunks: list[Json]) -> None:
    stream = message.stream
    if stream is None:
        return
    for chunk in chunks:
        match chunk["type"]:
            case "markdown_text":
                _add_text(workspace, message, chunk["text"])
            case "plan_update":
                stream.plan = chunk["title"]
            case "task_update":
                task = stream.tasks.setdefault(chunk["id"], {"details": ""})
                details = task["details"] + (chunk.get("details") or "")
                task |= {key: value for key, value in chunk.items() if value is not None} | {"details": details}
            case _:
                message.blocks += stored_blocks(chunk["blocks"], lambda: workspace.next_id("b"))


def _add_text(workspace: Workspace, message: Message, text: str) -> None:
    message.text += text
    if message.blocks and message.blocks[-1]["type"] == "markdown":
        message.blocks[-1]["text"] += text
    elif text:
        message.blocks.append({"type": "markdown", "block_id": workspace.next_id("b"), "text": text})
