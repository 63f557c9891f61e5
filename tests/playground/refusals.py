"""How tests ask whether a call was refused."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from slack_sdk.errors import SlackApiError


async def refused(call: Awaitable[Any]) -> str:
    """Slack's error code, or "" if the call went through."""
    try:
        await call
    except SlackApiError as error:
        return str(error.response["error"])
    return ""


async def complaints(call: Awaitable[Any]) -> tuple[str, list[str]]:
    """(error code, messages), or ("", [])."""
    try:
        await call
    except SlackApiError as error:
        return str(error.response["error"]), list(error.response.get("response_metadata", {}).get("messages", []))
    return "", []
