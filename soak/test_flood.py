"""One person mentions the bot hundreds of times at once: the cap holds, every mention gets one message, others are answered meanwhile."""

from __future__ import annotations

import asyncio
import time

from bot.inbox import FloodLimits
from soak.conftest import Soak
from tests.bot.conftest import House, closed
from tests.bot.scripted import Script

CAP = 20  # questions of one person, the default
PATIENCE = 30.0  # seconds that somebody else may wait


async def test_a_flood_is_refused_politely_and_holds_up_nobody(house: House, soak: Soak) -> None:
    house.pipeline.scripts = [Script(pause=0.05)]
    service = house.service(flood=FloodLimits(per_user=CAP, window=3600, waiting=100))
    await service.start()
    try:
        floods = await asyncio.gather(*(house.say(f"@footnote how {number}?") for number in range(soak.flood)))
        started = time.monotonic()
        other = await house.say("@footnote how are you built?", user="tomas")
        answered = await house.reply(other, timeout=PATIENCE)
        waited = time.monotonic() - started
        assert "add_url_rule" in answered.text
        outcomes = [await closed(house, ts, timeout=60 + soak.flood / 2) for ts in floods]
        await house.playground.wait_settled(60)
    finally:
        await service.stop()
    answers = sum(outcome == "answer" for outcome in outcomes)
    soak.done.append(f"flood: {soak.flood:,} mentions at once, {answers} answered, the rest refused; somebody else waited {waited:.1f} s")
    assert answers == min(CAP, soak.flood)
    assert sum(outcome.startswith("refused") for outcome in outcomes) == soak.flood - answers
    assert len(house.pipeline.asked) == answers + 1
    assert [ts for ts in floods if len(house.replies(ts)) != 1] == []
    assert all(delivery.acknowledged for delivery in house.playground.deliveries)
