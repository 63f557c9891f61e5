"""Somebody mentioned us."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from slack_bolt.context.async_context import AsyncBoltContext

from bot.desk import Desk


def listener(desk: Desk) -> Callable[..., Awaitable[None]]:
    async def mentioned(context: AsyncBoltContext) -> None:
        desk.submit(context["question"])  # set by the inbox, which lets nothing else through

    return mentioned
