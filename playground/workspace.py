"""The state of a workspace and the only code that changes it. Every change is told to the listeners, in order."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from playground import defaults
from playground.errors import SlackError
from playground.model import Channel, Json, Message, Person

ChangeKind = Literal[
    "posted", "changed", "deleted", "streamed", "pressed", "ephemeral", "reaction_added", "reaction_removed",
    "member_joined", "channel_created", "status", "home", "modal", "opened", "stopped", "called", "acknowledged", "connected",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened. `message` is the live object, `previous` a copy of it from before; `details` depends on the kind."""

    kind: ChangeKind
    channel: str = ""
    message: Message | None = None
    previous: Message | None = None
    user: str = ""
    details: Json = field(default_factory=dict)


class Workspace:
    """People, channels and messages of one team.

    `clock` returns seconds since 1970; message timestamps are made from it and never repeat.
    """

    def __init__(
        self, clock: Callable[[], float], people: Sequence[Person] | None = None, channels: Sequence[Channel] | None = None
    ) -> None:
        self.clock = clock
        self.team_id = defaults.TEAM_ID
        self.team_name = defaults.TEAM_NAME
        self.people: dict[str, Person] = {person.id: person for person in (people if people is not None else defaults.people())}
        self.channels: dict[str, Channel] = {channel.id: channel for channel in (channels if channels is not None else defaults.channels())}
        self.messages: dict[str, dict[str, Message]] = {channel: {} for channel in self.channels}
        self.bot = next(person for person in self.people.values() if person.app_id == defaults.APP_ID)
        self.listeners: list[Callable[[Change], None]] = []
        self._last_microsecond = 0
        self._serial = itertools.count(1)

    def tell(self, change: Change) -> None:
        """Hand a change to every listener."""
        for listener in self.listeners:
            listener(change)

    def next_ts(self) -> str:
        """A message timestamp: the clock in seconds with six decimals, later than every one before."""
        self._last_microsecond = max(int(self.clock() * 1_000_000), self._last_microsecond + 1)
        return f"{self._last_microsecond // 1_000_000}.{self._last_microsecond % 1_000_000:06d}"

    def next_id(self, prefix: str) -> str:
        """An id of Slack's look that no other object has."""
        return f"{prefix}{next(self._serial):09d}"

    # looking up

    def person(self, reference: str) -> Person:
        """By id or name. Raises: SlackError user_not_found."""
        wanted = reference.lstrip("@")
        for person in self.people.values():
            if wanted in (person.id, person.name):
                return person
        raise SlackError("user_not_found")

    def channel(self, reference: str) -> Channel:
        """By id or name, with or without "#". Raises: SlackError channel_not_found."""
        wanted = reference.lstrip("#")
        for channel in self.channels.values():
            if wanted == channel.id or (channel.name and wanted == channel.name):
                return channel
        raise SlackError("channel_not_found")

    def direct(self, first: str, second: str) -> Channel:
        """The direct conversation of two people, opened if there is none yet."""
        for channel in self.channels.values():
            if channel.kind == "im" and set(channel.members) == {first, second}:
                return channel
        channel = Channel(self.next_id("D"), "", "im", [first, second], created=int(self.clock()))
        self.add_channel(channel)
        return channel

    def add_channel(self, channel: Channel) -> None:
        """Open a conversation."""
        self.channels[channel.id] = channel
        self.messages[channel.id] = {}
        self.tell(Change("channel_created", channel=channel.id))

    def add_person(self, person: Person) -> None:
        """Let somebody into the workspace, who is in no channel yet."""
        self.people[person.id] = person

    def message(self, channel: str, ts: str) -> Message:
        """Raises: SlackError message_not_found."""
        found = self.messages.get(channel, {}).get(ts)
        if found is None or found.only_for:
            raise SlackError("message_not_found")
        return found

    def history(self, channel: str) -> Iterator[Message]:
        """Messages of the channel itself, oldest first, without replies and ephemerals."""
        return (message for message in self.messages[channel].values() if not message.is_reply and not message.only_for)

    def thread(self, channel: str, root_ts: str) -> list[Message]:
        """The root and its replies, oldest first, without ephemerals."""
        found = self.messages[channel].values()
        return [message for message in found if not message.only_for and root_ts in (message.ts, message.thread_ts)]

    # changing

    def post(self, message: Message, *, event: bool = True) -> Message:
        """Add a message. A reply makes its root a thread. `event` False: a stream that the app need not hear of yet."""
        if message.thread_ts:
            root = self.messages[message.channel].get(message.thread_ts)
            if root is None or root.only_for:
                raise SlackError("thread_not_found")
            message.thread_ts = root.thread_ts = root.thread_ts or root.ts
        self.messages[message.channel][message.ts] = message
        if message.only_for:
            self.tell(Change("ephemeral", channel=message.channel, message=message, user=message.only_for))
        else:
            self.tell(Change("posted", channel=message.channel, message=message, user=message.user, details={"event": event}))
        return message

    def change(self, message: Message, edit: Callable[[Message], None], *, kind: ChangeKind = "changed") -> None:
        """Apply `edit` to a message and tell what it was before."""
        previous = copy.deepcopy(message)
        edit(message)
        self.tell(Change(kind, channel=message.channel, message=message, previous=previous, user=message.user))

    def delete(self, message: Message) -> None:
        """Take a message away; its replies stay, as in Slack."""
        del self.messages[message.channel][message.ts]
        self.tell(Change("deleted", channel=message.channel, message=message, previous=message, user=message.user))

    def react(self, user: str, message: Message, name: str) -> None:
        """Raises: SlackError already_reacted."""
        users = message.reactions.setdefault(name, [])
        if user in users:
            raise SlackError("already_reacted")
        users.append(user)
        self.tell(Change("reaction_added", message.channel, message, user=user, details={"reaction": name}))

    def unreact(self, user: str, message: Message, name: str) -> None:
        """Raises: SlackError no_reaction."""
        users = message.reactions.get(name, [])
        if user not in users:
            raise SlackError("no_reaction")
        users.remove(user)
        if not users:
            del message.reactions[name]
        self.tell(Change("reaction_removed", message.channel, message, user=user, details={"reaction": name}))

    def join(self, user: str, channel: Channel, inviter: str = "") -> bool:
        """Add somebody to a channel; False if already there."""
        if user in channel.members:
            return False
        channel.members.append(user)
        self.tell(Change("member_joined", channel=channel.id, user=user, details={"inviter": inviter}))
        return True
