"""Who may hear about which repository. The default is no, and so is every doubt."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from bot.web import SlackError, SlackWeb
from rag.types import Repository

log = logging.getLogger(__name__)

EVERYWHERE = "*"  # in an audience: every channel and direct message inside the organisation
DIRECT = "dm"  # in an audience: direct messages with members


@dataclass(frozen=True, slots=True)
class Place:
    """Where a question was asked and what is known about it. `problem`: why nothing may be told here, "" if nothing speaks against it:
    "unknown" (a lookup failed), "shared" (Slack Connect), "outsider" (the asker is a guest or from elsewhere)."""

    channel: str
    direct: bool
    problem: str = ""


def allows(repository: Repository, place: Place) -> bool:
    """Pure. A repository without an audience is told to nobody."""
    if place.problem:
        return False
    names = set(repository.audience)
    return EVERYWHERE in names or place.channel in names or (place.direct and DIRECT in names)


def allowed(repositories: Sequence[Repository], place: Place) -> list[Repository]:
    return [repository for repository in repositories if allows(repository, place)]


class Doorkeeper:
    """Asks Slack about the channel and the asker, anew for every question: a channel may have been shared since."""

    def __init__(self, web: SlackWeb, home_team: str, enterprise: str = "") -> None:
        self._web = web
        self._home = home_team
        self._enterprise = enterprise

    async def place(self, channel: str, user: str, *, user_team: str = "", shared: bool = False) -> Place:
        """Never raises: what cannot be looked up is a place where nothing may be told."""
        direct = channel.startswith("D")
        if shared:
            return Place(channel, direct, "shared")
        if user_team and self._home and user_team not in (self._home, self._enterprise):
            return Place(channel, direct, "outsider")
        try:
            info = (await self._web.call("conversations.info", {"channel": channel}, repeatable=True, patience=4)).get("channel")
            person = (await self._web.call("users.info", {"user": user}, repeatable=True, patience=4)).get("user")
        except SlackError as failure:
            log.warning("access denied: lookup failed (%s)", failure.error or type(failure).__name__)
            return Place(channel, direct, "unknown")
        if not isinstance(info, dict) or not isinstance(person, dict):
            return Place(channel, direct, "unknown")
        direct = bool(info.get("is_im", direct))
        if any(info.get(flag) for flag in ("is_ext_shared", "is_pending_ext_shared", "pending_shared", "pending_connected_team_ids")):
            return Place(channel, direct, "shared")
        if any(person.get(flag) for flag in ("is_restricted", "is_ultra_restricted", "is_stranger", "is_bot", "deleted")):
            return Place(channel, direct, "outsider")
        team = person.get("team_id") or self._home
        organisation = (person.get("enterprise_user") or {}).get("enterprise_id", "")
        if self._home and team != self._home and (not self._enterprise or organisation != self._enterprise):
            return Place(channel, direct, "outsider")
        return Place(channel, direct)
