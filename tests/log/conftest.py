"""A real database in a temporary directory, and ready-made values to log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rag.answer_log import MIGRATIONS, AnswerLog
from rag.database import Database

NOW = datetime(2026, 3, 4, 5, 6, 7, 890, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "footnote.sqlite"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    async with Database(path, MIGRATIONS) as database:
        yield database


@pytest.fixture
def log(database: Database) -> AnswerLog:
    return AnswerLog(database, clock=lambda: NOW)
