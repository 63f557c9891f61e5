"""Headless Chromium for tests of every room: `async with chromium_page() as page`. Skips, with the reason, where there is none."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from playwright.async_api import ConsoleMessage, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium_path() -> str:
    """The browser on PATH, or "" if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), "")


def _is_complaint(message: ConsoleMessage) -> bool:
    """Chromium also writes down every answer that is not a 2xx, which is the page's to show and no fault."""
    return message.type == "error" and not message.text.startswith("Failed to load resource")


@asynccontextmanager
async def chromium_page(*, width: int = 1200, height: int = 800, scheme: Literal["light", "dark"] = "light") -> AsyncIterator[Page]:
    """A page of a fresh browser. A script's error, or a breach of the content policy, fails the test; every wait has 15 s."""
    try:
        from playwright.async_api import async_playwright
    except ImportError:
        pytest.skip("needs playwright: pip install playwright")
    path = chromium_path()
    if not path:
        pytest.skip(f"needs Chromium on PATH (one of {', '.join(NAMES)}): apt-get install chromium")
    complaints: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            context = await browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            context.set_default_timeout(15_000)
            page = await context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda message: complaints.append(message.text) if _is_complaint(message) else None)
            yield page
        finally:
            await browser.close()
    assert complaints == []
