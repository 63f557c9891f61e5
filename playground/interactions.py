"""What surrounds messages: trigger ids, response URLs, the App Home, modals, statuses, and the payloads of clicks and commands."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from playground import limits
from playground.errors import SlackError
from playground.model import Json, Message, Person
from playground.workspace import Change, Workspace


@dataclass(slots=True)
class ResponseUrl:
    """Where a command's or click's answer may be sent: five times within 30 minutes."""

    channel: str
    person: str
    opened: float
    message: Message | None = None
    uses: int = 0


@dataclass(slots=True)
class Status:
    """The "is thinking" line of a thread."""

    text: str
    since: float
    loading: list[str] = field(default_factory=list)


class Interactions:
    """`url` gives the workspace's address without a trailing slash."""

    def __init__(self, workspace: Workspace, url: Callable[[], str]) -> None:
        self.homes: dict[str, Json] = {}
        self.modals: dict[str, tuple[str, Json]] = {}
        self.statuses: dict[tuple[str, str], Status] = {}
        self.sessions: dict[tuple[str, str], str] = {}
        self.prompts: dict[str, Json] = {}
        self.responses: dict[str, ResponseUrl] = {}
        self._workspace = workspace
        self._url = url
        self._triggers: dict[str, tuple[str, float, bool]] = {}
        workspace.listeners.append(self._clear_status)

    # ids that an app may use for a while

    def trigger(self, person: str) -> str:
        """A trigger id: 3 s, once."""
        trigger_id = f"{int(self._workspace.clock() * 1000)}.{secrets.token_hex(16)}"
        self._triggers[trigger_id] = (person, self._workspace.clock(), False)
        return trigger_id

    def use_trigger(self, trigger_id: str) -> str:
        """The person behind a trigger id. Raises: SlackError invalid_trigger_id, expired_trigger_id, exchanged_trigger_id."""
        found = self._triggers.get(trigger_id)
        if found is None:
            raise SlackError("invalid_trigger_id")
        person, since, used = found
        if used:
            raise SlackError("exchanged_trigger_id")
        if self._workspace.clock() - since > limits.TRIGGER_SECONDS:
            raise SlackError("expired_trigger_id")
        self._triggers[trigger_id] = (person, since, True)
        return person

    def response_url(self, channel: str, person: str, message: Message | None = None) -> str:
        """An address that takes up to five answers in 30 minutes."""
        key = secrets.token_urlsafe(18)
        self.responses[key] = ResponseUrl(channel, person, self._workspace.clock(), message)
        return f"{self._url()}/response/{self._workspace.team_id}/{key}"

    def use_response_url(self, key: str) -> ResponseUrl:
        """Count one use. Raises: SlackError used_url (too old or used up, or unknown)."""
        found = self.responses.get(key)
        if found is None or found.uses >= limits.RESPONSE_URL_USES or self._workspace.clock() - found.opened > limits.RESPONSE_URL_SECONDS:
            raise SlackError("used_url")
        found.uses += 1
        return found

    # what is shown beside messages

    def show_home(self, person: str, view: Json) -> None:
        self.homes[person] = view
        self._workspace.tell(Change("home", user=person, details={"view": view}))

    def show_modal(self, person: str, view: Json) -> None:
        self.modals[view["id"]] = (person, view)
        self._workspace.tell(Change("modal", user=person, details={"view": view}))

    def modal(self, view_id: str) -> tuple[str, Json]:
        """Raises: SlackError not_found."""
        if view_id not in self.modals:
            raise SlackError("not_found")
        return self.modals[view_id]

    def close_modal(self, view_id: str) -> None:
        person, _ = self.modals.pop(view_id, ("", {}))
        self._workspace.tell(Change("modal", user=person, details={"view": None}))

    def set_status(self, channel: str, thread: str, text: str, loading: list[str]) -> None:
        """ "" takes the line away."""
        if text:
            self.statuses[(channel, thread)] = Status(text, self._workspace.clock(), loading)
        else:
            self.statuses.pop((channel, thread), None)
        self._workspace.tell(Change("status", channel=channel, details={"thread_ts": thread, "status": text, "loading_messages": loading}))

    def status(self, channel: str, thread: str) -> str:
        """What the line says now: "" when there is none or it is older than two minutes."""
        found = self.statuses.get((channel, thread))
        return found.text if found is not None and self._workspace.clock() - found.since < limits.STATUS_SECONDS else ""

    def set_session(self, channel: str, thread: str, status: str) -> None:
        self.sessions[(channel, thread)] = status
        details = {"thread_ts": thread, "session": status, "status": self.status(channel, thread)}
        self._workspace.tell(Change("status", channel=channel, details=details))

    def set_prompts(self, channel: str, title: str, prompts: list[Json]) -> None:
        self.prompts[channel] = {"title": title, "prompts": prompts}

    def _clear_status(self, change: Change) -> None:
        """A reply of the app takes its status line away."""
        message = change.message
        if change.kind == "posted" and message is not None and message.app_id == self._workspace.bot.app_id:
            thread = message.thread_ts or message.ts
            if (message.channel, thread) in self.statuses:
                self.set_status(message.channel, thread, "", [])

    # payloads

    def command_payload(self, person: Person, channel: str, command: str, text: str) -> Json:
        """The form fields of a slash command."""
        place = self._workspace.channels[channel]
        name = {"im": "directmessage", "group": "privategroup"}.get(place.kind, place.name)
        return {
            "token": "playground",
            "team_id": self._workspace.team_id,
            "team_domain": "playground",
            "channel_id": channel,
            "channel_name": name,
            "user_id": person.id,
            "user_name": person.name,
            "command": command,
            "text": text,
            "api_app_id": self._workspace.bot.app_id,
            "is_enterprise_install": "false",
            "response_url": self.response_url(channel, person.id),
            "trigger_id": self.trigger(person.id),
        }

    def action_payload(
        self, person: Person, block: Json, element: Json, value: str | None, message: Message | None, view: Json | None
    ) -> Json:
        """A block_actions payload for a press in a message or in a view. Raises: PlaygroundError through `action_of`."""
        payload = self._common(person) | {
            "type": "block_actions",
            "actions": [action_of(block, element, value, self._workspace.next_ts())],
            "state": {"values": {}},
        }
        if message is None:
            return payload | {"view": view, "container": {"type": "view", "view_id": (view or {}).get("id", "")}}
        channel = self._workspace.channels[message.channel]
        container: Json = {"type": "message", "message_ts": message.ts, "channel_id": channel.id, "is_ephemeral": bool(message.only_for)}
        if message.is_reply:
            container["thread_ts"] = message.thread_ts
        name = {"im": "directmessage", "group": "privategroup"}.get(channel.kind, channel.name)
        payload |= {
            "container": container,
            "channel": {"id": channel.id, "name": name},
            "response_url": self.response_url(channel.id, person.id, message),
        }
        return payload if message.only_for else payload | {"message": message.as_slack(metadata=False)}

    def submission_payload(self, person: Person, view: Json, values: Json) -> Json:
        """A view_submission payload; `values` is block_id -> action_id -> value object."""
        return self._common(person) | {"type": "view_submission", "view": view | {"state": {"values": values}}, "response_urls": []}

    def _common(self, person: Person) -> Json:
        return {
            "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": person.team_id},
            "api_app_id": self._workspace.bot.app_id,
            "token": "playground",
            "team": {"id": self._workspace.team_id, "domain": "playground"},
            "enterprise": None,
            "is_enterprise_install": False,
            "trigger_id": self.trigger(person.id),
        }


def action_of(block: Json, element: Json, value: str | None, action_ts: str) -> Json:
    """One entry of `actions`. `value`: what was chosen, None where there is one choice. Raises: SlackError invalid_arguments."""
    action: Json = {
        "type": element["type"],
        "action_id": element.get("action_id", ""),
        "block_id": block.get("block_id", ""),
        "action_ts": action_ts,
    }
    if element["type"] == "feedback_buttons":
        for button in (element["positive_button"], element["negative_button"]):
            if value == button["value"]:
                return action | {"text": button["text"], "value": button["value"]}
        raise SlackError("invalid_arguments", f"the feedback buttons have no value {value!r}")
    if "options" in element or "option_groups" in element:
        groups = [group["options"] for group in element.get("option_groups", ())]
        for option in [*element.get("options", ()), *(option for group in groups for option in group)]:
            if option["value"] == value:
                return action | {"selected_option": option}
        raise SlackError("invalid_arguments", f"there is no option {value!r}")
    if value is not None and value != element.get("value", value):
        raise SlackError("invalid_arguments", f"the button has no value {value!r}")
    chosen = element.get("value", value)
    return action | ({"text": element["text"]} if "text" in element else {}) | ({"value": chosen} if chosen is not None else {})
