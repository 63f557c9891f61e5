"""The words of a question are gone from a copy of the commit, and nothing else is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.errors import FootnoteError
from rag.evaluation.blanking import blank_words, blanked_clone
from rag.evaluation.datasets import Label
from rag.source.mirror import Mirror
from rag.types import Document
from tests.index.fixtures import git, make_repository

FILES = {
    "docs/a.md": "# Signing of cookies\n\nA signed cookie is kept.\nSigning of cookies again.\n",
    "src/a.py": "x = 1\n",
    "é/b c.md": "# One\n",
}


def test_only_these_words_in_these_lines() -> None:
    text = "## Signing the Cookie\n\nsigning the cookie, re-signing_x\n"
    assert blank_words(text, 1, 1, ["signing the cookie"]) == "## … … …\n\nsigning the cookie, re-signing_x\n"
    assert blank_words(text, 3, 9, ["The cookie"]) == "## Signing the Cookie\n\nsigning … …, re-signing_x\n"
    assert blank_words(text, 1, 1, []) == text


@given(st.text(), st.integers(-3, 9), st.integers(-3, 9), st.lists(st.text(), max_size=3))
def test_as_many_lines_as_before(text: str, start: int, end: int, words: list[str]) -> None:
    assert blank_words(text, start, end, words).count("\n") == text.count("\n")


def _texts(clone: Path, commit: str) -> dict[str, str]:
    return {one.path: one.text for one in Mirror.existing(clone).documents(commit) if isinstance(one, Document)}


@pytest.mark.parametrize("form", ["work tree", "bare", "worktree of another"])
def test_a_copy_borrows_what_it_does_not_change_and_is_the_same_each_time(tmp_path: Path, form: str) -> None:
    source = make_repository(tmp_path / "source", FILES)
    clone = source
    if form == "bare":
        clone = tmp_path / "bare.git"
        subprocess.run(["git", "clone", "-q", "--bare", str(source), str(clone)], check=True)
    elif form == "worktree of another":
        clone = tmp_path / "beside"
        git(source, "worktree", "add", "--quiet", "--detach", str(clone))
    commit = git(source, "rev-parse", "HEAD")
    lines = {Label("docs/a.md", 1, 1): ["Signing of cookies"], Label("é/b c.md", 1, 1): ["One"]}
    place, made = blanked_clone(Mirror.existing(clone), clone, commit, lines, tmp_path / "copies" / "one")
    before, after = _texts(source, commit), _texts(place, made)
    assert after == before | {"docs/a.md": before["docs/a.md"].replace("# Signing of cookies", "# … … …"), "é/b c.md": "# …\n"}
    assert blanked_clone(Mirror.existing(clone), clone, commit, lines, tmp_path / "copies" / "one") == (place, made)
    assert blanked_clone(Mirror.existing(clone), clone, commit, lines, tmp_path / "copies" / "two")[1] == made
    assert git(source, "status", "--porcelain") == ""
    assert git(source, "rev-parse", "HEAD") == commit


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source", FILES)
    with pytest.raises(FootnoteError, match="nowhere"):
        blanked_clone(
            Mirror.existing(source), source, git(source, "rev-parse", "HEAD"), {Label("nowhere.md", 1, 1): ["x"]}, tmp_path / "copy"
        )
