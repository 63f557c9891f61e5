"""The Home tab: what can be asked about, and how."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from bot.desk import Desk
from bot.views import home_view
from bot.web import SlackError
from bot.words import for_place

log = logging.getLogger(__name__)


def listener(desk: Desk) -> Callable[..., Awaitable[None]]:
    async def opened(event: dict[str, Any]) -> None:
        user = str(event.get("user") or "")
        if event.get("tab", "home") != "home" or not user:
            return
        # The tab is between one member and us, like a direct message.
        repositories, place = await desk.allowed_here(str(event.get("channel") or ""), user)
        statuses = [await desk.services.status(repository.name) for repository in repositories]
        view = home_view(statuses, desk.services.settings.command, desk.services.clock(), "" if repositories else for_place(place))
        try:
            await desk.web.call("views.publish", {"user_id": user, "view": view}, repeatable=True)
        except SlackError as failure:
            log.warning("the Home tab could not be shown: %s", failure.error or type(failure).__name__)

    return opened
