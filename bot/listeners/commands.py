"""`/repo list | use NAME | status | help`: seen by the one who typed it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond

from bot import views, words
from bot.desk import Desk
from bot.render import code
from bot.routing import NoChoice, find, nearest

SUBCOMMANDS = ("list", "use", "status", "help")


def listener(desk: Desk) -> Callable[..., Awaitable[None]]:
    async def typed(ack: AsyncAck, command: dict[str, Any], respond: AsyncRespond) -> None:
        await ack()  # nothing is lost if this process dies now: the person sees that no reply came, and types it again
        text = await reply_to(desk, command)
        await respond(text=text, response_type="ephemeral", unfurl_links=False, unfurl_media=False)

    return typed


async def reply_to(desk: Desk, command: dict[str, Any]) -> str:
    """What the command does and says, mrkdwn."""
    slash = desk.services.settings.command
    verb, _, argument = str(command.get("text") or "").strip().partition(" ")
    verb = verb.lower()
    argument = argument.strip().strip("`\"'")
    if verb in ("", "help"):
        return views.help_text(slash)
    if verb not in SUBCOMMANDS:
        return views.unknown_subcommand(slash, verb, nearest(verb, SUBCOMMANDS))
    team, channel, user = (str(command.get(name) or "") for name in ("team_id", "channel_id", "user_id"))
    repositories, place = await desk.allowed_here(channel, user)
    if not repositories:
        return words.for_place(place)
    names = tuple(repository.name for repository in repositories)
    if verb == "use":
        if not argument:
            return f"Which one? There are: {', '.join(code(name) for name in names)}. Type {code(f'{slash} use {names[0]}')}."
        found = find(argument, repositories)
        if found is None:
            return words.for_no_choice(NoChoice(names, argument, nearest(argument, names)))
        await desk.channels.bind(team, channel, found.name, user)
        return f"From now on, questions in this channel are about {code(found.name)}, unless they name another repository."
    bound = await desk.channels.repository(team, channel)
    statuses = [await desk.services.status(name) for name in names]
    if verb == "list":
        return views.list_text(statuses, bound, desk.services.clock())
    return views.status_text(statuses, bound, desk.services.clock())
