"""From what happens in the workspace to the events that Slack sends the app about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from playground.model import Channel, Json, Message
from playground.workspace import Change, Workspace


def events_of(change: Change, workspace: Workspace) -> Iterator[Json]:
    """The inner events for a change, for an app that is subscribed to everything Footnote's manifest names."""
    if change.kind == "opened":
        yield _home_opened(change, workspace)
        return
    channel = workspace.channels.get(change.channel)
    if channel is None or workspace.bot.id not in channel.members:
        return
    message = change.message
    if message is not None and message.only_for:
        return
    match change.kind:
        case "posted" if message is not None and change.details.get("event", True):
            yield from _posted(message, channel, workspace)
        case "changed" if message is not None and change.previous is not None:
            if message.stream is not None and message.edited is None and message.stream.state == "completed":
                yield _message(message, channel, workspace)
            else:
                yield from _changed(message, change.previous, channel, workspace)
        case "deleted" if message is not None:
            yield {
                "type": "message",
                "subtype": "message_deleted",
                "hidden": True,
                "channel": channel.id,
                "channel_type": channel.kind,
                "deleted_ts": message.ts,
                "previous_message": message.as_slack(metadata=False),
                "ts": (ts := workspace.next_ts()),
                "event_ts": ts,
            }
        case "reaction_added" | "reaction_removed" if message is not None:
            yield {
                "type": change.kind,
                "user": change.user,
                "reaction": change.details["reaction"],
                "item": {"type": "message", "channel": channel.id, "ts": message.ts},
                "item_user": message.user,
                "event_ts": workspace.next_ts(),
            }
        case "member_joined":
            yield {
                "type": "member_joined_channel",
                "user": change.user,
                "channel": channel.id,
                "channel_type": "G" if channel.kind == "group" else "C",
                "team": workspace.people[change.user].team_id,
                "inviter": change.details.get("inviter", ""),
                "event_ts": workspace.next_ts(),
            }
        case "stopped":
            yield {
                "type": "agent_session_stopped",
                "channel": channel.id,
                "user": change.user,
                **change.details,
                "event_ts": workspace.next_ts(),
            }
        case _:
            return


def envelope(event: Json, workspace: Workspace, fresh_id: Callable[[], str]) -> Json:
    """The outer event. Its `event_id` is new each time."""
    place = event.get("channel") or event.get("item", {}).get("channel", "")
    channel = workspace.channels.get(place)
    shared = channel is not None and channel.is_ext_shared
    return {
        "token": "playground",
        "team_id": workspace.team_id,
        "context_team_id": workspace.team_id,
        "context_enterprise_id": None,
        "api_app_id": workspace.bot.app_id,
        "event": event,
        "type": "event_callback",
        "event_id": fresh_id(),
        "event_time": int(workspace.clock()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": workspace.team_id,
                "user_id": workspace.bot.id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": shared,
        "event_context": f"4-{place}",
    }


def _posted(message: Message, channel: Channel, workspace: Workspace) -> Iterator[Json]:
    if _mentions(message.text, workspace) and channel.kind != "im" and message.user != workspace.bot.id:
        yield _mention(message, channel, workspace)
    yield _message(message, channel, workspace)


def _changed(message: Message, previous: Message, channel: Channel, workspace: Workspace) -> Iterator[Json]:
    human = message.user != workspace.bot.id and channel.kind != "im"
    if human and _mentions(message.text, workspace) and not _mentions(previous.text, workspace):
        yield _mention(message, channel, workspace) | {"edited": message.edited}
    ts = workspace.next_ts()
    yield {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "channel": channel.id,
        "channel_type": channel.kind,
        "message": message.as_slack(metadata=False) | {"source_team": message.team, "user_team": message.team},
        "previous_message": previous.as_slack(metadata=False),
        "ts": ts,
        "event_ts": ts,
    }


def _mentions(text: str, workspace: Workspace) -> bool:
    return f"<@{workspace.bot.id}>" in text or f"<@{workspace.bot.id}|" in text


def _message(message: Message, channel: Channel, workspace: Workspace) -> Json:
    body = message.as_slack(metadata=True) | {"channel": channel.id, "channel_type": channel.kind, "event_ts": message.ts}
    body.pop("streaming_state", None)
    if message.is_reply:
        root = workspace.messages[channel.id].get(message.thread_ts)
        if root is not None:
            body["parent_user_id"] = root.user
    else:
        body.pop("thread_ts", None)
    return body | _teams(message, channel)


def _mention(message: Message, channel: Channel, workspace: Workspace) -> Json:
    body: Json = {"type": "app_mention", "user": message.user, "text": message.text, "ts": message.ts, "team": message.team}
    if message.bot_id:
        body |= {"bot_id": message.bot_id, "app_id": message.app_id}
    if message.blocks:
        body["blocks"] = message.blocks
    if message.is_reply:
        root = workspace.messages[channel.id].get(message.thread_ts)
        body |= {"thread_ts": message.thread_ts, **({"parent_user_id": root.user} if root is not None else {})}
    return body | {"channel": channel.id, "event_ts": message.ts} | _teams(message, channel)


def _teams(message: Message, channel: Channel) -> Json:
    """In a shared channel an event says whose member wrote it."""
    return {"user_team": message.team, "source_team": message.team} if channel.is_ext_shared else {}


def _home_opened(change: Change, workspace: Workspace) -> Json:
    tab = change.details.get("tab", "home")
    event: Json = {
        "type": "app_home_opened",
        "user": change.user,
        "channel": workspace.direct(change.user, workspace.bot.id).id,
        "tab": tab,
        "event_ts": workspace.next_ts(),
    }
    view = change.details.get("view")
    return event | ({"view": view} if view and tab == "home" else {})
