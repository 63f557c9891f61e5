"""conversations.info, list, members, open, join, history, replies; users.conversations."""

from __future__ import annotations

from playground.arguments import Arguments
from playground.errors import SlackError
from playground.methods.registry import Call, method, page_of
from playground.model import Channel, Json, Message


@method("conversations.info")
def info(call: Call) -> Json:
    channel = call.channel()
    found = _as_slack(call, channel)
    if call.arguments.flag("include_num_members"):
        found["num_members"] = len(channel.members)
    return {"channel": found}


@method("conversations.list")
def list_(call: Call) -> Json:
    found = _of_types(call, [channel for channel in call.workspace.channels.values() if _knows(call, channel)])
    page, cursor = page_of(found, call.arguments, 100)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


@method("users.conversations")
def of_user(call: Call) -> Json:
    user = call.workspace.person(call.arguments.text("user", call.workspace.bot.id)).id
    theirs = [channel for channel in call.workspace.channels.values() if user in channel.members and _knows(call, channel)]
    page, cursor = page_of(_of_types(call, theirs), call.arguments, 100)
    return {"channels": page, "response_metadata": {"next_cursor": cursor}}


@method("conversations.members")
def members(call: Call) -> Json:
    page, cursor = page_of([{"id": member} for member in call.channel().members], call.arguments, 100)
    return {"members": [member["id"] for member in page], "response_metadata": {"next_cursor": cursor}}


@method("conversations.open")
def open_(call: Call) -> Json:
    workspace, arguments = call.workspace, call.arguments
    if arguments.text("channel"):
        channel = call.channel()
    else:
        users = arguments.values.get("users") or ""
        names = [name.strip() for name in (users if isinstance(users, list) else str(users).split(",")) if str(name).strip()]
        if len(names) != 1:
            raise SlackError("users_list_not_supplied" if not names else "not_enough_users")
        channel = workspace.direct(workspace.person(names[0]).id, workspace.bot.id)
    return {"channel": _as_slack(call, channel) if arguments.flag("return_im") else {"id": channel.id}}


@method("conversations.join")
def join(call: Call) -> Json:
    channel = call.channel()
    if channel.kind != "channel":
        raise SlackError("method_not_supported_for_channel_type")
    call.workspace.join(call.workspace.bot.id, channel)
    return {"channel": _as_slack(call, channel)}


@method("conversations.history")
def history(call: Call) -> Json:
    channel = _readable(call)
    newest_first = list(call.workspace.history(channel.id))[::-1]
    page, cursor = page_of(_between(newest_first, call.arguments, call), call.arguments, 100)
    return {"messages": page, "has_more": bool(cursor), "pin_count": 0, "response_metadata": {"next_cursor": cursor}}


@method("conversations.replies")
def replies(call: Call) -> Json:
    channel = _readable(call)
    wanted = call.arguments.required("ts")
    found = call.workspace.messages[channel.id].get(wanted)
    if found is None or found.only_for:
        raise SlackError("thread_not_found")
    thread = [found] if found.is_reply else call.workspace.thread(channel.id, found.ts)
    page, cursor = page_of(_between(thread, call.arguments, call), call.arguments, 1000, most=1000)
    return {"messages": page, "has_more": bool(cursor), "response_metadata": {"next_cursor": cursor}}


def _knows(call: Call, channel: Channel) -> bool:
    return not channel.is_private or call.workspace.bot.id in channel.members


def _as_slack(call: Call, channel: Channel) -> Json:
    return channel.as_slack(call.workspace.team_id, call.workspace.bot.id)


def _of_types(call: Call, channels: list[Channel]) -> list[Json]:
    names = {"public_channel": "channel", "private_channel": "group", "im": "im", "mpim": "mpim"}
    types = [kind.strip() for kind in call.arguments.text("types", "public_channel").split(",")]
    if not set(types) <= set(names):
        raise SlackError("invalid_types")
    wanted = {names[kind] for kind in types}
    exclude = call.arguments.flag("exclude_archived")
    return [_as_slack(call, channel) for channel in channels if channel.kind in wanted and not (exclude and channel.is_archived)]


def _readable(call: Call) -> Channel:
    channel = call.channel()
    if call.workspace.bot.id not in channel.members:
        raise SlackError("not_in_channel")
    return channel


def _between(messages: list[Message], arguments: Arguments, call: Call) -> list[Json]:
    try:
        oldest, latest = float(arguments.text("oldest", "0") or 0), float(arguments.text("latest", "inf") or "inf")
    except ValueError as error:
        raise SlackError("invalid_ts_latest" if "latest" in arguments else "invalid_ts_oldest") from error
    inclusive, metadata = arguments.flag("inclusive"), arguments.flag("include_all_metadata")
    found = []
    for message in messages:
        ts = float(message.ts)
        root = message.thread_ts == message.ts
        if oldest < ts < latest or (inclusive and ts in (oldest, latest)) or (root and "oldest" not in arguments):
            body = message.as_slack(metadata=metadata)
            if root:
                answers = [reply for reply in call.workspace.thread(message.channel, message.ts) if reply.is_reply]
                body |= {"reply_count": len(answers), "reply_users": sorted({reply.user for reply in answers})}
                if answers:
                    body["latest_reply"] = answers[-1].ts
            found.append(body)
    return found
