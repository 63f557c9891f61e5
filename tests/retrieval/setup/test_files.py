"""What the path of a file says of how a repository is set up."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.setup.files import SetupRole, setup_roles
from rag.types import is_prose


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("pyproject.toml", "manifest"),
        ("setup.py", "manifest"),
        ("setup.cfg", "manifest"),
        ("requirements.txt", "manifest"),
        ("requirements/dev.txt", "manifest"),
        ("dev-requirements.txt", "manifest"),
        ("requirements_dev.in", "manifest"),
        ("constraints/linux.txt", "manifest"),
        ("Pipfile", "manifest"),
        ("package.json", "manifest"),
        ("go.mod", "manifest"),
        ("Cargo.toml", "manifest"),
        ("pom.xml", "manifest"),
        ("build.gradle", "manifest"),
        ("build.gradle.kts", "manifest"),
        ("gradle/libs.versions.toml", "manifest"),
        ("Gemfile", "manifest"),
        ("door.gemspec", "manifest"),
        ("composer.json", "manifest"),
        ("src/Door.csproj", "manifest"),
        ("Directory.Packages.props", "manifest"),
        ("Package.swift", "manifest"),
        ("Package@swift-5.9.swift", "manifest"),
        ("Door.podspec", "manifest"),
        ("mix.exs", "manifest"),
        ("build.sbt", "manifest"),
        ("build.zig.zon", "manifest"),
        ("vcpkg.json", "manifest"),
        ("poetry.lock", "lock"),
        ("package-lock.json", "lock"),
        ("go.sum", "lock"),
        ("requirements-dev.lock", "lock"),
        (".nvmrc", "runtime"),
        ("rust-toolchain", "runtime"),
        ("global.json", "runtime"),
        (".github/workflows/door.yml", "ci"),
        (".github/actions/door/action.yml", "ci"),
        (".gitlab-ci.yml", "ci"),
        ("Jenkinsfile", "ci"),
        ("jenkins.groovy", "ci"),
        (".circleci/config.yml", "ci"),
        ("azure-pipelines.yml", "ci"),
        (".travis.yml", "ci"),
        (".ci/run", "ci"),
        (".github/workflows/publish.yaml", "releasing"),
        (".goreleaser.yaml", "releasing"),
        ("Dockerfile", "container"),
        ("dev.Dockerfile", "container"),
        ("Dockerfile.alpine", "container"),
        ("compose.yaml", "container"),
        ("docker-compose.override.yml", "container"),
        (".devcontainer/devcontainer.json", "container"),
        ("Makefile", "tasks"),
        ("justfile", "tasks"),
        ("CMakeLists.txt", "tasks"),
        ("tox.ini", "tasks"),
        ("noxfile.py", "tasks"),
        ("Rakefile", "tasks"),
        ("LICENSE", "licence"),
        ("LICENCE.md", "licence"),
        ("COPYING", "licence"),
        ("MIT-LICENSE", "licence"),
        ("LICENSE-APACHE", "licence"),
        ("License.txt", "licence"),
        (".pre-commit-config.yaml", "tools"),
        (".eslintrc.cjs", "tools"),
        (".golangci.yml", "tools"),
        (".rubocop.yml", "tools"),
        ("phpstan.neon.dist", "tools"),
        (".clang-format", "tools"),
        ("tsconfig.build.json", "tools"),
        ("vite.config.ts", "tools"),
        ("config/checkstyle/checkstyle.xml", "tools"),
    ],
)
def test_what_a_file_says(path: str, role: SetupRole) -> None:
    assert setup_roles(path)[role] >= 0.8
    deeper = setup_roles(f"inner/outer/{path}")  # .github and its like count at the root alone
    assert deeper.get(role, 0.0) < setup_roles(path)[role]


@pytest.mark.parametrize(
    "path",
    [
        "src/door.py",
        "src/license.py",
        "docs/license_check.go",
        "src/setup_door.py",
        "src/requirements.py",
        "docs/requirements.md",
        "src/package.go",
        "src/Makefile_reader.py",
        "src/compose.py",
        "docs/docker.md",
        "src/ci/runner.yml",
        "door.config.md",
        "README.md",
        "",
    ],
)
def test_what_says_nothing_of_it(path: str) -> None:
    assert not setup_roles(path)


def test_one_file_may_say_several_things() -> None:
    assert {"manifest", "tasks", "tools"} <= setup_roles("package.json").keys()


def test_what_keeps_house_stands_behind_what_tests() -> None:
    tests = setup_roles(".github/workflows/tests.yml")["ci"]
    assert all(setup_roles(f".github/workflows/{name}.yml")["ci"] < tests for name in ("stale", "codeql", "labeler", "release"))


@given(st.text(alphabet="aA./-_ \u00e9", max_size=60) | st.text(max_size=60))
def test_any_path(path: str) -> None:
    roles = setup_roles(path)
    assert roles.keys() <= set(get_args(SetupRole))
    assert all(0 < worth <= 1 for worth in roles.values())


@pytest.mark.parametrize(
    ("path", "prose"),
    [
        ("requirements.txt", False),
        ("requirements_dev.txt", False),
        ("constraints/dev.txt", False),
        ("docs/notes.txt", True),
        ("LICENSE", True),
    ],
)
def test_lists_of_packages_are_no_prose(path: str, prose: bool) -> None:
    assert is_prose(path, "text") == prose
