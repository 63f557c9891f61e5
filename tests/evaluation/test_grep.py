"""The floor: whole words, regardless of case, per file."""

from __future__ import annotations

from rag.evaluation.grep import WINDOW, WordCounts
from rag.evaluation.metrics import Place
from rag.types import Document


def _counts(**files: str) -> WordCounts:
    return WordCounts(Document(name, text, "text", "") for name, text in files.items())


def test_files_by_the_number_of_words_of_the_question() -> None:
    words = _counts(a="the session", b="Session SESSION\nsession_cookie", c="sessions", d="cookie session session cookie the the the the")
    assert words.search("Where is the session cookie?", 10) == [
        Place("d", 1, 1, 8.0),
        Place("a", 1, 1, 2.0),
        Place("b", 1, 2, 2.0),
    ]
    assert words.search("session_cookie", 10) == [Place("b", 1, 2, 1.0)]
    assert words.search("the session", 1) == [Place("d", 1, 1, 6.0)]
    assert words.search("nothing of this", 10) == []
    assert words.search("?!", 10) == []


def test_a_word_counts_once_however_often_the_question_says_it() -> None:
    assert _counts(a="x y").search("x x x", 5) == [Place("a", 1, 1, 1.0)]


def test_the_lines_are_those_where_most_words_stand_the_first_of_equals() -> None:
    text = "\n".join(["needle"] + ["hay"] * 49 + ["needle needle"] + ["hay"] * 49)
    (place,) = _counts(a=text).search("needle", 1)
    assert (place.end_line - place.start_line + 1, place.score) == (WINDOW, 3.0)
    assert place.start_line <= 51 <= place.end_line
    (place,) = _counts(a="\n".join(["needle"] * 100)).search("needle", 1)
    assert (place.start_line, place.end_line) == (1, WINDOW)
    (place,) = _counts(a="\n".join(["hay"] * 99 + ["needle"])).search("needle", 1)
    assert place.end_line == 100


def test_no_documents_find_nothing() -> None:
    assert WordCounts([]).search("anything", 5) == []
