from __future__ import annotations

from bot.render import VOTE_ACTION
from bot.slack_service import SlackService
from playground.model import Message
from tests.bot.conftest import House


async def votes(house: House) -> dict[str, int]:
    return await house.database.read(lambda db: dict(db.conn.execute("SELECT voter, value FROM votes").fetchall()))


async def answered(house: House) -> tuple[Message, str]:
    message = await house.reply(await house.say("@footnote how?"))
    return message, house.pipeline.asked[-1].answer_id


async def test_a_hundred_clicks_are_one_vote_and_the_last_counts(house: House, bot: SlackService) -> None:
    message, answer_id = await answered(house)
    for number in range(20):
        direction = "up" if number % 2 else "down"
        await house.playground.click("maya", "engineering", message.ts, VOTE_ACTION, f"{direction}:{answer_id}")
    await house.playground.click("tomas", "engineering", message.ts, VOTE_ACTION, f"down:{answer_id}")
    assert await votes(house) == {"U0MAYA0001": 1, "U0TOMAS002": -1}


async def test_thanks_are_seen_by_the_voter_alone(house: House, bot: SlackService) -> None:
    message, answer_id = await answered(house)
    await house.playground.click("maya", "engineering", message.ts, VOTE_ACTION, f"up:{answer_id}")

    def thanked(user: str) -> list[Message]:
        return [seen for seen in house.playground.messages("engineering", seen_by=user) if "Thank you" in seen.text]

    await house.playground.wait_for(lambda: thanked("maya"))
    assert not thanked("tomas")


async def test_a_vote_on_an_answer_that_was_purged_is_told(house: House, bot: SlackService) -> None:
    message, answer_id = await answered(house)
    await house.database.write(lambda db: db.conn.execute("DELETE FROM answers").rowcount)
    delivery = await house.playground.click("maya", "engineering", message.ts, VOTE_ACTION, f"up:{answer_id}")
    assert delivery.acknowledged
    await house.playground.wait_for(
        lambda: [m for m in house.playground.messages("engineering", seen_by="maya") if "not counted" in m.text]
    )


async def test_a_reaction_is_a_vote_and_its_removal_takes_it_back(house: House, bot: SlackService) -> None:
    message, _ = await answered(house)
    await house.playground.react("maya", "engineering", message.ts, "+1::skin-tone-2")
    await house.playground.react("tomas", "engineering", message.ts, "thumbsdown")
    await house.playground.react("tomas", "engineering", message.ts, "tada")
    await house.playground.wait_settled()
    assert await votes(house) == {"U0MAYA0001": 1, "U0TOMAS002": -1}
    await house.playground.unreact("maya", "engineering", message.ts, "+1::skin-tone-2")
    await house.playground.wait_settled()
    assert await votes(house) == {"U0TOMAS002": -1}


async def test_a_reaction_to_something_else_is_no_vote(house: House, bot: SlackService) -> None:
    ts = await house.say("@footnote how?")
    await house.reply(ts)
    await house.playground.react("maya", "engineering", ts, "+1")
    await house.playground.wait_settled()
    assert await votes(house) == {}
