"""What the page shows one person: a first whole picture, then every change that this person may see."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from playground.interactions import Interactions
from playground.model import Channel, Json, Message, Person
from playground.socket_mode import Sockets
from playground.workspace import Change, Workspace

_MESSAGE_CHANGES = ("posted", "changed", "streamed", "pressed", "ephemeral", "reaction_added", "reaction_removed")
_WAITING_AT_MOST = 2_000


class Feed:
    """One open page's queue of (event name, body). It ends with None: closed, or the page did not keep up and must start anew."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.queue: asyncio.Queue[tuple[str, Json] | None] = asyncio.Queue()

    def put(self, name: str, body: Json) -> None:
        if self.queue.qsize() >= _WAITING_AT_MOST:
            self.end()
        else:
            self.queue.put_nowait((name, body))

    def end(self) -> None:
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(None)


class Feeds:
    """All open pages."""

    def __init__(self, workspace: Workspace, interactions: Interactions, sockets: Sockets, commands: tuple[str, ...]) -> None:
        self._workspace = workspace
        self._interactions = interactions
        self._sockets = sockets
        self._commands = commands
        self._feeds: list[Feed] = []
        workspace.listeners.append(self._heard)

    def open(self, person: Person) -> Feed:
        """A feed that starts with the whole picture."""
        feed = Feed(person)
        self._feeds.append(feed)
        feed.put("state", self.picture(person))
        return feed

    def close(self, feed: Feed) -> None:
        if feed in self._feeds:
            self._feeds.remove(feed)

    def end_all(self) -> None:
        for feed in self._feeds:
            feed.end()

    def picture(self, person: Person) -> Json:
        """Everything this person sees."""
        workspace = self._workspace
        return {
            "team": workspace.team_name,
            "user": person.id,
            "bot": workspace.bot.id,
            "commands": list(self._commands),
            "connected": bool(self._sockets.connections),
            "people": [_person(someone) for someone in workspace.people.values()],
            "channels": [self._channel(channel, person) for channel in self._visible(person)],
            "messages": [
                self._message(message, person)
                for channel in self._visible(person)
                for message in workspace.messages[channel.id].values()
                if message.only_for in ("", person.id)
            ],
            "statuses": [
                {"channel": channel, "thread_ts": thread, "status": self._interactions.status(channel, thread)}
                for channel, thread in self._interactions.statuses
            ],
            "home": self._interactions.homes.get(person.id),
            "modal": next((view for owner, view in self._interactions.modals.values() if owner == person.id), None),
        }

    def _visible(self, person: Person) -> Iterator[Channel]:
        return (channel for channel in self._workspace.channels.values() if person.id in channel.members)

    def _channel(self, channel: Channel, person: Person) -> Json:
        other = next((member for member in channel.members if member != person.id), person.id)
        name = channel.name or self._workspace.people[other].real_name
        return {
            "id": channel.id,
            "name": name,
            "kind": channel.kind,
            "purpose": channel.purpose,
            "shared": channel.is_ext_shared,
            "members": channel.members,
            "other": other if channel.kind == "im" else "",
        }

    def _message(self, message: Message, person: Person) -> Json:
        body = message.as_slack(metadata=False) | {
            "channel": message.channel,
            "only_for_you": bool(message.only_for),
            "pressed": message.pressed.get(person.id, {}),
            "thread_ts": message.thread_ts,
        }
        if message.stream is not None:
            body["stream"] = {
                "state": message.stream.state,
                "plan": message.stream.plan,
                "tasks": list(message.stream.tasks.values()),
                "stopped": message.stream.stopped_by_user,
            }
        return body

    def _heard(self, change: Change) -> None:
        for feed in self._feeds:
            for name, body in self._shown(change, feed.person):
                feed.put(name, body)

    def _shown(self, change: Change, person: Person) -> Iterator[tuple[str, Json]]:
        channel = self._workspace.channels.get(change.channel)
        inside = channel is not None and person.id in channel.members
        message = change.message
        if change.kind in _MESSAGE_CHANGES and inside and message is not None:
            if message.only_for not in ("", person.id) or (change.kind == "pressed" and change.user != person.id):
                return
            yield "message", self._message(message, person)
            if change.kind == "posted" and message.is_reply:  # the root has become a thread
                root = self._workspace.messages[message.channel].get(message.thread_ts)
                if root is not None:
                    yield "message", self._message(root, person)
        elif change.kind == "deleted" and inside and message is not None and message.only_for in ("", person.id):
            yield "gone", {"channel": message.channel, "ts": message.ts}
        elif change.kind == "status" and inside:
            yield "status", {"channel": change.channel, **change.details}
        elif change.kind in ("home", "modal") and change.user == person.id:
            yield change.kind, {"view": change.details["view"]}
        elif change.kind == "connected":
            yield "connected", {"connected": bool(self._sockets.connections)}
        elif change.kind in ("channel_created", "member_joined") and inside:
            yield "state", self.picture(person)


def _person(person: Person) -> Json:
    label = "app" if person.is_bot else "guest" if person.is_restricted else "external" if person.is_stranger else ""
    return {"id": person.id, "name": person.name, "real_name": person.real_name, "label": label, "can_act": not person.is_bot}
