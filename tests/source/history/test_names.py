"""What is kept of a name, and whom a few letters mean."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.source.history.names import LONGEST, folded, is_program, kept_name, meant_by, near


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("Ana Berg", "Ana Berg"),
        ("  Ana \t\n Berg ", "Ana Berg"),
        ("José O'Neil-Smith Jr.", "José O'Neil-Smith Jr."),
        ("山田 太郎", "山田 太郎"),
        ("foo_bar", "foo_bar"),
        ("ana@example.org", "ana"),
        ("Ana <ana@example.org>", "Ana ana"),
        ("@channel", ""),
        ("<!channel> Ana", "channel Ana"),
        ("<@U123>", ""),
        ("[Ana](https://evil.example/?k=1)", "Ana ( evil.example ?k 1)"),
        ("*Ana* `x` ~y~ #1", "Ana x y 1"),
        ("\u202eanA\u200b\x00\x1b[31m", "anA 31m"),
        ("", ""),
        ("ghp_0123456789abcdefghijklmnopqrstuvwxyzAB", ""),
    ],
)
def test_what_is_kept(raw: str, kept: str) -> None:
    assert kept_name(raw) == kept


@given(st.one_of(st.text(max_size=300), st.text("<>@!#|[]()`*_~: /.aA1\u202e\u200d\ud800\n", max_size=200), st.just("x" * 10_000)))
def test_no_kept_name_can_act(raw: str) -> None:
    kept = kept_name(raw)
    assert len(kept) <= LONGEST
    assert not set(kept) & set("<>@|[]`*~#!\\/\n\r\t")
    assert all(unicodedata.category(character)[0] != "C" for character in kept)
    assert kept == kept.strip()


@pytest.mark.parametrize(
    "name",
    ["dependabot[bot]", "dependabot bot", "dependabot-preview[bot]", "renovate", "Renovate Bot", "github-actions", "StyleCI Bot", "bors"],
)
def test_programs(name: str) -> None:
    assert is_program(name)
    assert is_program(kept_name(name))


@pytest.mark.parametrize("name", ["Ana Berg", "Abbot Lee", "Travis Pew", "Boris", "Jenkins Ada", "Botond", "robot-fan", ""])
def test_people(name: str) -> None:
    assert not is_program(name)


PEOPLE = ["Ana Berg", "Anabel Kim", "Ben Ana-Lee", "Zoë Quinn", "mary.jane", "Annika"]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("ana", ["Ana Berg", "Anabel Kim", "Ben Ana-Lee"]),
        ("ANA B", ["Ana Berg"]),
        ("ana berg", ["Ana Berg"]),
        ("berg", ["Ana Berg"]),
        ("erg", []),
        ("zoe", ["Zoë Quinn"]),
        ("jane", ["mary.jane"]),
        ("", []),
        ("!!", []),
    ],
)
def test_whom_a_few_letters_mean(wanted: str, meant: list[str]) -> None:
    assert meant_by(wanted, PEOPLE) == meant


def test_names_that_are_near() -> None:
    assert near("Zoe Quin", PEOPLE)[0] == "Zoë Quinn"
    assert near("anika", PEOPLE)[0] == "Annika"
    assert near("qwertz", PEOPLE) == []
    assert len(near("an", PEOPLE)) <= 3


@given(st.text(max_size=40))
def test_every_name_means_itself(name: str) -> None:
    assert meant_by(name, [name]) == ([name] if folded(name) else [])
