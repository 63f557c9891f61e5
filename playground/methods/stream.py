"""chat.startStream, appendStream, stopStream."""

from __future__ import annotations

from playground import streams
from playground.errors import SlackError
from playground.methods.registry import Call, method
from playground.model import Json


@method("chat.startStream")
def start_stream(call: Call) -> Json:
    workspace, arguments = call.workspace, call.arguments
    channel = call.channel(member=True)
    thread_ts = arguments.text("thread_ts")
    if not thread_ts:
        raise SlackError("invalid_arguments", "[ERROR] missing required field: thread_ts")
    root = workspace.messages[channel.id].get(thread_ts)
    if root is None or root.only_for:
        raise SlackError("message_not_found")
    team, person = arguments.text("recipient_team_id"), arguments.text("recipient_user_id")
    if channel.kind != "im":
        if not team:
            raise SlackError("missing_recipient_team_id")
        if not person:
            raise SlackError("missing_recipient_user_id")
    if person and person not in workspace.people:
        raise SlackError("user_not_found")
    if person and team and workspace.people[person].team_id != team:
        raise SlackError("team_not_found")
    if arguments.text("task_display_mode", "timeline") not in ("timeline", "plan", "dense"):
        raise SlackError("invalid_arguments", "[ERROR] must be one of timeline, plan, dense [json-pointer:/task_display_mode]")
    message = streams.start(workspace, channel.id, root.thread_ts or root.ts, person, arguments)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.appendStream")
def append_stream(call: Call) -> Json:
    channel = call.channel(member=True)
    message = call.workspace.message(channel.id, call.arguments.required("ts"))
    streams.append(call.workspace, message, call.arguments)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.stopStream")
def stop_stream(call: Call) -> Json:
    workspace, arguments = call.workspace, call.arguments
    channel = call.channel(member=True)
    message = workspace.message(channel.id, arguments.required("ts"))
    status = arguments.text("session_status", "active")
    if status not in ("active", "processing", "suspended", "closed"):
        raise SlackError("invalid_arguments", "[ERROR] unknown session_status")
    streams.stop(workspace, message, arguments)
    if message.thread_ts:
        call.platform.interactions.set_session(channel.id, message.thread_ts, status)
    return {"channel": channel.id, "ts": message.ts, "message": message.as_slack()}
