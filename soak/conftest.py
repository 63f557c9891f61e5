"""How much is done, and what of it was: options of pytest, or variables of the environment (`SOAK_KILLS=20 make soak`)."""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass

import pytest

from tests.bot.conftest import database, house, stack
from tests.conftest import _own_place, embedder, models_directory

__all__ = ["_own_place", "database", "embedder", "house", "models_directory", "stack"]

OPTIONS = {
    "kills": (200, "how often a builder, and a bot, is ended by kill -9"),
    "readers": (20, "threads that read the index while its builder is killed"),
    "mentions": (20, "mentions of the bot in each of its lives"),
    "flood": (500, "mentions by one person at once"),
    "files": (100_000, "files of the monorepo"),
    "examples": (10_000, "texts that each fuzz run makes"),
    "minutes": (60, "after which a run ends, whatever it has done"),
    "seed": (0, "of everything random; 0 for another one each time, which is printed"),
}
GRACE_SECONDS = 900  # for what a run has begun, and for its checks


@dataclass(frozen=True)
class Soak:
    """What was asked for, and what was done: lines that the summary prints."""

    kills: int
    readers: int
    mentions: int
    flood: int
    files: int
    examples: int
    minutes: int
    seed: int
    done: list[str]

    def clock(self) -> Clock:
        return Clock(time.monotonic() + 60 * self.minutes)

    def chance(self) -> random.Random:
        return random.Random(self.seed)


@dataclass(frozen=True)
class Clock:
    """`deadline`: of time.monotonic()."""

    deadline: float

    @property
    def over(self) -> bool:
        return time.monotonic() > self.deadline


_KEY = pytest.StashKey[Soak]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("soak", "soak: how long and how hard (or SOAK_KILLS and so on in the environment)")
    for name, (default, about) in OPTIONS.items():
        value = int(os.environ.get(f"SOAK_{name.upper()}", default))
        group.addoption(f"--soak-{name}", type=int, default=value, metavar="N", help=f"{about} (default: {default:,})")


def pytest_configure(config: pytest.Config) -> None:
    values = {name: int(config.getoption(f"--soak-{name}")) for name in OPTIONS}
    values["seed"] = values["seed"] or random.SystemRandom().randrange(1, 1 << 31)
    for name, value in values.items():
        if value < 1:
            raise pytest.UsageError(f"--soak-{name} must be at least 1")
    config.stash[_KEY] = Soak(done=[], **values)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == config.rootpath / "soak":
            item.add_marker(pytest.mark.timeout(60 * config.stash[_KEY].minutes + GRACE_SECONDS))


def pytest_report_header(config: pytest.Config) -> str:
    soak = config.stash[_KEY]
    return "soak: " + ", ".join(f"{name} {getattr(soak, name):,}" for name in OPTIONS if name != "seed") + f", --soak-seed {soak.seed}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    soak = config.stash[_KEY]
    for line in soak.done:
        terminalreporter.write_line(f"soak: {line}")
    terminalreporter.write_line(f"soak: repeat with --soak-seed {soak.seed}")


@pytest.fixture(scope="session")
def soak(request: pytest.FixtureRequest) -> Soak:
    return request.config.stash[_KEY]


def enough(what: str, done: int, asked: int, soak: Soak) -> None:
    """Fails where time ended a run before its count: what was done held, and is less than was asked for."""
    if done < asked:
        pytest.fail(
            f"only {done:,} of {asked:,} {what} in {soak.minutes} minutes: all of them held; allow more --soak-minutes, or ask for fewer"
        )
