from __future__ import annotations

import pytest

from rag.index.defined_names import DefinedNames
from rag.retrieval.query import understand
from rag.retrieval.spelt import spelt_as_here

DEFINES = DefinedNames.of([["LockerDoor", "open"], ["parcel_shelf"], ["router"], ["Depot"], [], ["HTTPBell"]])


@pytest.mark.parametrize(
    ("question", "identifiers"),
    [
        ("how is the LockerDoor opened", ("lockerdoor",)),
        ("how is the lockerdoor opened", ("lockerdoor",)),
        ("HOW IS THE LOCKERDOOR OPENED", ("lockerdoor",)),
        ("how is locker_door opened", ("lockerdoor",)),
        ("how is lockerDoor opened", ("lockerdoor",)),
        ("how is the locker-door opened", ()),  # words, as in "many-to-many"
        ("how is parcelShelf swept", ("parcel_shelf",)),
        ("how is ParcelShelf swept", ("parcel_shelf",)),
        ("how does the router know", ()),  # one word: it may mean anything
        ("what is a depot", ()),
        ("how is locker_bell rung", ("locker_bell",)),  # defined in no form
        ("how does httpbell ring", ()),  # too short to be sure
        ("how does HTTPBell ring", ("httpbell",)),
        ("how does http_bell ring", ("httpbell",)),
        ("parcelShelf", ("parcel_shelf",)),
    ],
)
def test_a_name_is_what_the_index_calls_it(question: str, identifiers: tuple[str, ...]) -> None:
    assert spelt_as_here(understand(question), DEFINES).identifiers == identifiers


def test_a_name_written_as_one_word_brings_its_words() -> None:
    plain, joined = (spelt_as_here(understand(f"how does the {name} open"), DEFINES) for name in ("LockerDoor", "lockerdoor"))
    assert joined.terms == plain.terms
    assert joined.stems == plain.stems


def test_a_bare_symbol_stays_one() -> None:
    query = spelt_as_here(understand("locker_door"), DEFINES)
    assert (query.symbol, query.asks_for) == ("lockerdoor", "symbol")


@pytest.mark.parametrize("question", ["where are doors opened", "LockerDoor", "how is the LockerDoor opened"])
def test_what_is_written_as_here_stays(question: str) -> None:
    query = understand(question)
    assert spelt_as_here(query, DEFINES) == query
