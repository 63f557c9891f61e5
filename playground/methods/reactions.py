"""reactions.add, remove, get."""

from __future__ import annotations

import re

from playground.errors import SlackError
from playground.methods.registry import Call, method
from playground.model import Json, Message

_NAME = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")


@method("reactions.add")
def add(call: Call) -> Json:
    name, message = _name(call), _message(call, member=True)
    call.workspace.react(call.workspace.bot.id, message, name)
    return {}


@method("reactions.remove")
def remove(call: Call) -> Json:
    name, message = _name(call), _message(call, member=True)
    call.workspace.unreact(call.workspace.bot.id, message, name)
    return {}


@method("reactions.get")
def get(call: Call) -> Json:
    message = _message(call, member=False)
    return {"type": "message", "channel": message.channel, "message": message.as_slack()}


def _name(call: Call) -> str:
    name = call.arguments.text("name").strip(":")
    if not name:
        raise SlackError("invalid_arguments", "[ERROR] missing required field: name")
    if not _NAME.fullmatch(name):
        raise SlackError("invalid_name")
    return name


def _message(call: Call, *, member: bool) -> Message:
    if not call.arguments.text("timestamp"):
        raise SlackError("no_item_specified")
    return call.workspace.message(call.channel(member=member).id, call.arguments.text("timestamp"))
