"""Who writes a set of questions: the repository's generator where it has one and code may leave, nobody otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.cli.eval_sets import _generate
from bot.settings import RepositorySettings, Settings
from rag.embedding.models import EmbeddingSettings
from rag.evaluation.indexes import EvalIndexes, Group
from tests.answering.fake_groq import FakeGroq, Reply
from tests.index.fixtures import SAMPLE_FILES, git, make_repository

GOOD = Reply(json.dumps({"question": "Where are parcels put into lockers?", "kind": "where"}))
BAD = Reply("Here is your question!")


@pytest.fixture
async def indexed(tmp_path: Path) -> str:
    """The name of a repository that is indexed by its words, in `tmp_path / "data"`."""
    source = make_repository(tmp_path / "repos" / "larder", SAMPLE_FILES)
    group = Group("larder", git(source, "rev-parse", "HEAD"), "")
    indexes = EvalIndexes(tmp_path / "repos", tmp_path / "data", embedding=EmbeddingSettings(threads=1))
    async with indexes.open(group, dense=False):
        pass
    indexes.close()
    return group.name


def _settings(data: Path, name: str, url: str, generator: str, key: str = "gsk_test") -> Settings:
    own = RepositorySettings(name=name, source="/nowhere", generator=generator)
    return Settings(data_dir=data, repositories=(own,), groq_api_key=SecretStr(key), groq_base_url=url)


async def test_the_configured_generator_writes_and_what_is_malformed_is_counted(tmp_path: Path, indexed: str) -> None:
    async with FakeGroq([BAD, GOOD]) as groq:
        found = await _generate(_settings(tmp_path / "data", indexed, groq.url, "groq"), indexed, 2, 0, without_model=False)
    assert (len(found.rows), found.malformed) == (2, 1)
    assert found.writer.startswith("groq/")
    assert len(groq.requests) == 3
    assert found.rows[0]["query"] == "Where are parcels put into lockers?"


async def test_no_code_leaves_for_a_repository_that_keeps_it_here(tmp_path: Path, indexed: str) -> None:
    async with FakeGroq([GOOD]) as groq:
        for generator, key, without in (("extractive", "gsk_test", False), ("groq", "", False), ("groq", "gsk_test", True)):
            settings = _settings(tmp_path / "data", indexed, groq.url, generator, key)
            found = await _generate(settings, indexed, 3, 0, without_model=without)
            assert (found.writer, found.malformed) == ("", 0)
            assert found.rows
            assert all(row["blank"] for row in found.rows)
    assert groq.requests == []
