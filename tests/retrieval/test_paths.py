from __future__ import annotations

import pytest

from rag.index.tokens import split_words
from rag.retrieval.paths import is_data, path_facts, untranslated, unversioned


@pytest.mark.parametrize(
    ("path", "stem", "directories", "test", "example"),
    [
        ("src/depot/LockerDoor.java", ("locker", "door"), ("src", "depot"), False, False),
        ("src/lockers/mod.rs", ("lockers",), ("src", "lockers"), False, False),
        ("depot/__init__.py", ("depot",), ("depot",), False, False),
        ("index.js", ("index",), (), False, False),
        ("larder-core/README.md", ("larder", "core"), ("larder", "core"), False, False),
        ("README.md", ("readme",), (), False, False),
        (".gitignore", ("gitignore",), (), False, False),
        ("depot/door_test.go", ("door", "test"), ("depot",), True, False),
        ("src/test/java/DoorIT.java", ("door", "it"), ("src", "test", "java"), True, False),
        ("larder-core/jvmTests/Door.kt", ("door",), ("larder", "core", "jvm", "tests"), True, False),
        ("src/contest/latest.py", ("latest",), ("src", "contest"), False, False),
        ("_examples/door/main.go", ("door",), ("examples", "door"), False, True),
        ("modules/small-doors/main.tf", ("small", "doors"), ("modules", "small", "doors"), False, False),
        ("main.tf", ("main",), (), False, False),
        ("t/door.t", ("door",), ("t",), True, False),
        ("t/lib/Depot/Door.pm", ("door",), ("t", "lib", "depot"), True, False),
        ("src/t/door.rs", ("door",), ("src", "t"), False, False),
        ("scripts/door.bats", ("door",), ("scripts",), True, False),
        (".t", ("t",), (), False, False),
        ("docs/door.py", ("door",), ("docs",), False, True),
    ],
)
def test_what_a_path_says(path: str, stem: tuple[str, ...], directories: tuple[str, ...], test: bool, example: bool) -> None:
    facts = path_facts(path)
    assert (facts.stem, facts.directories, facts.test, facts.example) == (stem, directories, test, example)
    assert facts.level == path.count("/")


@pytest.mark.parametrize(
    ("path", "subject"),
    [
        ("depot/door.py", "door"),
        ("depot/door_test.go", "door"),
        ("tests/test_door.py", "door"),
        ("src/test/DoorTest.java", "door"),
        ("src/test/DoorTestCase.php", "door"),
        ("src/it/DoorIT.java", "door"),
        ("TestDoor.java", "door"),
        ("door.spec.ts", "door"),
        ("spec/door_spec.rb", "door"),
        ("DoorSuite.scala", "door"),
        ("src/latest.py", "latest"),
        ("src/Testimony.java", "testimony"),
        ("src/unit.py", "unit"),
        ("test.py", "test"),
        (".env", "env"),
    ],
)
def test_what_a_test_is_about(path: str, subject: str) -> None:
    assert path_facts(path).subject == subject


def test_data_is_no_code() -> None:
    assert [language for language in ("yaml", "json", "text", "python", "markdown", "sql") if is_data(language)] == ["yaml", "json", "text"]


def test_programs_in_languages_without_a_table_are_code() -> None:
    for path in ("src/door.jq", "src/door.y", "lib/door.CR", "scripts/door.awk"):
        assert path_facts(path).source
    assert not any(path_facts(path).source for path in ("door.rules", "door", "y", "l", "door.expected"))


def test_old_versions() -> None:
    assert path_facts("depot/_legacy/door.py").outdated
    assert not path_facts("depot/legacy.py").outdated
    assert unversioned("depot/v1/door.py") == "depot/door.py"
    assert unversioned("v2/door.py") == "door.py"
    assert unversioned("depot/v1x/door.py") == unversioned("dev1/door.py") == ""


@pytest.mark.parametrize(
    "path", ["CHANGES.rst", "docs/changelog.md", "RELEASE-NOTES", "HISTORY.md", "docs/releases/2.1.txt", "CHANGES_UP_TO_1.7.md"]
)
def test_what_every_version_changed(path: str) -> None:
    assert path_facts(path).changes


@pytest.mark.parametrize("path", ["docs/exchange.md", "docs/changing-doors.md", "src/news_reader/door.md", "README.md"])
def test_what_only_sounds_like_it(path: str) -> None:
    assert not path_facts(path).changes


@pytest.mark.parametrize(
    ("path", "original"),
    [
        ("docs/de/door.md", "docs/door.md"),
        ("docs/zh-CN/guide/door.md", "docs/en/guide/door.md"),
        ("translations/pt-br/README.md", "README.md"),
        ("README.zh-Hans.md", "README.md"),
        ("docs/translations/README-ja.md", "README.md"),
        ("doc/README.ko.md", "README.md"),
        ("docs/door_ja.rst", "docs/door.rst"),
        ("docs/door.fr.md", "docs/door.en.md"),
    ],
)
def test_where_the_original_of_a_translation_may_lie(path: str, original: str) -> None:
    assert original in untranslated(path)


@pytest.mark.parametrize("path", ["docs/en/door.md", "docs/door.md", "README.md", "de.md", "docs/design/door.md", "index.en.md"])
def test_what_names_no_language_but_english_translates_nothing(path: str) -> None:
    assert untranslated(path) == ()


def test_words_of_names() -> None:
    assert split_words("HTTPServer_openDoor2") == ("http", "server", "open", "door", "2")
    assert split_words("") == ()


@pytest.mark.parametrize(
    "path", [".github/PULL_REQUEST_TEMPLATE.md", ".github/ISSUE_TEMPLATE/bug_report.yml", ".gitlab/merge_request_templates/default.md"]
)
def test_what_contributors_fill_in_is_a_form(path: str) -> None:
    assert path_facts(path).form


@pytest.mark.parametrize("path", ["docs/issues.md", "templates/issue.html", "src/pull_request_template_parser.py", "CONTRIBUTING.md"])
def test_what_is_about_them_is_none(path: str) -> None:
    assert not path_facts(path).form
