"""Indexes are kept between runs: one a commit and folder, of the words asked for, never more than there is room for."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from rag.embedding.models import EmbeddingSettings, describe
from rag.errors import EvaluationError
from rag.evaluation.datasets import Label, Question
from rag.evaluation.indexes import EvalIndexes, Group, groups_of, home_of
from tests.index.fixtures import commit_files, git, make_repository

FILES = {"src/a.py": "def first():\n    return 1\n", "docs/guide.md": "# How to sign a cookie\n\nThere is a key for that purpose.\n"}


def _question(name: str, commit: str, root: str = "", blank: tuple[Label, ...] = ()) -> Question:
    return Question(name, "set", "owner/name", commit, "python", "How to sign a cookie", (Label("docs/guide.md"),), root, blank=blank)


@pytest.fixture
def commits(tmp_path: Path) -> tuple[str, str]:
    source = make_repository(tmp_path / "repos" / "owner+name", FILES)
    first = git(source, "rev-parse", "HEAD")
    return first, commit_files(source, {"src/b.py": "def second():\n    return 2\n"})


def _indexes(tmp_path: Path, **more: object) -> EvalIndexes:
    settings = EmbeddingSettings(threads=1)
    return EvalIndexes(tmp_path / "repos", tmp_path / "evaluation", embedding=settings, **more)  # type: ignore[arg-type]


async def _paths(indexes: EvalIndexes, group: Group) -> tuple[set[str], bool]:
    async with indexes.open(group, dense=False) as (generation, _, indexed):
        return {chunk.path for chunk in generation.chunks.all()}, indexed.built


async def test_two_commits_and_a_folder_stand_side_by_side(tmp_path: Path, commits: tuple[str, str]) -> None:
    first, second = commits
    questions = [_question("1", first, "src"), _question("2", second, "src"), _question("3", second)]
    whole, rooted = groups_of(questions, root=False), groups_of(questions, root=True)
    assert [len(group.questions) for group in whole] == [1, 2]
    assert [group.root for group in rooted] == ["src", "src", ""]
    assert (
        len({group.name for group in (*whole, *rooted)}) == 4
    )  # whole at either commit, and src/ at either; the third is the second's whole
    indexes = _indexes(tmp_path)
    try:
        for built in (True, False):
            assert await _paths(indexes, whole[0]) == ({"src/a.py", "docs/guide.md"}, built)
            assert await _paths(indexes, whole[1]) == ({"src/a.py", "src/b.py", "docs/guide.md"}, built)
            assert await _paths(indexes, rooted[0]) == ({"src/a.py"}, built)
    finally:
        indexes.close()
    later = _indexes(tmp_path, standing_only=True)
    shutil.rmtree(tmp_path / "repos")  # what stands needs no clone
    assert (await _paths(later, whole[1]))[1] is False
    with pytest.raises(EvaluationError, match="does not stand"):
        await _paths(later, rooted[1])
    later.close()


async def test_an_index_holds_the_history_that_users_get_and_lacks_it_where_words_are_blanked(
    tmp_path: Path, commits: tuple[str, str]
) -> None:
    question = _question("1", commits[1], blank=(Label("docs/guide.md", 1, 1),))
    (plain,), (blanked,) = groups_of([question], root=False), groups_of([question], root=False, blank=True)
    indexes = _indexes(tmp_path)
    try:
        for again in (False, True):
            for group, held in ((plain, True), (blanked, False)):
                async with indexes.open(group, dense=True) as (generation, _, indexed):
                    messages = generation.history.messages()
                assert (messages is not None) is held
                assert indexed.built is not again
        (stored,) = (tmp_path / "evaluation").rglob("history.npz")
        stored.unlink()  # as of an index that an earlier version built
        standing = _indexes(tmp_path, standing_only=True)
        async with standing.open(plain, dense=True) as (generation, _, _):
            assert generation.history.messages() is None
        standing.close()
        async with indexes.open(plain, dense=True) as (generation, _, indexed):
            messages = generation.history.messages()
        assert messages is not None
        assert len(messages) == 2
        assert not indexed.built
    finally:
        indexes.close()


async def test_the_words_of_questions_are_not_in_a_blanked_index(tmp_path: Path, commits: tuple[str, str]) -> None:
    question = _question("1", commits[0], blank=(Label("docs/guide.md", 1, 1),))
    (plain,), (blanked,) = groups_of([question], root=False), groups_of([question], root=False, blank=True)
    assert plain.name != blanked.name
    indexes = _indexes(tmp_path)
    try:
        for group, held in ((plain, True), (blanked, False)):
            async with indexes.open(group, dense=False) as (generation, _, _):
                texts = [chunk.encoded_text for chunk in generation.chunks.all() if chunk.path == "docs/guide.md"]
            assert any("sign a cookie" in text for text in texts) is held
            assert any("key for that purpose" in text for text in texts)
        assert (await _paths(indexes, blanked))[1] is False
    finally:
        indexes.close()


async def test_what_was_longest_not_asked_goes_where_there_is_no_room(tmp_path: Path, commits: tuple[str, str]) -> None:
    first, second = (group for group in groups_of([_question("1", commits[0]), _question("2", commits[1])], root=False))
    rooted = groups_of([_question("3", commits[1], "src")], root=True)[0]
    directory = tmp_path / "evaluation" / "repositories"
    indexes = _indexes(tmp_path)
    try:
        for group in (first, second):
            await _paths(indexes, group)
        os.utime(directory / second.name / "used", (1, 1))
    finally:
        indexes.close()
    size = sum(path.stat().st_blocks * 512 for path in (directory / first.name).rglob("*") if path.is_file())
    small = _indexes(tmp_path, most_bytes=size + 4096)
    try:
        await _paths(small, rooted)
    finally:
        small.close()
    assert {path.name for path in directory.iterdir()} == {first.name, rooted.name}


def test_another_model_has_a_home_of_its_own(tmp_path: Path) -> None:
    spec = describe(EmbeddingSettings())
    other = home_of(tmp_path, replace(spec, document_prompt="passage: "))
    assert home_of(tmp_path, spec) == tmp_path
    assert tmp_path in other.parents
    assert other != home_of(tmp_path, replace(spec, weights_hash="0" * 64))
