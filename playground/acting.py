"""What a person can do in the playground: the Python side of it, which the page's endpoints use too."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from playground.blocks import elements_of
from playground.composer import compose
from playground.errors import PlaygroundError, SlackError
from playground.interactions import Interactions
from playground.model import Channel, Json, Message, Person
from playground.responses import Responses
from playground.socket_mode import Delivery, EnvelopeType, Sockets
from playground.streams import is_streaming
from playground.workspace import Change, Workspace

SLACKBOT = "USLACKBOT"
T = TypeVar("T")


class Acting:
    """Everywhere a person is given by id or name ("maya"), a channel by id, name or, for a direct message, "@" and the other's name.

    Raises: PlaygroundError for what nobody could do in Slack.
    """

    def __init__(self, workspace: Workspace, interactions: Interactions, sockets: Sockets, responses: Responses) -> None:
        self.workspace = workspace
        self.interactions = interactions
        self.sockets = sockets
        self._responses = responses

    # talking

    async def say(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> str:
        """Post a message as a person; `@name`, `#channel` and addresses become what Slack makes of them. Returns its ts."""
        person, place = self._present(user, channel)
        if not text.strip():
            raise PlaygroundError("There is nothing to say: the text is empty.")
        written, blocks = compose(text, self.workspace)
        root = self._message(place, thread_ts) if thread_ts else None
        message = Message(
            ts=self.workspace.next_ts(),
            channel=place.id,
            user=person.id,
            text=written,
            blocks=blocks,
            thread_ts=(root.thread_ts or root.ts) if root is not None else "",
            bot_id=person.bot_id,
            app_id=person.app_id,
            team=person.team_id,
        )
        self.workspace.post(message)
        bot = self.workspace.bot
        if f"<@{bot.id}>" in written and bot.id not in place.members:
            self._notice(person, place, f"<@{bot.id}> is not in this channel, so it was not told. Invite it, then ask again.")
        return message.ts

    async def edit(self, user: str, channel: str, ts: str, text: str) -> None:
        """Change one's own message."""
        person, place = self._present(user, channel)
        message = self._own(person, place, ts)
        written, blocks = compose(text, self.workspace)

        def rewrite(changed: Message) -> None:
            changed.text, changed.blocks = written, blocks
            changed.edited = {"user": person.id, "ts": self.workspace.next_ts()}

        self.workspace.change(message, rewrite)

    async def delete(self, user: str, channel: str, ts: str) -> None:
        """Take one's own message back."""
        person, place = self._present(user, channel)
        self.workspace.delete(self._own(person, place, ts))

    async def react(self, user: str, channel: str, ts: str, name: str) -> None:
        """Add a reaction, such as "+1"."""
        person, place = self._present(user, channel)
        self._refusing(lambda: self.workspace.react(person.id, self._message(place, ts), name.strip(":")))

    async def unreact(self, user: str, channel: str, ts: str, name: str) -> None:
        """Take a reaction back."""
        person, place = self._present(user, channel)
        self._refusing(lambda: self.workspace.unreact(person.id, self._message(place, ts), name.strip(":")))

    async def join(self, user: str, channel: str, inviter: str = "") -> None:
        """Bring somebody, the bot too, into a channel."""
        person, place = self._person(user), self._channel(user, channel)
        self.workspace.join(person.id, place, self._person(inviter).id if inviter else "")

    # the app's surfaces

    async def command(self, user: str, channel: str, command: str, text: str = "", thread_ts: str | None = None) -> Delivery:
        """Run a slash command; returns once the app has acknowledged it or Slack has given up waiting."""
        person, place = self._present(user, channel)
        if thread_ts:
            raise PlaygroundError(f"{command} cannot be run in a thread: Slack has no custom commands there.")
        payload = self.interactions.command_payload(person, place.id, command, text)
        delivery = await self._send("slash_commands", payload)
        if delivery.given_up:
            self._notice(person, place, f"`{command}` failed: {self._failure(delivery)}.")
        else:
            self._responses.take_ack(place.id, person.id, delivery.response)
        return delivery

    async def click(self, user: str, channel: str, message_ts: str, action_id: str, value: str | None = None) -> Delivery:
        """Press a button or choose an option in a message; `value` says which, where there are several (both thumbs share an action id)."""
        person, place = self._present(user, channel)
        message = self.workspace.messages[place.id].get(message_ts)
        if message is None or message.only_for not in ("", person.id):
            raise PlaygroundError(f"There is no message {message_ts} in {place.name or place.id} that {person.name} sees.")
        block, element = _element(message.blocks, action_id, value)
        payload = self._action(person, block, element, value, message, None)
        delivery = await self._send("interactive", payload)
        if delivery.acknowledged:
            message.pressed.setdefault(person.id, {})[action_id] = str(payload["actions"][0].get("value", ""))
            self.workspace.tell(Change("pressed", place.id, message, user=person.id))
        else:
            self._notice(person, place, f"That did not work: {self._failure(delivery)}.", message.thread_ts)
        return delivery

    async def open_home(self, user: str, tab: str = "home") -> None:
        """Open the app's Home ("home") or Messages ("messages") tab."""
        person = self._person(user)
        self.workspace.tell(Change("opened", user=person.id, details={"tab": tab, "view": self.interactions.homes.get(person.id)}))

    async def click_home(self, user: str, action_id: str, value: str | None = None) -> Delivery:
        """Press something in the Home tab."""
        person = self._person(user)
        view = self.interactions.homes.get(person.id)
        if view is None:
            raise PlaygroundError(f"The app has published no Home tab for {person.name}.")
        block, element = _element(view["blocks"], action_id, value)
        return await self._send("interactive", self._action(person, block, element, value, None, view))

    async def submit(self, user: str, view_id: str, values: Json) -> Delivery:
        """Submit a modal; `values` is block_id -> action_id -> Slack's value object. It closes unless the app answers with errors."""
        person = self._person(user)
        owner, view = self._refusing(lambda: self.interactions.modal(view_id))
        if owner != person.id:
            raise PlaygroundError(f"The modal {view_id} is not open for {person.name}.")
        delivery = await self._send("interactive", self.interactions.submission_payload(person, view, values))
        answer = (delivery.response or {}).get("response_action")
        if delivery.acknowledged and answer not in ("errors", "update", "push"):
            self.interactions.close_modal(view_id)
        return delivery

    async def stop_stream(self, user: str, channel: str, thread_ts: str) -> None:
        """Press Stop under an answer that is being written."""
        person, place = self._present(user, channel)
        live = [message for message in self.workspace.thread(place.id, thread_ts) if is_streaming(self.workspace, message)]
        for message in live:
            if message.stream is not None:
                message.stream.stopped_by_user = True
        details = {"thread_ts": thread_ts, "streaming_message_ts": [message.ts for message in live]}
        self.workspace.tell(Change("stopped", channel=place.id, user=person.id, details=details))

    # seeing

    def messages(self, channel: str, thread_ts: str | None = None, *, seen_by: str | None = None) -> list[Message]:
        """A channel's messages, replies among them, or one thread's; oldest first. `seen_by`: with the ephemerals of this person."""
        place = self._channel(seen_by or self.workspace.bot.id, channel)
        person = self._person(seen_by).id if seen_by else ""
        found = self.workspace.messages[place.id].values()
        shown = [message for message in found if message.only_for in ("", person)]
        return [message for message in shown if thread_ts in (message.ts, message.thread_ts)] if thread_ts else shown

    # inside

    async def _send(self, kind: EnvelopeType, payload: Json) -> Delivery:
        return await self.sockets.deliver(Delivery(kind, payload), retry=False)

    def _action(self, person: Person, block: Json, element: Json, value: str | None, message: Message | None, view: Json | None) -> Json:
        try:
            return self.interactions.action_payload(person, block, element, value, message, view)
        except SlackError as error:
            raise PlaygroundError(f"{element.get('action_id', element['type'])}: {'; '.join(error.messages)}.") from error

    def _notice(self, person: Person, place: Channel, text: str, thread_ts: str = "") -> None:
        """What Slackbot says to one person only."""
        message = Message(self.workspace.next_ts(), place.id, SLACKBOT, text, thread_ts=thread_ts, only_for=person.id)
        self.workspace.post(message)

    def _failure(self, delivery: Delivery) -> str:
        reason = delivery.failures[-1] if delivery.failures else ""
        return "no app is connected (`dispatch_failed`)" if reason == "no_connection" else "the app took too long (`operation_timeout`)"

    def _present(self, user: str, channel: str) -> tuple[Person, Channel]:
        person, place = self._person(user), self._channel(user, channel)
        if person.id not in place.members:
            raise PlaygroundError(f"{person.name} is not in {place.name or place.id}: members are {', '.join(self._names(place))}.")
        return person, place

    def _names(self, place: Channel) -> list[str]:
        return [self.workspace.people[member].name for member in place.members if member in self.workspace.people]

    def _person(self, reference: str) -> Person:
        try:
            return self.workspace.person(reference)
        except SlackError as error:
            known = ", ".join(person.name for person in self.workspace.people.values())
            raise PlaygroundError(f"There is nobody called {reference!r}: there are {known}.") from error

    def _channel(self, user: str, reference: str) -> Channel:
        if reference.startswith("@"):
            return self.workspace.direct(self._person(user).id, self._person(reference).id)
        try:
            return self.workspace.channel(reference)
        except SlackError as error:
            known = ", ".join(channel.name for channel in self.workspace.channels.values() if channel.name)
            raise PlaygroundError(f"There is no channel {reference!r}: there are {known}, and @name for a direct message.") from error

    def _message(self, place: Channel, ts: str) -> Message:
        return self._refusing(lambda: self.workspace.message(place.id, ts), f"There is no message {ts} in {place.name or place.id}.")

    def _own(self, person: Person, place: Channel, ts: str) -> Message:
        message = self._message(place, ts)
        if message.user != person.id:
            raise PlaygroundError(f"The message {ts} is not {person.name}'s.")
        return message

    @staticmethod
    def _refusing(work: Callable[[], T], text: str = "") -> T:
        try:
            return work()
        except SlackError as error:
            raise PlaygroundError(text or f"Slack refuses: {error.code}.") from error


def _element(blocks: list[Json], action_id: str, value: str | None) -> tuple[Json, Json]:
    """The pressed element. Two buttons of one message may share an action id: the value decides."""
    found = [(block, element) for block, element in elements_of(blocks) if element.get("action_id") == action_id]
    for block, element in found:
        if value is not None and element.get("value") == value:
            return block, element
    if not found:
        there = ", ".join(sorted({str(element.get("action_id")) for _, element in elements_of(blocks)})) or "nothing to press"
        raise PlaygroundError(f"There is no element {action_id!r}: there is {there}.")
    return found[0]
