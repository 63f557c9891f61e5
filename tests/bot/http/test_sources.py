"""URLs that name one repository, and URLs that do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.http.sources import source_key

FLASK = ("github.com", "pallets/flask")
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,20}", fullmatch=True)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/pallets/flask",
        "https://github.com/pallets/flask.git",
        "https://github.com/pallets/flask.git/",
        "https://GitHub.com/Pallets/Flask.GIT",
        "https://github.com:443/pallets/flask",
        "https://token@github.com/pallets/flask",
        "git@github.com:pallets/flask.git",
        "github.com:pallets/flask",
        "git@github.com:/pallets/flask",
        "ssh://git@github.com/pallets/flask.git",
        "ssh://git@github.com:22/pallets//flask",
        "git://github.com/pallets/flask.git",
    ],
)
def test_one_repository_however_it_is_written(url: str) -> None:
    assert source_key(url) == FLASK


@pytest.mark.parametrize(
    "url", ["", "/srv/flask", "./flask", "https://github.com", "https://github.com/", "https:///pallets/flask", "https://github.com/.git"]
)
def test_what_is_no_url_of_a_repository_has_no_key(url: str) -> None:
    assert source_key(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/pallets/flask-admin",
        "https://github.com/evil/flask",
        "https://github.com.evil.example/pallets/flask",
        "https://evil.example/github.com/pallets/flask",
        "https://github.com@evil.example/pallets/flask",
        "git@evil.example:pallets/flask.git",
    ],
)
def test_another_repository_is_another(url: str) -> None:
    assert source_key(url) != FLASK


@given(NAMES, NAMES)
def test_every_form_of_any_name_has_one_key(owner: str, name: str) -> None:
    forms = (f"https://h.example/{owner}/{name}.git", f"git@h.example:{owner}/{name}.git", f"ssh://git@h.example:2222/{owner}/{name}")
    assert {source_key(form) for form in forms} == {("h.example", f"{owner}/{name}".lower())}
