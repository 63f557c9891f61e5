from __future__ import annotations

import pytest

from bot.slack_service import SlackService
from playground.model import Message
from tests.bot.conftest import House
from tests.bot.scripted import repository


async def run(house: House, text: str, *, user: str = "maya", channel: str = "engineering") -> str:
    """What the person alone sees after typing /repo."""

    def whispers() -> list[Message]:
        bot = house.playground.workspace.bot.id
        return [message for message in house.playground.messages(channel, seen_by=user) if message.only_for and message.user == bot]

    before = len(whispers())
    delivery = await house.playground.command(user, channel, "/repo", text)
    assert delivery.acknowledged
    await house.playground.wait_for(lambda: len(whispers()) > before)
    message = whispers()[-1]
    return message.text


async def test_use_sets_the_channels_repository_for_the_questions_that_follow(house: House, bot: SlackService) -> None:
    house.repositories = [repository("flask"), repository("gin")]
    assert "`gin`" in await run(house, "use GIN")
    await house.reply(await house.say("@footnote how?"))
    other = await house.reply(await house.say("@footnote how?", channel="general"), "general")
    assert [question.repository.name for question in house.pipeline.asked] == ["gin"]
    assert "Which repository" in other.text
    assert "`gin` (this channel)" in await run(house, "list")


async def test_list_and_status_say_what_is_indexed(house: House, bot: SlackService) -> None:
    house.building = "embed"
    listed = await run(house, "list")
    assert "`flask`" in listed
    assert "`0123456`" in listed
    status = await run(house, "status")
    assert "100 chunks" in status
    assert "being built (embed)" in status


@pytest.mark.parametrize("text", ["", "help", "HELP me"])
async def test_help(house: House, bot: SlackService, text: str) -> None:
    assert "/repo use NAME" in await run(house, text)


async def test_a_misspelt_subcommand_gets_help_and_the_nearest_one(house: House, bot: SlackService) -> None:
    said = await run(house, "stauts")
    assert "Did you mean `/repo status`" in said
    assert "/repo use NAME" in said
    assert "&lt;!here&gt;" in await run(house, "<!here>") or "<!here>" not in await run(house, "<!here>")


async def test_use_of_a_name_that_is_not_there_tells_the_nearest(house: House, bot: SlackService) -> None:
    house.repositories = [repository("flask"), repository("secret", audience=("C0SECURITY",))]
    assert "Did you mean `flask`" in await run(house, "use flaks")
    hidden, missing = await run(house, "use secret"), await run(house, "use nothing")
    assert hidden.replace("secret", "X") == missing.replace("nothing", "X")
    assert "Which one" in await run(house, "use")


async def test_outsiders_and_shared_channels_are_told_nothing(house: House, bot: SlackService) -> None:
    assert "flask" not in await run(house, "list", user="priya")
    assert "flask" not in await run(house, "status", channel="partners")
    assert "shared with another" in await run(house, "use flask", channel="partners")
