"""What the bot is given. `bot.wiring.service` builds it; nothing here reads a setting or opens a file."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import sqlite_utils

from bot.inbox import FloodLimits
from rag.answer_log import AnswerLog, utc_now
from rag.answering.pipeline import Question
from rag.database import Database
from rag.types import Answer, AnswerPiece, Repository


class Asks(Protocol):
    """The one path from a question to an answer: rag.answering.pipeline.Pipeline."""

    def ask(
        self, question: Question, finish: Callable[[sqlite_utils.Database, Answer], None] | None = None
    ) -> AsyncGenerator[AnswerPiece | Answer, None]: ...


@dataclass(frozen=True, slots=True)
class RepositoryStatus:
    """`commit` is "" and `built_at` None where nothing is indexed. `building`: the stage of a build that runs now, "" for none.
    `failed`: when the last build failed, None if it did not. `notices`: why the index is not as it should be."""

    name: str
    commit: str = ""
    built_at: datetime | None = None
    chunks: int = 0
    dense_ready: bool = False
    building: str = ""
    failed: datetime | None = None
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplySettings:
    """Seconds, except `appends_per_minute`, which all live streams share (Slack's tier 4 allows about 100).
    `rollover`: a stream is followed by a new one at this age, for Slack ends it at about 300."""

    stream: bool = True
    rollover: float = 230.0
    append_interval: float = 1.0
    appends_per_minute: int = 90


@dataclass(frozen=True, slots=True)
class BotSettings:
    """Tokens and addresses of one workspace. `base_url` ends with "/api/". Times in seconds."""

    bot_token: str = field(repr=False)
    app_token: str = field(repr=False)
    base_url: str = "https://slack.com/api/"
    command: str = "/repo"
    at_once: int = 4  # answers being written
    at_once_per_user: int = 2
    answer_timeout: float = 180.0
    question_limit: int = 4_000  # characters that are read
    history: int = 3  # earlier turns of the thread that are used
    retry_every: float = 15.0  # how often unfinished questions are looked for
    give_up_after: int = 5  # attempts
    stop_timeout: float = 18.0
    request_timeout: float = 10.0
    ping_interval: float = 5.0
    reconnect_after: float = 60.0  # a socket without life for this long is replaced
    flood: FloodLimits = field(default_factory=FloodLimits)
    reply: ReplySettings = field(default_factory=ReplySettings)


@dataclass(frozen=True, slots=True)
class BotServices:
    """`repositories`: those that Slack may hear about, read anew for every question. `status`: what is known of one by its name.
    `channels`: channel id -> repository, from the configuration."""

    settings: BotSettings
    database: Database
    log: AnswerLog
    pipeline: Asks
    repositories: Callable[[], Sequence[Repository]]
    status: Callable[[str], Awaitable[RepositoryStatus]]
    channels: Mapping[str, str] = field(default_factory=dict)
    clock: Callable[[], datetime] = utc_now


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are in the workspace, from auth.test at start."""

    team: str
    enterprise: str
    user: str
    bot: str
