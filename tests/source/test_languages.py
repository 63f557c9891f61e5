import pytest

from rag.source.languages import language_of
from rag.types import PROSE


@pytest.mark.parametrize(
    ("path", "first", "language"),
    [
        ("a/b.py", "", "python"),
        ("B.PY", "", "python"),
        ("x.tsx", "", "tsx"),
        ("x.d.ts", "", "typescript"),
        ("x.mjs", "", "javascript"),
        ("x.h", "", "c"),
        ("x.h", "// -*- C++ -*-", "cpp"),
        ("x.hpp", "", "cpp"),
        ("x.cs", "", "csharp"),
        ("lib/x.exs", "", "elixir"),
        ("build.gradle.kts", "", "kotlin"),
        ("Dockerfile", "", "dockerfile"),
        ("docker/Dockerfile.dev", "", "dockerfile"),
        ("Makefile", "", "make"),
        ("CMakeLists.txt", "", "cmake"),
        ("Gemfile", "", "ruby"),
        ("README", "", "text"),
        ("README.md", "", "markdown"),
        ("docs/index.rst", "", "restructuredtext"),
        ("go.mod", "", "gomod"),
        ("main.tf", "", "terraform"),
        ("n.ipynb", "", "notebook"),
        (".gitignore", "", "gitignore"),
        ("bin/run", "#!/usr/bin/env python3", "python"),
        ("bin/run", "#!/usr/bin/env -S node --flag", "javascript"),
        ("bin/run", "#!/bin/sh", "bash"),
        ("bin/run", "#! /usr/bin/python3.11 -u", "python"),
        ("bin/run", "#!/usr/bin/env", "text"),
        ("config/database.yml.tt", "", "yaml"),
        ("config.h.in", "", "c"),
        ("phpunit.xml.dist", "", "xml"),
        ("setup.in", "", "text"),
        ("x.unknown", "hello", "text"),
        ("", "", "text"),
        (".py", "", "text"),
        ("x", "<?php echo 1;", "php"),
    ],
)
def test_a_file_has_the_language_of_its_name_or_else_of_its_first_line(path: str, first: str, language: str) -> None:
    assert language_of(path, first) == language


def test_prose_is_named_as_the_table_names_it() -> None:
    assert {language_of(name) for name in ("a.md", "a.rst", "a.txt")} <= PROSE
    assert language_of("a.py") not in PROSE
