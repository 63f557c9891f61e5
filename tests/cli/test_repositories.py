"""Names of repositories: from the file, and by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.repositories import MIGRATIONS, RepositoryRegistry, default_name
from rag.database import Database
from rag.errors import ConfigurationError, NotIndexed
from rag.types import Repository

FLASK = Repository("flask", "https://github.com/pallets/flask", audience=("*",))


@pytest.fixture
async def registry(tmp_path: Path) -> AsyncIterator[RepositoryRegistry]:
    async with Database(tmp_path / "footnote.sqlite", MIGRATIONS) as database:
        registry = RepositoryRegistry([FLASK], database)
        await registry.load()
        yield registry


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("https://github.com/pallets/flask", "flask"),
        ("https://github.com/pallets/flask.git/", "flask"),
        ("git@github.com:pallets/flask.git", "flask"),
        ("/home/me/my shop", "my-shop"),
        ("C:\\code\\shop", "shop"),
        ("///", "repository"),
    ],
)
def test_a_source_has_a_name(source: str, name: str) -> None:
    assert default_name(source) == name


async def test_what_is_added_by_hand_is_kept_and_never_told_to_slack(registry: RepositoryRegistry, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    added = await asyncio.to_thread(registry.add, str(tmp_path / "shop"))
    assert (added.name, added.by_hand, added.audience) == ("shop", True, ())
    with pytest.raises(NotIndexed):
        registry.get("shop")
    await registry.keep(added)
    assert registry.get("SHOP") == added
    assert registry.configured() == (FLASK,)


async def test_a_configured_repository_is_meant_by_its_name_or_source(registry: RepositoryRegistry) -> None:
    assert await asyncio.to_thread(registry.add, "flask") == FLASK
    assert await asyncio.to_thread(registry.add, FLASK.source) == FLASK


async def test_a_taken_name_is_refused(registry: RepositoryRegistry, tmp_path: Path) -> None:
    (tmp_path / "flask").mkdir()
    with pytest.raises(ConfigurationError, match="--name"):
        await asyncio.to_thread(registry.add, str(tmp_path / "flask"))
    with pytest.raises(ConfigurationError, match="--name"):
        await asyncio.to_thread(registry.add, FLASK.source, branch="other")
    with pytest.raises(ConfigurationError, match="cannot be a repository's name"):
        await asyncio.to_thread(registry.add, str(tmp_path / "flask"), name="../x")


async def test_an_index_is_found_by_name_or_by_where_it_comes_from(registry: RepositoryRegistry) -> None:
    assert registry.find("Flask") == registry.find(FLASK.source) == registry.find("elsewhere", "flask") == FLASK
    with pytest.raises(NotIndexed, match="Did you mean flask"):
        registry.find("flaks")
    stable = Repository("flask-stable", FLASK.source, "stable", by_hand=True)
    await registry.keep(stable)
    with pytest.raises(ConfigurationError, match="flask, flask-stable"):
        registry.find(FLASK.source)
    assert registry.find(FLASK.source, branch="stable") == stable
    with pytest.raises(NotIndexed):
        registry.find(FLASK.source, branch="absent")


async def test_an_unknown_name_gets_the_nearest_one(registry: RepositoryRegistry) -> None:
    with pytest.raises(NotIndexed, match="Did you mean flask"):
        registry.get("flaks")
