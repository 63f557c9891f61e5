"""Telling people must never fail what it tells of."""

from __future__ import annotations

import asyncio
import logging

from scheduler.protocols import Announcer

logger = logging.getLogger(__name__)


async def tell(announcer: Announcer, text: str, *, within: float = 30.0) -> bool:
    """Sends an alert; one that cannot be sent `within` so many seconds is logged instead. Whether it was sent."""
    try:
        async with asyncio.timeout(within):
            await announcer.alert(text)
    except Exception:
        logger.exception("an alert could not be sent: %s", text)
        return False
    return True
