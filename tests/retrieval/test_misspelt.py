from __future__ import annotations

from pathlib import Path

import pytest

from rag.embedding.models import EmbeddingSettings, tokenizer_file
from rag.embedding.word_list import known_words
from rag.index.generation import Generation
from rag.index.sparse import SparseIndex
from rag.index.stems import stem
from rag.protocols import Embedder
from rag.retrieval.misspelt import OFTEN, corrected, doubtful, read_as
from rag.retrieval.query import understand
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from tests.index.fixtures import SampleIndex

WORDS = {"where", "parcels", "expired", "letter", "colour"}
HELD = ["parcel", "expiry", "locker", "shelving", "setter", "strict"]


def knows(word: str) -> bool:
    return word in WORDS


@pytest.fixture(scope="module")
def forms() -> tuple[SparseIndex, SparseIndex]:
    corpus = [[word, "door"] for word in HELD for _ in range(OFTEN)] + [["lockjaw"]]
    return SparseIndex.from_terms(corpus), SparseIndex.from_terms([[stem(term) for term in terms] for terms in corpus])


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("lokcer", "locker"),  # swapped
        ("loker", ""),  # five letters
        ("locekr", "locker"),
        ("lcoker", "locker"),
        ("lockre", "locker"),
        ("shellving", "shelving"),  # struck twice
        ("lockler", "locker"),  # with the key beside it
        ("lovker", "locker"),  # the key beside it
        ("shelvng", "shelving"),  # left out
        ("shelviing", "shelving"),
        ("pocker", ""),  # the first letter
        ("lopker", ""),  # a key far away
        ("struct", "strict"),  # u lies beside i, and no dictionary here has the word
        ("letter", ""),  # a word of the language
        ("parcels", ""),
        ("lockers", ""),  # held, but for its ending
        ("lockja", ""),
        ("lockjqw", ""),  # one chunk holds it: that may be a slip itself
        ("lcokre", ""),  # two slips
    ],
)
def test_one_slip_in_a_word_that_nothing_holds(forms: tuple[SparseIndex, SparseIndex], wrong: str, meant: str) -> None:
    read = read_as(understand(f"where is the {wrong} opened"), knows, *forms)
    assert read.get(wrong, "") == meant


@pytest.mark.parametrize(
    "name", ["lokcer_door", "lokcerDoor", "Lokcer", "`lokcer`", "lokcer.open", "lokcer()", "src/lokcer", "lokcer-door", "lokcer.py"]
)
def test_names_are_read_as_they_stand(forms: tuple[SparseIndex, SparseIndex], name: str) -> None:
    assert read_as(understand(f"where is {name} opened"), knows, *forms) == {}


def test_a_bare_symbol_is_read_as_it_stands(forms: tuple[SparseIndex, SparseIndex]) -> None:
    assert read_as(understand("lokcer"), knows, *forms) == {}


def test_the_word_is_replaced_wherever_it_counts(forms: tuple[SparseIndex, SparseIndex]) -> None:
    query = understand("how is the lokcer of lokcer_door opened?")
    better = corrected(query, read_as(query, knows, *forms))
    assert better.text == better.embedded == "how is the locker of lokcer_door opened?"
    assert better.terms == ("locker", "lokcer_door", "locker", "door", "opened")
    assert better.stems == tuple(map(stem, better.terms))
    assert better.identifiers == query.identifiers


def test_what_is_right_stays(forms: tuple[SparseIndex, SparseIndex]) -> None:
    query = understand("where is the locker opened")
    assert corrected(query, read_as(query, knows, *forms)) is query


def test_forms_of_words_are_words() -> None:
    assert doubtful(understand("where are expired parcels lettered in colours"), knows) == ()
    assert doubtful(understand("where are parcells"), knows) == ("parcells",)


class Knowing:
    """An embedder that has a dictionary."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.spec = embedder.spec
        self.embed_documents = embedder.embed_documents
        self.embed_query = embedder.embed_query

    def knows(self, word: str) -> bool:
        return word in {"which", "parcel"}


async def test_whoever_asks_is_told(embedder: Embedder, generation: Generation, sample_index: SampleIndex) -> None:
    retriever = Retriever(Knowing(embedder), RetrievalSettings())
    right = await retriever.retrieve("Which locker does a new parcel get?", generation, sample_index.repository)
    wrong = await retriever.retrieve("Which lokcer does a new parcel get?", generation, sample_index.repository)
    assert right.notices == ()
    assert wrong.notices == ("Nothing here is called “lokcer”: it was read as “locker”.",)
    assert [result.chunk.id for result in wrong.results] == [result.chunk.id for result in right.results]
    assert wrong.confidence == right.confidence


def test_a_models_vocabulary_is_a_dictionary() -> None:
    words = known_words(tokenizer_file(EmbeddingSettings()))
    assert {"letter", "parcel", "should", "between"} <= words
    assert not {"lokcer", "lettter", "##ing"} & words


def test_a_tokenizer_without_words_knows_none(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": {}}')
    assert known_words(tmp_path / "tokenizer.json") == frozenset()
    assert known_words(tmp_path / "missing.json") == frozenset()
