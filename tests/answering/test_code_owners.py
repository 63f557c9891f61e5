from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.code_owners import fits, owning, rules_of


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("*", ["a", "a/b.py", ".x/y"], []),
        ("*.js", ["a.js", "x/y/a.js"], ["a.jsx", "a.js.py"]),
        ("/build/", ["build/a", "build/x/a"], ["x/build/a", "build"]),
        ("build/", ["build/a", "x/build/y/a"], ["build", "builds/a"]),
        ("docs/*", ["docs/a.md"], ["docs/x/a.md", "x/docs/a.md"]),
        ("docs/**", ["docs/a.md", "docs/x/a.md"], ["docs", "x/docs/a.md"]),
        ("/docs", ["docs", "docs/a", "docs/x/a"], ["x/docs/a"]),
        ("**/logs", ["logs", "logs/a", "x/y/logs/a"], ["log", "logsx"]),
        ("apps/**/test", ["apps/test", "apps/x/y/test", "apps/x/test/a"], ["test", "x/apps/test"]),
        ("/a?c.py", ["abc.py"], ["ac.py", "abbc.py", "x/abc.py"]),
        ("README", ["README", "x/README"], ["README.md"]),
    ],
)
def test_patterns(pattern: str, fitting: list[str], others: list[str]) -> None:
    assert [path for path in fitting if not fits(pattern, path)] == []
    assert [path for path in others if fits(pattern, path)] == []


TEXT = """# who reviews
*            @example/everyone
/src/        @ana ben@example.org   # two of them
/src/free/
!/src/not/   @nobody
docs\\ old/a @docs
only-a-pattern-in-a-comment # @x
"""


@pytest.mark.parametrize(
    ("path", "line", "owners"),
    [
        ("a.py", 2, ("example/everyone",)),
        ("src/x/a.py", 3, ("ana", "ben")),
        ("src/not/a.py", 3, ("ana", "ben")),
        ("docs old/a", 6, ("docs",)),
    ],
)
def test_the_last_line_that_fits_counts(path: str, line: int, owners: tuple[str, ...]) -> None:
    assert [(rule.line, rule.owners) for rule in owning(rules_of(TEXT), path)] == [(line, owners)]


def test_a_line_without_owners_frees_its_paths() -> None:
    assert owning(rules_of(TEXT), "src/free/a.py") == []


def test_sections_count_by_themselves() -> None:
    text = "* @all\n[Database][2] @dba\n/db/\n/db/seed/ @seeder\n^[Docs]\n*.md @writers\n"
    rules = rules_of(text)
    assert [rule.owners for rule in owning(rules, "db/x.sql")] == [("all",), ("dba",)]
    assert [rule.owners for rule in owning(rules, "db/seed/a.md")] == [("all",), ("seeder",), ("writers",)]


def test_owners_cannot_act() -> None:
    (rule,) = rules_of("* @here <!channel> @a<b>c [x](https://evil) eve@evil.example @" + "x" * 500)
    assert all(not set(owner) & set("<>@[]()|`!*:") and len(owner) <= 80 for owner in rule.owners)


@given(st.text(max_size=200), st.text(max_size=60))
def test_any_text_is_read(text: str, path: str) -> None:
    for rule in owning(rules_of(text), path):
        assert rule.owners


def test_no_pattern_takes_long() -> None:
    started = time.process_time()
    for pattern in ("*a" * 200, "**/" * 200 + "b", "/".join(["*a*a*a*a*"] * 50), "?" * 3_000):
        assert not fits(pattern, "/".join(["a" * 80] * 12) + "/c")
    assert time.process_time() - started < 20  # a tenth of one; a backtracking pattern would take years
