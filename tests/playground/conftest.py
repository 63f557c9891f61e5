from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground import Playground
from tests.playground.clock import Clock
from tests.playground.echo_bot import echo_bot


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def playground(clock: Clock) -> AsyncIterator[Playground]:
    async with Playground(clock=clock, ack_seconds=1.0, retry_delays=(0.0, 0.05, 0.05)) as running:
        yield running


@pytest.fixture
async def client(playground: Playground) -> AsyncWebClient:
    return AsyncWebClient(token=playground.bot_token, base_url=playground.api_url)


@pytest.fixture
async def heard(playground: Playground) -> AsyncIterator[list[dict[str, Any]]]:
    """What the echo bot hears."""
    async with echo_bot(playground) as bodies:
        yield bodies
