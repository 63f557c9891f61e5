"""A real log, an announcer that remembers, and a rebuild whose outcome a test decides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rag.answer_log import MIGRATIONS, AnswerLog
from rag.database import Database
from rag.types import Repository
from tests.log.test_upkeep import Outcome

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


class Clock:
    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass
class Listener:
    """The people who are told. `deaf`: telling them fails."""

    alerts: list[str] = field(default_factory=list)
    deaf: bool = False

    async def alert(self, text: str) -> None:
        if self.deaf:
            raise ConnectionError("no Slack")
        self.alerts.append(text)


@dataclass
class Workshop:
    """Builds: `errors` by repository, `seconds` each takes. Counts those at work at the same time."""

    errors: dict[str, BaseException] = field(default_factory=dict)
    seconds: float = 0.0
    unchanged: bool = False
    built: list[str] = field(default_factory=list)
    at_work: int = 0
    most_at_work: int = 0
    ended_early: list[str] = field(default_factory=list)

    async def rebuild(self, repository: Repository) -> Outcome:
        self.built.append(repository.name)
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            await asyncio.sleep(self.seconds)
            if repository.name in self.errors:
                raise self.errors[repository.name]
            return Outcome(repository=repository.name, unchanged=self.unchanged)
        except asyncio.CancelledError:
            self.ended_early.append(repository.name)
            raise
        finally:
            self.at_work -= 1


def repositories(*names: str) -> list[Repository]:
    return [Repository(name, f"https://example.org/{name}.git") for name in names]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def workshop() -> Workshop:
    return Workshop()


@pytest.fixture
async def log(tmp_path: Path, clock: Clock) -> AsyncIterator[AnswerLog]:
    async with Database(tmp_path / "footnote.sqlite", MIGRATIONS) as database:
        yield AnswerLog(database, clock=clock)
