"""The arguments of a Web API call, from a query, a form or a JSON body, whichever way the client sent them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from playground.errors import SlackError
from playground.model import Json

_STRUCTURED = ("blocks", "attachments", "metadata", "view", "chunks", "prompts", "loading_messages", "users")
_FALSE = ("", "0", "false", "False", "no", "none")


async def read_arguments(request: web.Request) -> Arguments:
    """Merge query and body. Raises: SlackError invalid_json, json_not_object, invalid_form_data."""
    found: Json = dict(request.query)
    if request.method == "POST":
        if request.content_type == "application/json":
            try:
                body = json.loads(await request.text() or "{}")
            except ValueError as error:
                raise SlackError("invalid_json") from error
            if not isinstance(body, dict):
                raise SlackError("json_not_object")
            found |= body
        elif request.content_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
            found |= dict(await request.post())
    for name in _STRUCTURED:
        value = found.get(name)
        if isinstance(value, str) and value[:1] in ("[", "{"):
            try:
                found[name] = json.loads(value)
            except ValueError as error:
                raise SlackError("invalid_blocks_format" if name == "blocks" else "invalid_arguments") from error
    return Arguments({name: value for name, value in found.items() if value is not None})


class Arguments:
    """Typed access; what is missing or of another type is Slack's `invalid_arguments`."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = dict(values)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def text(self, name: str, default: str = "") -> str:
        value = self.values.get(name, default)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return str(value)
        raise SlackError("invalid_arguments", f"[ERROR] must be a string [json-pointer:/{name}]")

    def required(self, name: str) -> str:
        value = self.text(name)
        if not value:
            raise SlackError("invalid_arguments", f"[ERROR] missing required field: {name}")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.values.get(name, default)
        return value if isinstance(value, bool) else str(value) not in _FALSE

    def number(self, name: str, default: int) -> int:
        try:
            return int(self.values.get(name, default) or default)
        except (TypeError, ValueError) as error:
            raise SlackError("invalid_arguments", f"[ERROR] must be an integer [json-pointer:/{name}]") from error

    def items(self, name: str) -> list[Json] | None:
        """A list of JSON objects; None if the argument was not given."""
        value = self.values.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise SlackError("invalid_blocks_format" if name == "blocks" else "invalid_arguments")
        return value

    def object(self, name: str) -> Json | None:
        value = self.values.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, dict):
            raise SlackError("invalid_arguments", f"[ERROR] must be an object [json-pointer:/{name}]")
        return value
