"""Everything that can be set, as pydantic models: the border where values are checked.

`bot.configuration` fills one Settings object, once; `bot.part_settings` and `bot.wiring` make of it the plain dataclasses that `rag` and
`scheduler` get. The descriptions are what docs/configuration.md is generated from.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, StringConstraints

CONFIG_NAME = "footnote.toml"
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Cron = Annotated[str, StringConstraints(pattern=r"^\S+(\s+\S+){4}$")]

_UNITS = {"s": 1, "m": 60, "h": 3600}
LEAST_POLL = 60


def seconds_of(duration: str) -> int:
    """Seconds in "90s", "10m" or "6h"; 0 for "". Raises: ValueError."""
    if not duration:
        return 0
    found = re.fullmatch(r"([0-9]{1,6})([smh])", duration)
    if found is None:
        raise ValueError('it should be a whole number with s, m or h, as in "10m"')
    return int(found[1]) * _UNITS[found[2]]


def _poll(duration: str) -> str:
    if duration and seconds_of(duration) < LEAST_POLL:
        raise ValueError('it should be a minute or more, as in "10m"')
    return duration


def listening_on(listen: str) -> tuple[str, int]:
    """Host and port of "127.0.0.1:8710" or "[::1]:8710"; "" and 0 for "". Raises: ValueError."""
    if not listen:
        return "", 0
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9.-]{1,253})):([0-9]{1,5})", listen)
    if found is None or int(found[3]) > 65535:
        raise ValueError('it should be an address and a port, as in "127.0.0.1:8710"')
    return found[1] or found[2], int(found[3])


def _listen(listen: str) -> str:
    listening_on(listen)
    return listen


# Variables that steer the program but are no setting of the file.
CONTROL_VARIABLES = ("FOOTNOTE_CONFIG", "FOOTNOTE_ALL_TESTS")
SECRET_VARIABLES = {
    "slack_bot_token": "SLACK_BOT_TOKEN",
    "slack_app_token": "SLACK_APP_TOKEN",
    "groq_api_key": "GROQ_API_KEY",
    "git_token": "FOOTNOTE_GIT_TOKEN",
    "webhook_secret": "FOOTNOTE_WEBHOOK_SECRET",
    "qdrant_url": "QDRANT_URL",
    "qdrant_api_key": "QDRANT_API_KEY",
    "rerank_api_key": "RERANK_API_KEY",
}


class Section(BaseModel):
    """A table of the file. A key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class RepositorySettings(Section):
    name: Name = Field(description="how people call it in Slack and on the command line")
    source: str = Field(description="a git URL (https or ssh) or a path on this machine", min_length=1)
    branch: str = Field("", description="which branch is read; empty: the repository's default branch")
    include: tuple[str, ...] = Field((), description="globs, as in .gitignore: if any is given, only files that match one are read")
    exclude: tuple[str, ...] = Field((), description="globs, as in .gitignore: files that are not read")
    audience: tuple[str, ...] = Field(
        (),
        description='Slack channel ids that may hear about it, "dm" for direct messages, "*" for every internal channel; '
        "empty: nobody in Slack",
    )
    generator: Literal["extractive", "groq"] = Field(
        "extractive", description='who writes its answers. "extractive" keeps its code on this machine; "groq" sends excerpts of it to Groq'
    )
    poll: Annotated[str, AfterValidator(_poll)] = Field(
        "",
        description='how often `footnote serve` asks the source whether it has something new, as in "10m" or "2h"; a minute or more; '
        "empty: never, it waits for a webhook or the night",
    )
    web: str = Field("", description="base URL of its web pages, where it cannot be told from the source (a GitHub Enterprise host, say)")


class ChannelSettings(Section):
    id: str = Field(description="the channel's id in Slack (C…)", min_length=1)
    repository: Name = Field(description="the repository that questions in it are about, unless a question names another")


class ScheduleSettings(Section):
    nightly: Cron = Field("0 2 * * *", description="when every repository is rebuilt (cron, UTC)")
    nightly_jitter: int = Field(0, ge=0, le=3600, description="the nightly rebuild starts up to so many seconds later, by chance")
    parallel_builds: int = Field(1, ge=1, le=16, description="repositories that are built at the same time")
    judging: Cron = Field("0 4 * * *", description="when a sample of the logged answers is judged for faithfulness (cron, UTC)")
    judge_share: float = Field(0.1, ge=0, le=1, description="share of the answers that is judged, picked by a hash of the answer id")
    judge_alert_below: float = Field(0.8, ge=0, le=1, description="alert when the moving average of faithfulness falls below this")
    retention: Cron = Field("30 4 * * *", description="when old entries of the log are deleted (cron, UTC)")
    retention_days: int = Field(90, ge=1, description="days that questions, answers and votes are kept")
    stale_hours: float = Field(26, gt=0, description="at start, a repository whose last good build is older than this is rebuilt at once")
    misfire_hours: float = Field(6, gt=0, description="a job that could not start on time still runs within these hours")


