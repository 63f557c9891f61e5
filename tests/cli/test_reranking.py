"""`[rerank]`: what is built of it, what is refused, and what `footnote doctor` says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.configuration import load_settings
from bot.data_directory import DataDirectory
from bot.doctor import CHECKS, Finding
from bot.part_settings import live_secrets
from bot.reranking import reranking_of
from bot.settings import Settings
from bot.wiring.parts import open_parts
from rag.errors import ConfigurationError, FootnoteError
from rag.types import Repository
from tests.answering.fake_groq import FakeGroq, Reply
from tests.embedding.tiny_models import save_tiny_cross_encoder
from tests.retrieval.reranking.servers import Judging, like_cohere, rerank_server, verdict

KEY = "canary-key-canary-key"
PRIVATE, SENT = Repository("private", "x"), Repository("sent", "y", generator="groq")
CONFIG = """
[[repositories]]
name = "private"
source = "x"

[[repositories]]
name = "sent"
source = "y"
generator = "groq"
"""


def settings_of(place: Path, **environment: str) -> Settings:
    (place / "footnote.toml").write_text(CONFIG)
    return load_settings(place / "footnote.toml", {"FOOTNOTE_DATA_DIR": str(place / "data"), **environment})


async def finding(place: Path, **environment: str) -> Finding:
    settings = await asyncio.to_thread(settings_of, place, **environment)
    try:
        return await dict(CHECKS)["reranker"](settings)
    except FootnoteError as error:  # as `examine` has it
        return Finding("reranker", "failed", error.problem, error.remedy)


def test_none_unless_it_is_configured(tmp_path: Path) -> None:
    assert reranking_of(settings_of(tmp_path), Judging()) is None


def test_settings_arrive(tmp_path: Path) -> None:
    found = reranking_of(
        settings_of(tmp_path, FOOTNOTE_RERANK_BY="generator", FOOTNOTE_RERANK_CANDIDATES="7", FOOTNOTE_RERANK_WEIGHT="0.25"), Judging()
    )
    assert found is not None
    assert (found.settings.candidates, found.settings.weight, found.settings.timeout) == (7, 0.25, 10)
    assert found.reranker.name == "generator/scripted/judge"


@pytest.mark.parametrize(
    ("environment", "reads"),
    [
        ({"FOOTNOTE_RERANK_BY": "generator"}, [False, True]),
        ({"FOOTNOTE_RERANK_BY": "server", "FOOTNOTE_RERANK_URL": "https://rerank.example.com"}, [False, True]),
        ({"FOOTNOTE_RERANK_BY": "server", "FOOTNOTE_RERANK_URL": "http://10.0.0.7"}, [False, True]),
        ({"FOOTNOTE_RERANK_BY": "server", "FOOTNOTE_RERANK_URL": "http://127.0.0.1:8080"}, [True, True]),
        ({"FOOTNOTE_RERANK_BY": "cross-encoder", "FOOTNOTE_RERANK_MODEL": "a"}, [True, True]),
    ],
)
def test_extractive_repositories_stay_on_this_machine(environment: dict[str, str], reads: list[bool], tmp_path: Path) -> None:
    found = reranking_of(settings_of(tmp_path, **environment), Judging())
    assert found is not None
    assert [found.reads(repository) for repository in (PRIVATE, SENT)] == reads


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        ({"FOOTNOTE_RERANK_BY": "server"}, "rerank.url"),
        ({"FOOTNOTE_RERANK_BY": "server", "FOOTNOTE_RERANK_URL": "http://rerank.example.com"}, "unencrypted"),
        ({"FOOTNOTE_RERANK_BY": "cross-encoder"}, "rerank.model is empty"),
    ],
)
def test_what_cannot_be_meant_is_refused(environment: dict[str, str], problem: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        reranking_of(settings_of(tmp_path, **environment), Judging())


def test_an_unknown_reranker_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"rerank\.by is 'magic'"):
        settings_of(tmp_path, FOOTNOTE_RERANK_BY="magic")


def test_the_key_is_redacted_wherever_it_turns_up(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, RERANK_API_KEY=KEY)
    assert KEY in live_secrets(settings)
    assert KEY not in repr(settings)


async def test_what_serves_has_it(tmp_path: Path) -> None:
    async with rerank_server(like_cohere) as server:
        settings = await asyncio.to_thread(settings_of, tmp_path, FOOTNOTE_RERANK_BY="server", FOOTNOTE_RERANK_URL=server.url)
        directory = await asyncio.to_thread(DataDirectory(settings.data_dir).acquire)
        try:
            async with open_parts(settings, directory, "test") as parts:
                assert parts.pipeline._retriever._reranking is not None
                assert parts.pipeline._retriever._reranking.reads(PRIVATE)
        finally:
            directory.release()


async def test_doctor_without_one(tmp_path: Path) -> None:
    assert (await finding(tmp_path)).state == "off"


async def test_doctor_tries_a_server(tmp_path: Path) -> None:
    async with rerank_server(like_cohere) as server:
        environment = {"FOOTNOTE_RERANK_BY": "server", "FOOTNOTE_RERANK_URL": server.url, "RERANK_API_KEY": KEY}
        found = await finding(tmp_path, FOOTNOTE_RERANK_MODEL="m", **environment)
        assert (found.state, found.detail) == ("ok", "server/m answers")
    gone = await finding(tmp_path, **environment)
    assert (gone.state, "cannot be reached" in gone.detail, KEY in gone.detail + gone.remedy) == ("failed", True, False)


async def test_doctor_tries_a_judge_and_names_whose_code_is_kept(tmp_path: Path) -> None:
    for reply, state, words in ((verdict(8), "ok", "the code of private is not sent to it"), ("Eight.", "failed", "gives no JSON")):
        async with FakeGroq([Reply(reply)]) as groq:
            found = await finding(tmp_path, FOOTNOTE_RERANK_BY="generator", GROQ_API_KEY=KEY, GROQ_BASE_URL=groq.url)
        assert found.state == state
        assert words in found.detail


async def test_doctor_tries_a_cross_encoder(tmp_path: Path) -> None:
    directory = await asyncio.to_thread(save_tiny_cross_encoder, tmp_path / "tiny")
    found = await finding(tmp_path, FOOTNOTE_RERANK_BY="cross-encoder", FOOTNOTE_RERANK_MODEL=str(directory))
    assert (found.state, found.detail) == ("ok", "cross-encoder/tiny answers")
    missing = await finding(tmp_path, FOOTNOTE_RERANK_BY="cross-encoder", FOOTNOTE_RERANK_MODEL="nobody/nothing")
    assert missing.state == "failed"
    assert "directory" in missing.remedy
