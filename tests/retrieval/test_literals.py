"""Names that nothing defines, flags, keys and messages, as a question quotes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.embedding.models import EmbeddingSettings, describe
from rag.index.builder import build
from rag.index.dense import default_backend
from rag.index.generation import Generation, Indexes
from rag.index.jobs import BuildJob
from rag.retrieval.literals import literals_found, literals_in
from rag.retrieval.query import understand
from rag.retrieval.retriever import Retriever
from rag.types import Repository
from tests.index.fixtures import data_directory, make_repository

FILES = {
    "larder/hatch.py": 'def push(parcel):\n    if parcel.pushed:\n        raise RuntimeError("the drawer cannot be\\n opened twice")\n',
    "larder/start.py": 'import os\n\nWHERE = os.environ["LARDER_KEY_FILE"]\nport = settings["server.port"]\n',
    "larder/options.py": 'def options(parser):\n    parser.add("dry-run", help="change nothing")\n    parser.add("quiet")\n',
    "larder/furniture.py": "class Drawer:\n    def opened(self):\n        return twice(self.drawer)\n",
    "larder/files.py": "def read_key_file(larder):\n    return larder.key_file\n",
    "larder/rehearsal.py": "def run_dry(run):\n    return dry(run)\n",
    "larder/silence.py": "def be_quiet(quiet):\n    return quiet\n",
    "larder/machines.py": "class Server:\n    def read(self, server):\n        port = server\n        return port\n",
    "tests/test_hatch.py": 'def test_hatch():\n    assert "the drawer cannot be opened twice" in push("LARDER_KEY_FILE")\n',
} | {f"larder/door{number}.py": f"def open_door_{number}(drawer):\n    return {number}\n" for number in range(12)}


@pytest.fixture(scope="module")
def larder(models_directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Generation, Repository]]:
    source = make_repository(tmp_path_factory.mktemp("sources") / "larder", FILES)
    data_dir = data_directory(tmp_path_factory.mktemp("data") / "footnote", models_directory)
    repository = Repository(name="larder", source=str(source), branch="main", audience=("*",))
    build(BuildJob(repository=repository, data_dir=data_dir, threads=1), lambda event: None)
    indexes = Indexes(data_dir, default_backend(), describe(EmbeddingSettings()))
    with indexes.for_name("larder").open() as generation:
        yield generation, repository
    indexes.close()


@pytest.mark.parametrize(
    ("question", "literals"),
    [
        ("LARDER_KEY_FILE", ("larder_key_file",)),
        ("what does --dry-run do", ("--dry-run",)),
        ("where is `--dry-run` parsed", ("--dry-run",)),
        ("who reads server.port", ("server.port",)),
        ("error: Unknown drawer", ("unknown drawer",)),
        ("RuntimeError: the drawer cannot be opened twice", ("the drawer cannot be opened twice",)),
        ("[larder warning]: Unknown drawer 7, using /var/drawers", ("unknown drawer",)),
        ("I get “Too many  parcels”, why?", ("too many parcels",)),
        ("what's the drawer's key and why isn't it there", ()),
        ("how does a non-blocking lock work, e.g. of a drawer", ("non-blocking",)),  # looked for in quotes alone,
        ("what is in larder/door.py and README.md", ()),
        ("does 3.2.1 hold -1 or --", ()),
        ("", ()),
    ],
)
def test_what_a_question_quotes(question: str, literals: tuple[str, ...]) -> None:
    assert literals_in(question) == literals


@given(st.text(max_size=400))
def test_any_text(text: str) -> None:
    found = literals_in(text)
    plain = " ".join(text.lower().split())
    assert len(found) <= 8
    assert all(one in plain and 3 <= len(one) <= 200 for one in found)


def test_a_long_line_takes_no_long_time() -> None:
    for text in (
        "error: " * 20_000,
        '"' * 50_001,
        "a.b_" * 20_000,
        "--a" * 20_000,
        "'x " * 20_000,
        "ERROR: " + "a/" * 40_000,
        "a_" * 20_000 + "(",
        "“" * 50_000,
        "a-" * 30_000 + "/",
    ):
        assert len(literals_in(text)) <= 8


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("LARDER_KEY_FILE", "larder/start.py"),
        ("where does LARDER_KEY_FILE come from", "larder/start.py"),
        ("what does --dry-run do", "larder/options.py"),
        ("what does --quiet do", "larder/options.py"),
        ("where is server.port read", "larder/start.py"),
        ("RuntimeError: the drawer cannot be opened twice", "larder/hatch.py"),
        ('why do I get "drawer cannot be" as an answer', "larder/hatch.py"),
    ],
)
async def test_the_file_that_says_so_comes_first(
    retriever: Retriever, larder: tuple[Generation, Repository], question: str, path: str
) -> None:
    found = await retriever.retrieve(question, *larder)
    assert found.results[0].chunk.path == path


def test_what_is_defined_here_is_no_literal(larder: tuple[Generation, Repository]) -> None:
    rows = list(range(len(larder[0].chunks)))
    assert not literals_found(understand("where is read_key_file called"), rows, larder[0]).files
    assert literals_found(understand("where is LARDER_KEY_FILE set"), rows, larder[0]).files


def test_a_name_is_no_part_of_a_longer_one(larder: tuple[Generation, Repository]) -> None:
    rows = list(range(len(larder[0].chunks)))
    assert literals_found(understand("what is --dry-run"), rows, larder[0]).files
    assert literals_found(understand("what is server.port"), rows, larder[0]).files
    for part in ("--dry-ru", "--quie", "erver.port", "server.por"):
        assert not literals_found(understand(f"what is {part} about"), rows, larder[0]).files


def test_a_test_repeats_what_it_checks(larder: tuple[Generation, Repository]) -> None:
    generation = larder[0]
    numbers = {path: number for number, path in enumerate(generation.chunks.paths)}
    files = literals_found(understand("where is LARDER_KEY_FILE read"), range(len(generation.chunks)), generation).files
    assert files[numbers["larder/start.py"]] > files[numbers["tests/test_hatch.py"]] > 0


def test_what_many_files_hold_says_less(larder: tuple[Generation, Repository]) -> None:
    generation = larder[0]
    rows = list(range(len(generation.chunks)))
    many = literals_found(understand('what is "def open" for'), rows, generation).files
    few = literals_found(understand('what is "change nothing" for'), rows, generation).files
    assert len(many) >= 12
    assert max(many.values()) < min(few.values())