class RetrievalSection(Section):
    top_k: int = Field(10, ge=1, le=100, description="search results that a question gets")
    candidates: int = Field(100, ge=1, le=1000, description="candidates that each retriever brings")
    fusion: Literal["linear", "rrf"] = Field(
        "linear", description='how the two lists become one: by their scores, or by rank alone ("rrf")'
    )
    rrf_k: int = Field(60, ge=1, description='k of reciprocal rank fusion, where fusion is "rrf"')
    timeout: float = Field(30, gt=0, description="seconds before a search counts as failed")
    fold: bool = Field(True, description="whether results of different files with nearly the same text become one that names the others")
    mmr: float = Field(
        1.0, ge=0, le=1, description="λ of maximal marginal relevance: 1 keeps the order, less prefers results unlike those before them"
    )
    expansion: Literal["none", "hyde", "rewrite"] = Field(
        "none",
        description="whether a repository's language model says a question again before it is searched for: hyde, a made-up snippet that "
        "would answer it, searched for by meaning beside it; rewrite, names and words that code may use. It sees the question alone; "
        "repositories whose generator is extractive have no model",
    )
    expansion_timeout: float = Field(5, gt=0, le=60, description="seconds before a question is searched for as it stands")


class RerankSection(Section):
    by: Literal["off", "cross-encoder", "server", "generator"] = Field(
        "off",
        description="what scores the best results again: a sentence-transformers cross-encoder on this machine, a rerank server, or the "
        "language model as a judge. What is not on this machine is not shown the code of repositories whose generator is extractive",
    )
    model: str = Field("", description="the cross-encoder by name or path; or what the server calls its model")
    max_length: int = Field(512, ge=32, le=8192, description="cross-encoder: most tokens of question and chunk together")
    url: str = Field("", description="server: its address; without a path, the dialect's own is added (/v2/rerank, /rerank)")
    dialect: Literal["cohere", "tei"] = Field("cohere", description="server: what it speaks; Jina, vLLM and others speak Cohere's")
    threshold: float = Field(0, ge=0, le=10, description="generator: what it marks lower, from 0 to 10, is no result")
    at_once: int = Field(4, ge=1, le=64, description="generator: requests in flight at a time")
    candidates: int = Field(20, ge=1, le=200, description="results that are scored again")
    weight: float = Field(0.5, ge=0, le=1, description="of its order against the ranking's: 1 is its order alone")
    timeout: float = Field(10, gt=0, description="seconds before scoring counts as failed, and the order stands as it was")


class EmbeddingSection(Section):
    model: str = Field("all-MiniLM-L6-v2", description="the packaged model, or a sentence-transformers model by name or path", min_length=1)
    query_prompt: str = Field("", description="text put before a question; empty: the model's own")
    document_prompt: str = Field("", description="text put before a chunk; empty: the model's own")
    backend: Literal["onnx-int8", "onnx-fp32", "static", "sentence-transformers"] = Field(
        "onnx-int8",
        description="what runs the model; static: a vector a token, distilled from it once; indexes large repositories in seconds",
    )
    threads: int = Field(0, ge=0, description="threads for embedding; 0: as many as there are cores")
    read_tokens: int = Field(
        128, ge=0, description="most tokens of a chunk that the model reads; 0: all that it can. Fewer are quicker; a change embeds anew"
    )


class QdrantSection(Section):
    m: int = Field(32, ge=4, le=128, description="HNSW: links of a vector; more find more and take more memory")
    ef_construct: int = Field(256, ge=16, le=4096, description="HNSW: candidates compared for each vector while the graph is built")
    ef: int = Field(256, ge=16, le=4096, description="HNSW: candidates compared while it is searched; at least twice those a search brings")
    quantization: Literal["none", "int8"] = Field(
        "none", description="int8: a quarter of the memory for searching; what comes up is compared again by the full vectors"
    )
    oversampling: float = Field(2.0, ge=1, le=20, description="with int8: so many times as many candidates are compared again")
    shard_number: int = Field(0, ge=0, le=256, description="shards of a collection in a cluster; 0: the server's own choice")
    replication_factor: int = Field(0, ge=0, le=32, description="copies of each shard in a cluster; 0: the server's own choice")
    write_consistency_factor: int = Field(0, ge=0, le=32, description="copies that must have a write in a cluster; 0: as the server has it")
    timeout: float = Field(10, ge=1, description="seconds before a search on the server counts as failed, and words alone answer")
    build_timeout: float = Field(120, ge=1, description="seconds before a request of a build counts as failed; it is tried three times")


