"""The Bolt app: which listener hears what. Registration only."""

from __future__ import annotations

import re

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.desk import Desk
from bot.inbox import inbox_middleware
from bot.listeners import commands, home, mentions, messages, votes
from bot.render import VOTE_ACTION


def build_app(desk: Desk) -> AsyncApp:
    """Everything that it hears goes to `desk`. Events are acknowledged once what they say is on the disk, and no call to Slack comes first.

    Bolt would ask auth.test when the first event comes, before the acknowledgement; who we are was asked at start and is handed in.
    """
    settings = desk.services.settings
    identity = desk.identity

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=identity.enterprise or None,
            team_id=identity.team,
            bot_user_id=identity.user,
            bot_id=identity.bot or None,
            bot_token=settings.bot_token,
        )

    app = AsyncApp(name="footnote", client=AsyncWebClient(base_url=settings.base_url, retry_handlers=[]), authorize=authorize)
    app.use(inbox_middleware(desk.inbox, identity.user))
    app.event("app_mention")(mentions.listener(desk))
    app.event("message")(messages.listener(desk))
    app.event("app_home_opened")(home.listener(desk))
    app.event("reaction_added", middleware=[votes.reaction_middleware(desk, added=True)])(_noted)
    app.event("reaction_removed", middleware=[votes.reaction_middleware(desk, added=False)])(_noted)
    app.command(settings.command)(commands.listener(desk))
    app.action(VOTE_ACTION)(votes.button_listener(desk))
    app.event(re.compile(".*"))(_noted)  # else Slack delivers again what nobody listens to
    app.action(re.compile(".*"))(_acknowledged)
    return app


async def _noted() -> None:
    return None


async def _acknowledged(ack: object) -> BoltResponse | None:
    return await ack() if callable(ack) else None
