from __future__ import annotations

import time

from bot.inbox import FloodLimits
from tests.bot.conftest import House
from tests.bot.scripted import Script


async def test_one_persons_flood_is_refused_politely_and_holds_up_nobody(house: House) -> None:
    house.pipeline.scripts = [Script(pause=0.05)]
    service = house.service(flood=FloodLimits(per_user=5, window=600, waiting=100))
    await service.start()
    try:
        floods = [await house.say(f"@footnote how {n}?") for n in range(30)]
        began = time.monotonic()
        other = await house.say("@footnote how are you built?", user="tomas")
        answered = await house.reply(other)
        assert "add_url_rule" in answered.text
        assert time.monotonic() - began < 10
        told = [await house.reply(ts) for ts in floods]
        assert sum("add_url_rule" in message.text for message in told) == 5
        assert sum("asked a lot" in message.text for message in told) == 25
        assert all(len(house.replies(ts)) == 1 for ts in floods)
        assert len(house.pipeline.asked) == 6
    finally:
        await service.stop()


async def test_too_many_waiting_questions_are_refused(house: House) -> None:
    house.pipeline.scripts = [Script(pause=0.3)]
    service = house.service(flood=FloodLimits(per_user=100, window=600, waiting=3), at_once_per_user=1)
    await service.start()
    try:
        asked = [await house.say(f"@footnote how {n}?") for n in range(8)]
        told = [await house.reply(ts) for ts in asked]
        refused = [message for message in told if "Too many questions" in message.text]
        assert refused
        assert len(house.pipeline.asked) == 8 - len(refused) >= 3
    finally:
        await service.stop()
