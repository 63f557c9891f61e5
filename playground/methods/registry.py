"""How a method is written down: a function from a call to the body of its answer (`ok` is added)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from playground.arguments import Arguments
from playground.errors import SlackError
from playground.interactions import Interactions
from playground.model import Channel, Json
from playground.workspace import Workspace

TokenKind = Literal["bot", "app"]


@dataclass(frozen=True, slots=True)
class Platform:
    """What methods work on. `open_socket` makes a Socket Mode address; `url` is the workspace's own, without a trailing slash."""

    workspace: Workspace
    interactions: Interactions
    open_socket: Callable[[], str]
    url: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Call:
    """One call, its token already checked."""

    platform: Platform
    arguments: Arguments

    @property
    def workspace(self) -> Workspace:
        return self.platform.workspace

    def channel(self, name: str = "channel", *, member: bool = False) -> Channel:
        """The conversation an argument names, as far as the app may know of it.

        Raises: SlackError channel_not_found (also for what is private to others), not_in_channel (only with `member`), is_archived.
        """
        workspace, wanted = self.workspace, self.arguments.required(name)
        if member and wanted in workspace.people:
            return workspace.direct(wanted, workspace.bot.id)
        channel = workspace.channel(wanted)
        if workspace.bot.id not in channel.members:
            if channel.is_private:
                raise SlackError("channel_not_found")
            if member:
                raise SlackError("not_in_channel")
        if member and channel.is_archived:
            raise SlackError("is_archived")
        return channel


Handler = Callable[[Call], Json]
METHODS: dict[str, tuple[TokenKind, Handler]] = {}


def method(name: str, token: TokenKind = "bot") -> Callable[[Handler], Handler]:  # noqa: S107 - a kind of token, not one
    """Register a handler under a method's name."""

    def register(handler: Handler) -> Handler:
        METHODS[name] = (token, handler)
        return handler

    return register


def page_of(items: list[Json], arguments: Arguments, default: int, most: int = 999) -> tuple[list[Json], str]:
    """(items, next cursor) of a cursor-paged list. Raises: SlackError invalid_cursor, invalid_limit."""
    limit = arguments.number("limit", default)
    if not 1 <= limit <= most + 1:
        raise SlackError("invalid_limit")
    cursor = arguments.text("cursor")
    if cursor and not cursor.removeprefix("after:").isdigit():
        raise SlackError("invalid_cursor")
    start = int(cursor.removeprefix("after:")) if cursor else 0
    return items[start : start + limit], f"after:{start + limit}" if start + limit < len(items) else ""