class AnswersSection(Section):
    request_tokens: int = Field(8000, ge=1500, description="most tokens that one request to a language model comes to, answer included")
    context_chunks: int = Field(10, ge=1, le=50, description="most chunks that a prompt carries")
    history_turns: int = Field(3, ge=0, le=20, description="earlier questions of a thread that a follow-up sees")
    deadline: float = Field(120, gt=0, description="seconds spent waiting for a language model before an answer counts as failed")


class GroqSection(Section):
    model: str = Field("llama-3.3-70b-versatile", description="which of Groq's models", min_length=1)
    temperature: float = Field(0.1, ge=0, le=2, description="0: always the likeliest words")
    max_tokens: int = Field(1024, ge=64, description="most tokens that an answer has")
    timeout: float = Field(60, gt=0, description="seconds spent waiting for one answer, attempts and pauses included")
    tokens_per_minute: int = Field(8000, ge=1500, description="the account's limit: a request that would exceed it is not sent")


class SlackSection(Section):
    base_url: str = Field("https://slack.com/api/", description="where Slack's Web API is; another only for tests")
    questions_per_minute: int = Field(6, ge=1, description="questions that one person may ask in a minute")
    at_once: int = Field(4, ge=1, description="answers written at the same time")
    stream: bool = Field(True, description="whether answers appear as they are written")
    alert_channel: str = Field("", description="channel id that hears of failed builds and falling faithfulness; empty: the log alone")


class HttpSection(Section):
    listen: Annotated[str, AfterValidator(_listen)] = Field(
        "",
        description='address and port on which `footnote serve` takes webhooks and answers `GET /health`, as in "127.0.0.1:8710"; '
        "empty: no port is opened",
    )
    max_body_bytes: int = Field(5_000_000, ge=10_000, le=25_000_000, description="a larger webhook is refused unread")


class PrivacySection(Section):
    names: Literal["shown", "masked"] = Field(
        "shown",
        description='whether authors of the history may be named: in answers to "who knows about …" and to filter by. "masked": no name is '
        "stored, dates are",
    )


class Settings(Section):
    """Everything that can be set."""

    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("footnote", appauthor=False)),
        description="where indexes, mirrors, models and the log live; default: the platform's user data directory",
    )
    log_format: Literal["text", "json"] = Field("text", description='"json": one JSON object a line, for production')
    build_threads: int = Field(
        0, ge=0, description="threads of a build; 0: one while `footnote serve` answers, else as many as there are cores"
    )
    private_hosts: tuple[str, ...] = Field((), description="hosts inside your network that may be cloned from; others there are refused")
    repositories: tuple[RepositorySettings, ...] = Field((), description="what can be asked about")
    channels: tuple[ChannelSettings, ...] = Field((), description="which repository a channel asks about")
    schedule: ScheduleSettings = Field(default_factory=ScheduleSettings, description="what happens when nobody asks")
    retrieval: RetrievalSection = Field(default_factory=RetrievalSection, description="how chunks are found")
    rerank: RerankSection = Field(
        default_factory=RerankSection, description="a second look at the best results: none, unless it is configured"
    )
    embedding: EmbeddingSection = Field(default_factory=EmbeddingSection, description="the embedding model")
    qdrant: QdrantSection = Field(
        default_factory=QdrantSection,
        description="collections on the Qdrant server that QDRANT_URL names; of no use without one",
    )
    answers: AnswersSection = Field(default_factory=AnswersSection, description="how answers are put together")
    groq: GroqSection = Field(default_factory=GroqSection, description="the language model at Groq")
    slack: SlackSection = Field(default_factory=SlackSection, description="the bot's manners in Slack")
    http: HttpSection = Field(default_factory=HttpSection, description="what listens on a port: nothing, unless it is configured")

    privacy: PrivacySection = Field(default_factory=PrivacySection, description="what is told of people")

    slack_bot_token: SecretStr = Field(SecretStr(""), exclude=True)
    slack_app_token: SecretStr = Field(SecretStr(""), exclude=True)
    groq_api_key: SecretStr = Field(SecretStr(""), exclude=True)
    git_token: SecretStr = Field(SecretStr(""), exclude=True)
    webhook_secret: SecretStr = Field(SecretStr(""), exclude=True)
    qdrant_url: SecretStr = Field(SecretStr(""), exclude=True)
    qdrant_api_key: SecretStr = Field(SecretStr(""), exclude=True)
    rerank_api_key: SecretStr = Field(SecretStr(""), exclude=True)
    groq_base_url: str = Field("", exclude=True)
    config_file: Path | None = Field(None, exclude=True)


INTERNAL = frozenset({*SECRET_VARIABLES, "groq_base_url", "config_file"})
