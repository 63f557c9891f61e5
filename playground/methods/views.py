"""views.open, update, publish."""

from __future__ import annotations

import json

from playground import limits
from playground.blocks import check_blocks, stored_blocks
from playground.errors import SlackError
from playground.methods.registry import Call, method
from playground.model import Json
from playground.workspace import Workspace


@method("views.open")
def open_(call: Call) -> Json:
    person = call.platform.interactions.use_trigger(call.arguments.text("trigger_id"))
    view = new_view(call.workspace, call.arguments.object("view"), "modal")
    call.platform.interactions.show_modal(person, view)
    return {"view": view}


@method("views.update")
def update(call: Call) -> Json:
    interactions, view_id = call.platform.interactions, call.arguments.text("view_id")
    person, old = interactions.modal(view_id)
    if call.arguments.text("hash") not in ("", old["hash"]):
        raise SlackError("hash_conflict")
    view = new_view(call.workspace, call.arguments.object("view"), "modal") | {"id": view_id}
    interactions.show_modal(person, view)
    return {"view": view}


@method("views.publish")
def publish(call: Call) -> Json:
    person = call.workspace.people.get(call.arguments.required("user_id"))
    if person is None or person.is_bot:
        raise SlackError("invalid_arguments", "[ERROR] invalid `user_id` [json-pointer:/user_id]")
    old = call.platform.interactions.homes.get(person.id)
    if call.arguments.text("hash") and (old is None or old["hash"] != call.arguments.text("hash")):
        raise SlackError("hash_conflict")
    view = new_view(call.workspace, call.arguments.object("view"), "home")
    call.platform.interactions.show_home(person.id, view)
    return {"view": view}


def new_view(workspace: Workspace, view: Json | None, kind: str) -> Json:
    """A checked view with its ids. Raises: SlackError invalid_arguments, view_too_large."""
    if view is None:
        raise SlackError("invalid_arguments", "[ERROR] missing required field: view")
    if view.get("type") != kind:
        raise SlackError("invalid_arguments", f"[ERROR] must be of type {kind} [json-pointer:/view/type]")
    if len(json.dumps(view)) > limits.VIEW_BYTES:
        raise SlackError("view_too_large")
    if len(view.get("private_metadata") or "") > limits.PRIVATE_METADATA_CHARACTERS:
        raise SlackError("invalid_arguments", "[ERROR] must be less than 3001 characters [json-pointer:/view/private_metadata]")
    if kind == "modal":
        _check_modal(view)
    check_blocks(view.get("blocks") or [], "home" if kind == "home" else "modal")
    return {
        **view,
        "id": workspace.next_id("V"),
        "team_id": workspace.team_id,
        "app_id": workspace.bot.app_id,
        "bot_id": workspace.bot.bot_id,
        "blocks": stored_blocks(view.get("blocks") or [], lambda: workspace.next_id("b")),
        "hash": f"{int(workspace.clock())}.{workspace.next_id('h')}",
        "private_metadata": view.get("private_metadata") or "",
        "callback_id": view.get("callback_id") or "",
        "state": {"values": {}},
    }


def _check_modal(view: Json) -> None:
    for name in ("title", "submit", "close"):
        text = (view.get(name) or {}).get("text", "")
        if name == "title" and not text:
            raise SlackError("invalid_arguments", "[ERROR] missing required field: title [json-pointer:/view]")
        if len(text) > limits.TITLE_CHARACTERS:
            raise SlackError("invalid_arguments", f"[ERROR] must be less than 25 characters [json-pointer:/view/{name}/text]")
    if not view.get("submit") and any(block.get("type") == "input" for block in view.get("blocks") or []):
        raise SlackError(
            "invalid_arguments", "[ERROR] `submit` must be defined when an `input` block is in the `blocks` array [json-pointer:/view]"
        )
