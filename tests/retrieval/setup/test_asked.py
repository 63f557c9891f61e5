"""Which questions are about how a repository is set up, and which only use the same words."""

from __future__ import annotations

import time
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.retrieval.query import understand
from rag.retrieval.setup.asked import SetupKind, setup_asked
from rag.retrieval.setup.ecosystems import ecosystem, ecosystems_asked, without_ecosystems
from rag.retrieval.setup.subject import subject_of_setup


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("which version of hinge is required", "dependencies"),
        ("what version of requests are we using?", "dependencies"),
        ("what are our dependencies", "dependencies"),
        ("show me the dependencies", "dependencies"),
        ("what third party packages do we pull in", "dependencies"),
        ("which peer dependencies does the package declare", "dependencies"),
        ("what does this package depend on at runtime", "dependencies"),
        ("is hinge pinned?", "dependencies"),
        ("where are dependencies declared", "dependencies"),
        ("which test framework is used", "dependencies"),
        ("do we use hinge?", "used"),
        ("hinge version constraint", "used"),
        ("What's the minimum hinge we support?", "used"),
        ("which Python versions are supported", "runtime"),
        ("what's the minimum Node version", "runtime"),
        ("Does it work with Go 1.20?", "runtime"),
        ("which JDK should I use to build this", "runtime"),
        ("minimum iOS deployment target", "runtime"),
        ("what is the MSRV", "runtime"),
        ("what entry points does the package define", "package"),
        ("which files are included in the npm package", "package"),
        ("what does CI run", "ci"),
        ("what happens on every pull request", "ci"),
        ("what jobs run on each push", "ci"),
        ("which node versions are tested", "ci"),
        ("does Travis test on Windows?", "ci"),
        ("which workflow publishes releases", "release"),
        ("how is the package released to npm", "release"),
        ("how do releases get made?", "release"),
        ("how is the Docker image built", "container"),
        ("which port does compose expose", "container"),
        ("where is the Dockerfile", "container"),
        ("what scripts does npm run know", "tasks"),
        ("how are tests run (make test)", "tasks"),
        ("how do I run the tests?", "tasks"),
        ("what command builds the project", "tasks"),
        ("which gradle plugins are applied", "tasks"),
        ("which licence is this under", "licence"),
        ("Is this GPL?", "licence"),
        ("which linters are configured", "tools"),
        ("how is eslint configured", "tools"),
        ("what's the max line length", "tools"),
        ("is strict mode on in tsconfig", "tools"),
        ("yamllint settings", "tools"),
    ],
)
def test_what_a_question_asks_of_the_setup(question: str, kind: str) -> None:
    assert kind in setup_asked(question)
    assert kind in understand(question).asks_for_setup


@pytest.mark.parametrize(
    "question",
    [
        "how does dependency injection work",
        "how are dependencies resolved between doors",
        "how does the parser handle version strings",
        "where is the version compared",
        "which function parses semantic versions",
        "what does the CI module do",
        "how does the CI detector find the provider",
        "where is the Jenkins client implemented",
        "how does the workflow engine schedule steps",
        "what is a pipeline stage in this framework",
        "which HTTP versions does the client support",
        "what TLS versions are supported",
        "how is the license key validated",
        "how is a license header inserted into files",
        "how does the lint rule find unused variables",
        "how does the linter report errors",
        "how is a lock released",
        "how are events published to subscribers",
        "how is the request built",
        "how does the builder create an image layer",
        "how does the docker client connect to the daemon",
        "what does the make function return",
        "how does make_door work",
        "where is the port configured for the server",
        "which settings does the app support",
        "how is the package manager detected",
        "how is the user agent version string made",
        "how does the compose function combine middleware",
        "what is the default feature set of the feature extractor",
        "what gets printed for a deprecated dependency",
        "how are feature flags evaluated",
        "how do workers pick up jobs",
        "what is the build environment object",
        "DoorVersion",
        "Dockerfile",
        "",
    ],
)
def test_what_only_uses_the_same_words(question: str) -> None:
    assert not understand(question).asks_for_setup


def test_a_commit_message_and_a_report_ask_for_nothing() -> None:
    assert not understand("Close doors gently\n\n* which version of hinge is required\n* CI fixes").asks_for_setup
    assert not understand("Which version of hinge is required?\n" + "It squeaks. " * 60).asks_for_setup


def test_what_runs_in_ci_is_no_package_and_a_language_is_none_either() -> None:
    assert setup_asked("on which Go versions are the tests run in CI") == {"ci"}
    assert setup_asked("which version of Python is required") == {"runtime"}
    assert setup_asked("which version of python-hinge is required") == {"dependencies"}


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("which version of hinge is required", False),
        ("since when is hinge 2.0 required, what changed?", True),
        ("what changed in the last release", True),
    ],
)
def test_the_version_that_is_needed_is_no_question_about_changes(question: str, asks: bool) -> None:
    assert understand(question).asks_for_changes == asks


@pytest.mark.parametrize(
    ("question", "repository", "subject"),
    [
        ("which version of hinge-oil is required", "door", ["hinge", "oil"]),
        ("what are the dependencies of door?", "door", []),
        ("do we use door?", "door", ["door"]),
        ("which Python versions are supported", "door", []),
        ("which licence is HingeOil under", "door", []),
        ("which HingeOil version do we use?", "door", ["HingeOil"]),
    ],
)
def test_what_is_asked_about(question: str, repository: str, subject: list[str]) -> None:
    assert subject_of_setup(question, understand(question).asks_for_setup, repository) == subject


@pytest.mark.parametrize(
    ("question", "path", "name"),
    [
        ("which npm scripts are there", "web/package.json", "node"),
        ("which Go version is required", "go.mod", "go"),
        ("what does make test do", "Makefile", "make"),
        ("which Python versions are supported", "setup.cfg", "python"),
        ("which port does compose expose", "docker-compose.yml", "compose"),
        ("target framework", "src/Door.csproj", ".net"),
    ],
)
def test_ecosystems(question: str, path: str, name: str) -> None:
    assert ecosystems_asked(question) == {name}
    assert ecosystem(path) == name
    assert name not in without_ecosystems(question).lower().split()


def test_what_belongs_to_no_ecosystem() -> None:
    assert not ecosystems_asked("where do we go from here")
    assert ecosystem("src/door.py") == ecosystem("LICENSE") == ""


WORDS = [
    "which",
    "version",
    "of",
    "Python",
    "hinge",
    "is",
    "required",
    "in",
    "CI",
    "licence",
    "npm",
    "scripts",
    "release",
    "docker",
    "?",
    "make",
]


@given(st.lists(st.sampled_from(WORDS)))
def test_kinds_that_exclude_each_other(words: list[str]) -> None:
    kinds = setup_asked(" ".join(words))
    assert not {"ci", "runtime"} <= kinds
    assert not {"ci", "dependencies"} <= kinds
    assert not {"runtime", "dependencies"} <= kinds
    assert "used" not in kinds or kinds == {"used"}


@given(st.text(max_size=300))
def test_any_text_can_be_asked(text: str) -> None:
    assert setup_asked(text) <= set(get_args(SetupKind))
    assert len(without_ecosystems(text)) <= len(text)


@pytest.mark.parametrize(
    "piece", ["which version ", "which ", "is are do ", "minimum python ", "files npm ", "a", "how is the ", "(which|what) "]
)
def test_time_in_proportion_to_the_text(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        started = time.process_time()
        for _ in range(10):
            setup_asked(text)
        return time.process_time() - started

    seconds(100)
    assert seconds(1_000) < 1 + 40 * seconds(250)
