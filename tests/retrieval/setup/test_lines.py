"""Which lines declare what is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.setup.asked import SetupKind
from rag.retrieval.setup.lines import declared, declaring

DEPENDENCIES = 'dependencies = [\n    "hinge>=1.2",\n    "oil",\n]\n'


def test_a_name_with_its_version_among_dependencies_says_most() -> None:
    said = [
        declared(["dependencies"], ["hinge"], text)
        for text in (
            DEPENDENCIES,
            'commands = ["uv run --with hinge==1.2 pytest"]',
            "<dependency>\n<artifactId>hinge</artifactId>\n<version>${hinge.version}</version>",
            'dependencies = ["hinge"]',
            "The hinge of a door.",
            "nothing",
        )
    ]
    assert said == sorted(said, reverse=True)
    assert said[0] == 1.0
    assert said[-1] == 0.0
    assert len(set(said)) == len(said)


@pytest.mark.parametrize(
    "text",
    [
        '"hinge": "^1.2"',
        "hinge = { version = '0.3' }",
        "github.com/door/hinge v1.2.0",
        "<artifactId>hinge</artifactId>\n<version>4</version>",
        "gem 'hinge', '~> 2'",
        '{:hinge, "~> 0.4 or ~> 1.0"}',
        "HINGE: 'com.door:hinge:1.2-jre'",
        '<PackageReference Include="hinge" Version="1.2" />',
    ],
)
def test_versions_as_ecosystems_write_them(text: str) -> None:
    assert declared(["used"], ["hinge"], text) >= 0.8
    assert declared(["used"], ["latch"], text) == 0.0


def test_the_words_of_one_name_stand_on_one_line() -> None:
    one = declared(["dependencies"], ["spring", "hinge"], "<dependencies>\nspring-hinge 1.2")
    apart = declared(["dependencies"], ["spring", "hinge"], "<dependencies>\nspring 1.2\nother 1.3\nhinge 1.4")
    half = declared(["dependencies"], ["spring", "hinge"], "<dependencies>\nspring 1.2")
    assert one == 1.0 > apart > half > 0


def test_the_dependencies_of_developers_are_others() -> None:
    developers = '"devDependencies": {\n  "hinge": "1"\n}'
    assert declared(["dependencies"], [], DEPENDENCIES) == 1.0 > declared(["dependencies"], [], developers) > 0
    assert (
        declared(["dependencies"], [], developers, optional=True) == 1.0 > declared(["dependencies"], [], DEPENDENCIES, optional=True) > 0
    )


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("runtime", 'requires-python = ">=3.10"'),
        ("runtime", "go 1.22"),
        ("runtime", '"engines": {"node": ">=18"}'),
        ("runtime", "<TargetFrameworks>net8.0</TargetFrameworks>"),
        ("runtime", "s.required_ruby_version = '>= 2.7'"),
        ("ci", "    strategy:\n      matrix:\n"),
        ("ci", "on:\n  push:\n"),
        ("container", "FROM python:3.12-slim"),
        ("container", "    ports:\n      - 80:80"),
        ("tasks", '  "scripts": {'),
        ("tasks", "test: build\n\tgo test ./..."),
        ("licence", "Permission is hereby granted, free of charge"),
        ("licence", 'license = "MIT"'),
    ],
)
def test_what_is_declared_without_a_name(kind: SetupKind, text: str) -> None:
    assert declared([kind], [], text) == 1.0
    assert declared([kind], [], "A door opens and closes.") == 0.0


@given(st.lists(st.sampled_from(["ci", "used", "dependencies", "runtime", "tools"]), max_size=3), st.lists(st.text(min_size=1)), st.text())
def test_any_text(kinds: list[SetupKind], names: list[str], text: str) -> None:
    assert 0 <= declared(kinds, names, text) <= 1


@pytest.mark.parametrize(
    ("kinds", "names", "asked", "text", "shown"),
    [
        (["dependencies"], ["hinge"], "hinge", DEPENDENCIES, '"hinge>=1.2",'),
        (["dependencies"], [], "depend", DEPENDENCIES + "[tool.x]\n", 'dependencies = [ "hinge>=1.2", "oil", ]'),
        (
            ["dependencies"],
            [],
            "depend",
            '[dependencies]\nhinge = "1"\noil = "2"\n\n[features]\nx = []',
            '[dependencies] hinge = "1" oil = "2"',
        ),
        (["runtime"], [], "python", 'classifiers = [\n"Python :: 3",\n]\nrequires-python = ">=3.11"', 'requires-python = ">=3.11"'),
        (["runtime"], [], "go", "module door\n\ngo 1.25\n", "go 1.25"),
        (["tasks"], [], "docs", "test: all\n\tpytest\n\ndocs: all\n\tmake html\n", "docs: all make html"),
        (["ci"], [], "python", "strategy:\n  matrix:\n    python-version: ['3.11', '3.12']\n", "python-version: ['3.11', '3.12']"),
        (["ci"], [], "run", "steps:\n  - uses: a/b@1\n  - run: make ci\n  - run: |\n      make docs\n      x\n", "make ci; make docs"),
        (["ci"], [], "run", "steps:\n  - uses: actions/hinge@0123 # v6\n  - uses: actions/oil@v1\n", "actions/hinge; actions/oil"),
        (["licence"], [], "licence", 'name = "x"\nlicense = "MIT"\n', 'license = "MIT"'),
        (["dependencies"], ["latch"], "latch", DEPENDENCIES, ""),
        (["tools"], [], "lint", "lint: yes", ""),
    ],
)
def test_what_is_shown_of_it(kinds: list[SetupKind], names: list[str], asked: str, text: str, shown: str) -> None:
    assert declaring(kinds, names, frozenset({asked}), text) == shown


@given(st.sampled_from(["dependencies", "runtime", "ci", "release", "tasks", "licence", "container", "package"]), st.text(max_size=200))
def test_what_is_shown_stands_there(kind: SetupKind, text: str) -> None:
    shown = declaring([kind], [], frozenset({"a"}), text)
    assert "\n" not in shown
    assert all(word in text for part in shown.split("; ") for word in part.split())
