"""One message into one thread, exactly once, whatever the network does.

A message carries its answer's id as metadata. Where a call broke off and nobody knows whether Slack took it, the thread is read back
and the message looked for before it is sent again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.inbox import Inbox, InboxRow
from bot.render import METADATA_EVENT, SUMMARY_LIMIT, Message, cut, parts_of, posted_blocks
from bot.services import Identity
from bot.web import SlackError, SlackRefused, SlackUncertain, SlackWeb

log = logging.getLogger(__name__)

_BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_blocks_too_many", "msg_too_long"})
_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
_PAGES = 10
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands in the thread. `parts`: ts of this answer's messages that carry its id, in order. `complete`: its last part is among
    them. `orphans`: our messages after the question that carry no id and belong to no other question: begun and never finished."""

    parts: tuple[str, ...]
    complete: bool
    orphans: tuple[str, ...]


class Delivery:
    """The way to one question's thread. Methods raise SlackError where Slack says no or cannot be reached, DatabaseError for the inbox."""

    def __init__(self, web: SlackWeb, identity: Identity, inbox: Inbox, row: InboxRow) -> None:
        self._web = web
        self._identity = identity
        self._inbox = inbox
        self.row = row

    def metadata(self, part: int, parts: int) -> dict[str, Any]:
        """`part` counts from 1; `parts` is 0 while nobody knows how many there will be."""
        return {"event_type": METADATA_EVENT, "event_payload": {"answer_id": self.row.answer_id, "part": part, "parts": parts}}

    async def standing(self) -> Standing:
        """Reads the thread from the question on. Where Slack does not show it (no scope, question deleted), nothing is known to stand."""
        try:
            return await self._read_back()
        except SlackRefused as refusal:
            log.warning("the thread cannot be read back: %s", refusal.error)
            return Standing((), complete=False, orphans=())

    async def _read_back(self) -> Standing:
        claimed = await self._inbox.claimed(self.row.key, self.row.thread)
        parts: dict[int, str] = {}
        orphans: list[str] = []
        complete = False
        cursor = ""
        for _ in range(_PAGES):
            arguments: dict[str, Any] = {"cursor": cursor} if cursor else {}
            page = await self._web.call(
                "conversations.replies",
                {
                    "channel": self.row.key.channel,
                    "ts": self.row.thread,
                    "oldest": self.row.key.ts,
                    "limit": 200,
                    "include_all_metadata": True,
                    **arguments,
                },
                repeatable=True,
            )
            for message in page.get("messages") or ():
                ts = str(message.get("ts", ""))
                if not self._ours(message) or ts <= self.row.key.ts:
                    continue
                metadata = message.get("metadata") or {}
                payload = metadata.get("event_payload") or {}
                if metadata.get("event_type") != METADATA_EVENT:
                    if ts not in claimed:
                        orphans.append(ts)
                elif payload.get("answer_id") == self.row.answer_id:
                    part = int(payload.get("part") or 1)
                    parts[part] = ts
                    complete = complete or part == int(payload.get("parts") or 0)
            cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                break
        return Standing(tuple(parts[part] for part in sorted(parts)), complete, tuple(orphans))

    def _ours(self, message: dict[str, Any]) -> bool:
        return message.get("user") == self._identity.user or bool(self._identity.bot and message.get("bot_id") == self._identity.bot)

    async def deliver(self, message: Message, known: Sequence[str] = ()) -> tuple[str, ...]:
        """Makes the thread say `message`: into the messages `known`, then into new ones; what is left over of `known` is deleted.

        Safe to call again. Returns the ts of its messages, in order.
        """
        parts = parts_of(message.body)
        standing: list[str] = []
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            content: dict[str, Any] = {
                "text": message.summary if index == 0 else cut(part, SUMMARY_LIMIT),
                "blocks": posted_blocks(part, message.tail if last else ()),
                "metadata": self.metadata(index + 1, len(parts)),
            }
            ts = known[index] if index < len(known) else ""
            if ts and await self._update(ts, content):
                standing.append(ts)
            else:
                standing.append(await self._post(content, index + 1))
        for ts in known[len(parts) :]:
            await self._delete(ts)
        return tuple(standing)

    async def _update(self, ts: str, content: dict[str, Any]) -> bool:
        """False where the message is gone. An update can be repeated, so nothing has to be read back."""
        for attempt in range(_TRIES):
            try:
                await self._web.call("chat.update", {"channel": self.row.key.channel, "ts": ts, **content}, repeatable=True)
                return True
            except SlackRefused as refusal:
                if refusal.error in _GONE:
                    return False
                if refusal.error == "streaming_state_conflict" and attempt < _TRIES - 1:
                    await self._end_stream(ts)
                elif refusal.error in _BLOCKS_REFUSED and attempt < _TRIES - 1:
                    log.warning("blocks refused (%s), sent as text", refusal.error)
                    content = _plain(content)
                else:
                    raise
        return False

    async def _end_stream(self, ts: str) -> None:
        try:
            await self._web.call("chat.stopStream", {"channel": self.row.key.channel, "ts": ts}, repeatable=True)
        except SlackRefused as refusal:
            log.info("stream was over already (%s)", refusal.error)

    async def _post(self, content: dict[str, Any], part: int) -> str:
        for attempt in range(_TRIES):
            try:
                response = await self._web.call(
                    "chat.postMessage",
                    {
                        "channel": self.row.key.channel,
                        "thread_ts": self.row.thread,
                        "unfurl_links": False,
                        "unfurl_media": False,
                        **content,
                    },
                )
                return str(response.get("ts", ""))
            except SlackRefused as refusal:
                if refusal.error not in _BLOCKS_REFUSED or attempt == _TRIES - 1:
                    raise
                log.warning("blocks refused (%s), sent as text", refusal.error)
                content = _plain(content)
            except SlackUncertain:
                await asyncio.sleep(0.2 * 2**attempt)
                found = await self.standing()
                if len(found.parts) >= part:
                    return found.parts[part - 1]
                if attempt == _TRIES - 1:
                    raise
        raise SlackError("chat.postMessage did not succeed.", "It is tried again later.")

    async def _delete(self, ts: str) -> None:
        try:
            await self._web.call("chat.delete", {"channel": self.row.key.channel, "ts": ts}, repeatable=True)
        except SlackError as failure:
            log.warning("a surplus message stays (%s)", failure.error or type(failure).__name__)


def _plain(content: dict[str, Any]) -> dict[str, Any]:
    """The same without blocks: its text, cut."""
    text = str(content["blocks"][0].get("text") or content["text"]) if content.get("blocks") else str(content["text"])
    return {**content, "text": cut(text, SUMMARY_LIMIT), "blocks": []}
