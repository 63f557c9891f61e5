"""A Slack event -> a question for us, or nothing. Slack's markup -> plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

# Edits, deletions, joins and all other kinds of message are not questions; these are what a person wrote.
_WRITTEN = frozenset({"", "file_share", "thread_broadcast", "me_message"})
_TOKEN = re.compile(r"<([^<>\n]*)>")


@dataclass(frozen=True, slots=True)
class QuestionKey:
    """What makes two deliveries one question. `event_id` is not in it: one message can come under several."""

    app: str
    team: str
    channel: str
    ts: str


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message that somebody addressed to us. `text` is plain, without the mention. `thread`: ts of the thread's first message."""

    key: QuestionKey
    thread: str
    user: str
    user_team: str
    text: str
    direct: bool
    shared: bool  # Slack says that the channel is shared with another organisation


class _Event(BaseModel):
    model_config = ConfigDict(extra="ignore")
    type: str
    ts: str = ""
    channel: str = ""
    user: str = ""
    text: str = ""
    thread_ts: str = ""
    subtype: str = ""
    bot_id: str = ""
    team: str = ""
    user_team: str = ""
    channel_type: str = ""


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore")
    api_app_id: str = ""
    team_id: str = ""
    is_ext_shared_channel: bool = False
    event: _Event


def parse_question(body: dict[str, Any], bot_user: str) -> Incoming | None:
    """None for what is no question to us: our own words, other bots, edits, deletions, messages that do not mention us outside a DM."""
    try:
        parsed = _Body.model_validate(_without_nulls(body))
    except ValidationError:
        return None
    event = parsed.event
    if event.type not in ("app_mention", "message") or event.subtype not in _WRITTEN:
        return None
    if not (event.ts and event.channel and event.user) or event.bot_id or event.user == bot_user:
        return None
    direct = event.channel_type == "im" or event.channel.startswith("D")
    if not direct and not mentions(event.text, bot_user):
        return None
    return Incoming(
        key=QuestionKey(parsed.api_app_id, parsed.team_id, event.channel, event.ts),
        thread=event.thread_ts or event.ts,
        user=event.user,
        user_team=event.user_team or event.team or parsed.team_id,
        text=plain_text(event.text, bot_user),
        direct=direct,
        shared=parsed.is_ext_shared_channel,
    )


def mentions(text: str, user: str) -> bool:
    return f"<@{user}>" in text or f"<@{user}|" in text


def plain_text(text: str, bot_user: str = "") -> str:
    """What the person sees: links by their label, people and channels by name, `&lt;` as `<`. Mentions of `bot_user` are left out."""

    def shown(token: re.Match[str]) -> str:
        target, _, label = token.group(1).partition("|")
        if target.startswith("@"):
            return f"@{label or target[1:]}"
        if target.startswith("#"):
            return f"#{label or target[1:]}"
        if target.startswith("!"):
            return label or f"@{target[1:].split('^')[0]}"
        return label if label and "://" not in label else target

    if bot_user:
        text = re.sub(rf" ?<@{re.escape(bot_user)}(?:\|[^<>\n]*)?>", "", text)
    plain = _TOKEN.sub(shown, text)
    plain = plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return "\n".join(line.rstrip() for line in plain.splitlines()).strip(" \n\t,:")


def _without_nulls(body: dict[str, Any]) -> dict[str, Any]:
    """Slack writes null for what is absent in some events and leaves the key out in others."""
    event = body.get("event")
    kept = {key: value for key, value in body.items() if value is not None}
    if isinstance(event, dict):
        kept["event"] = {key: value for key, value in event.items() if value is not None}
    return kept
