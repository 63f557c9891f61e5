"""What a workspace is made of, and how Slack writes each of it as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]
ChannelKind = Literal["channel", "group", "im", "mpim"]
StreamMode = Literal["", "markdown_text", "chunks"]


@dataclass(frozen=True, slots=True)
class Person:
    """A member of the workspace, a bot, or (`is_stranger`) somebody of another workspace met in a shared channel."""

    id: str
    name: str
    real_name: str
    team_id: str
    is_bot: bool = False
    bot_id: str = ""
    app_id: str = ""
    is_restricted: bool = False  # a guest
    is_ultra_restricted: bool = False  # a guest of one channel
    is_stranger: bool = False
    is_admin: bool = False
    email: str = ""
    deleted: bool = False

    def as_slack(self) -> Json:
        """The user object of users.info."""
        profile: Json = {"real_name": self.real_name, "display_name": self.name, "team": self.team_id}
        if self.email and not self.is_stranger:
            profile["email"] = self.email
        if self.is_bot:
            profile |= {"bot_id": self.bot_id, "api_app_id": self.app_id}
        return {
            "id": self.id,
            "team_id": self.team_id,
            "name": self.name,
            "real_name": self.real_name,
            "deleted": self.deleted,
            "tz": "Etc/UTC",
            "profile": profile,
            "is_admin": self.is_admin,
            "is_owner": self.is_admin,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "is_restricted": self.is_restricted,
            "is_ultra_restricted": self.is_ultra_restricted,
            **({"is_stranger": True} if self.is_stranger else {}),
        }


@dataclass(slots=True)
class Channel:
    """A conversation. `name` is "" for direct messages; `created` is in seconds since 1970."""

    id: str
    name: str
    kind: ChannelKind
    members: list[str]
    topic: str = ""
    purpose: str = ""
    is_ext_shared: bool = False
    is_archived: bool = False
    created: int = 0

    @property
    def is_private(self) -> bool:
        return self.kind != "channel"

    def as_slack(self, team_id: str, bot_user: str) -> Json:
        """The conversation object of conversations.info, as the app sees it."""
        common: Json = {"id": self.id, "created": self.created, "is_archived": self.is_archived, "context_team_id": team_id}
        if self.kind == "im":
            other = next((member for member in self.members if member != bot_user), bot_user)
            return common | {"is_im": True, "is_org_shared": False, "user": other, "is_user_deleted": False, "priority": 0}
        return common | {
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": self.kind == "channel",
            "is_group": self.kind == "group",
            "is_im": False,
            "is_mpim": self.kind == "mpim",
            "is_private": self.is_private,
            "is_general": self.name == "general",
            "is_member": bot_user in self.members,
            "is_shared": self.is_ext_shared,
            "is_ext_shared": self.is_ext_shared,
            "is_org_shared": False,
            "is_pending_ext_shared": False,
            "shared_team_ids": [team_id],
            "topic": {"value": self.topic, "creator": "", "last_set": 0},
            "purpose": {"value": self.purpose, "creator": "", "last_set": 0},
        }


@dataclass(slots=True)
class Stream:
    """What a message that streams remembers. `recipient`: a user id, "" in a direct message. Seconds since 1970."""

    started: float
    recipient: str
    state: Literal["streaming", "completed", "expired"] = "streaming"
    mode: StreamMode = ""
    stopped_by_user: bool = False
    task_display_mode: str = "timeline"
    plan: str = ""
    tasks: dict[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class Message:
    """One message. `thread_ts`: the root's ts for a root with replies and for its replies, else "". `only_for`: who sees an ephemeral."""

    ts: str
    channel: str
    user: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    thread_ts: str = ""
    bot_id: str = ""
    app_id: str = ""
    team: str = ""
    subtype: str = ""
    username: str = ""
    metadata: Json | None = None
    edited: Json | None = None
    reactions: dict[str, list[str]] = field(default_factory=dict)
    only_for: str = ""
    stream: Stream | None = None
    pressed: dict[str, dict[str, str]] = field(default_factory=dict)  # person -> action_id -> value last pressed

    @property
    def is_reply(self) -> bool:
        return bool(self.thread_ts) and self.thread_ts != self.ts

    def as_slack(self, *, metadata: bool = True) -> Json:
        """The message object of history, replies and events (without `channel`, as Slack has it)."""
        body: Json = {"type": "message", "user": self.user, "text": self.text, "ts": self.ts}
        if self.subtype:
            body["subtype"] = self.subtype
        if self.bot_id:
            body |= {"bot_id": self.bot_id, "app_id": self.app_id}
        if self.username:
            body["username"] = self.username
        if self.team:
            body["team"] = self.team
        if self.thread_ts:
            body["thread_ts"] = self.thread_ts
        if self.blocks:
            body["blocks"] = self.blocks
        if self.attachments:
            body["attachments"] = self.attachments
        if self.edited:
            body["edited"] = self.edited
        if self.reactions:
            body["reactions"] = [{"name": name, "users": list(users), "count": len(users)} for name, users in self.reactions.items()]
        if self.stream is not None:
            body["streaming_state"] = "in_progress" if self.stream.state == "streaming" else self.stream.state
        if metadata and self.metadata is not None:
            body["metadata"] = self.metadata
        return body
