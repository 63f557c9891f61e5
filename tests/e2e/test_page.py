"""A person's way through the playground's page, in a real browser, with the very bot that runs against Slack."""

from __future__ import annotations

import re

import pytest

from tests.e2e.conftest import Footnote
from tests.playground.browser import chromium_page

pytestmark = pytest.mark.browser


async def test_mention_stream_citation_vote_and_switch(playground: str, larder: Footnote) -> None:
    from playwright.async_api import expect

    async with chromium_page(width=1400, height=900) as page:
        await page.goto(playground)
        box = page.get_by_role("textbox").first
        await box.fill("@footnote how does a station assign a locker to a parcel?")
        await box.press("Enter")

        place = re.compile(r"^(\S+):(\d+)-(\d+)$")
        link = page.locator('a[href*="/source/larder/blob/"]').filter(has_text=place).first
        await expect(link).to_be_visible(timeout=60_000)
        found = place.match((await link.inner_text()).strip())
        assert found
        await expect(page.get_by_text("assign_locker").first).to_be_visible()
        await expect(page.get_by_label("Footnote 1").first).to_be_visible()

        await link.click()
        await expect(page.get_by_text(f"lines {found[2]}–{found[3]}").first).to_be_visible()
        cited = page.locator(".line.cited")
        await expect(cited).to_have_count(int(found[3]) - int(found[2]) + 1)
        await expect(cited.first).to_be_in_viewport()
        await page.get_by_label("Close the file").click()

        thumbs = page.get_by_role("group", name="Was this answer helpful?").get_by_role("button")
        await thumbs.first.click()
        await expect(thumbs.first).to_have_attribute("aria-pressed", "true")
        await expect(page.get_by_text(re.compile("thank", re.IGNORECASE)).first).to_be_visible()

        await box.fill("/repo use larder")
        await box.press("Enter")
        await expect(page.get_by_text("questions in this channel are about").first).to_be_visible()

    newest = larder.json("log", "--limit", "1")[0]
    assert (newest["origin"], newest["up"], newest["state"]) == ("slack", 1, "answered")
