"""A person's way through the playground's page, in a real browser, with the very bot that runs against Slack."""

from __future__ import annotations

import re

import pytest

from tests.playground.browser import chromium_page

pytestmark = pytest.mark.browser


async def test_mention_stream_citation_vote_and_switch(playground: str) -> None:
    from playwright.async_api import expect

    async with chromium_page(width=1400, height=900) as page:
        await page.goto(playground)
        box = page.get_by_role("textbox").first
        await box.fill("@footnote how does a station assign a locker to a parcel?")
        await box.press("Enter")

        link = page.locator('a[href*="/source/larder/blob/"]').first
        await expect(link).to_be_visible(timeout=60_000)
        label = await link.inner_text()
        found = re.fullmatch(r"(.+):(\d+)-(\d+)", label.strip())
        assert found, label
        await expect(page.get_by_text("assign_locker").first).to_be_visible()

        await link.click()
        await expect(page.get_by_text(f"lines {found[2]}–{found[3]}").first).to_be_visible()
        cited = page.locator(".cited, [data-cited], mark").first
        await expect(cited).to_be_visible()

        up = page.get_by_role("button", name=re.compile("good|helpful|right|up", re.IGNORECASE)).first
        await up.click()
        await expect(page.locator('[aria-pressed="true"]').first).to_be_visible()

        await box.fill("/repo list")
        await box.press("Enter")
        await expect(page.get_by_text("larder").last).to_be_visible()
        await box.fill("/repo use larder")
        await box.press("Enter")
        await expect(page.get_by_text(re.compile("larder.*", re.IGNORECASE)).last).to_be_visible()
