"""A question in the workspace, and what stands in its thread."""

from __future__ import annotations

import json

from bot.render import METADATA_EVENT, VOTE_ACTION
from bot.slack_service import SlackService
from tests.bot.conftest import House


async def test_a_mention_is_answered_in_its_thread_with_its_footnotes(house: House, bot: SlackService) -> None:
    ts = await house.say("@footnote how are routes registered?")
    message = await house.reply(ts)
    blocks = json.dumps(message.blocks)
    assert message.thread_ts == ts
    assert "Routes are registered by `add_url_rule`.[1]" in blocks
    assert "<https://github.com/example/flask/blob/0123/src/app.py#L10-L20|src/app.py:10-20>" in blocks
    assert VOTE_ACTION in blocks
    assert message.metadata is not None
    assert message.metadata["event_type"] == METADATA_EVENT
    assert house.pipeline.asked[0].text == "how are routes registered?"
