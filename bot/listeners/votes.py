"""Thumbs, by button or by reaction, into the answer log."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Literal, cast

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.response import BoltResponse

from bot.desk import Desk
from bot.render import vote_value
from bot.web import SlackError

log = logging.getLogger(__name__)

_THUMBS: dict[str, Literal[1, -1]] = {"+1": 1, "thumbsup": 1, "-1": -1, "thumbsdown": -1}
_THANKS = "Thank you, noted. Your last vote on an answer counts."
_UNKNOWN = "I do not know this answer any more, so the vote was not counted."


def button_listener(desk: Desk) -> Callable[..., Awaitable[None]]:
    async def voted(ack: AsyncAck, body: dict[str, Any], action: dict[str, Any]) -> None:
        vote = vote_value(str(action.get("value") or ""))
        user = str((body.get("user") or {}).get("id") or "")
        known = False
        if vote and user:
            answer_id, value = vote
            known = await desk.services.log.vote(
                answer_id=answer_id,
                voter=user,
                value=cast("Literal[1, -1]", value),
                voted_at=_moment(action.get("action_ts"), desk.services.clock()),
            )
        await ack()  # after the vote is on the disk
        await _whisper(desk, body, user, _THANKS if known else _UNKNOWN)

    return voted


def reaction_middleware(desk: Desk, *, added: bool) -> Callable[..., Awaitable[BoltResponse | None]]:
    """A middleware, for Bolt acknowledges an event before its listener runs: the vote is on the disk by then."""

    async def reacted(event: dict[str, Any], body: dict[str, Any], next: Callable[[], Awaitable[BoltResponse]]) -> BoltResponse | None:
        value = _THUMBS.get(str(event.get("reaction") or "").split("::")[0])
        item = event.get("item") or {}
        user = str(event.get("user") or "")
        ours = event.get("item_user") in (None, desk.identity.user)
        if value and user and ours and item.get("type") == "message":
            answer_id = await desk.inbox.answer_at(str(body.get("team_id") or ""), str(item.get("channel")), str(item.get("ts")))
            moment = _moment(event.get("event_ts"), desk.services.clock())
            if answer_id and added:
                await desk.services.log.vote(answer_id=answer_id, voter=user, value=value, voted_at=moment)
            elif answer_id:
                await desk.services.log.retract_vote(answer_id=answer_id, voter=user, value=value, retracted_at=moment)
        return await next()

    return reacted


async def _whisper(desk: Desk, body: dict[str, Any], user: str, text: str) -> None:
    """Only the voter sees it: how somebody voted is nobody else's business."""
    container = body.get("container") or {}
    channel = str(container.get("channel_id") or (body.get("channel") or {}).get("id") or "")
    thread = container.get("thread_ts") or (body.get("message") or {}).get("thread_ts")
    try:
        arguments = {"thread_ts": str(thread)} if thread else {}
        await desk.web.call("chat.postEphemeral", {"channel": channel, "user": user, "text": text, **arguments})
    except SlackError as failure:
        log.info("no thanks for a vote: %s", failure.error or type(failure).__name__)


def _moment(ts: object, otherwise: datetime) -> datetime:
    try:
        return datetime.fromtimestamp(float(str(ts)), UTC)
    except (ValueError, OverflowError, OSError):
        return otherwise
