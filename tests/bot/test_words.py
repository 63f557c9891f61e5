from __future__ import annotations

import pytest

from bot import words
from bot.access import Place
from bot.routing import NoChoice
from rag import errors
from rag.errors import FootnoteError


def leaves(kind: type[FootnoteError]) -> list[type[FootnoteError]]:
    return [kind, *(leaf for below in kind.__subclasses__() for leaf in leaves(below))]


OURS = sorted((kind for kind in leaves(FootnoteError) if kind.__module__ == errors.__name__), key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", OURS)
def test_no_error_says_its_own_words(kind: type[FootnoteError]) -> None:
    said = words.for_error(kind("secret gsk_123 of <@U1>", "do <!channel>"), "flask", building=False)
    assert "secret" not in said
    assert "<" not in said


def test_each_kind_of_failure_has_words_and_a_remedy_of_its_own() -> None:
    kinds = ["NotIndexed", "IndexMismatch", "IndexCorrupt", "EmptyRepository", "RetrievalError", "GeneratorUnavailable", "GeneratorBusy"]
    kinds += ["PromptTooLarge", "GeneratorCut", "DatabaseError", "ModelMismatch"]
    said = {words.for_error(getattr(errors, kind)("x"), "flask", building=False) for kind in kinds}
    said |= {words.for_error(TimeoutError(), "flask", building=False), words.for_error(KeyError("x"), "flask", building=False)}
    assert len(said) == len(kinds) + 2
    assert "still" not in words.for_error(errors.NotIndexed("x"), "flask", building=False)
    assert "being indexed" in words.for_error(errors.NotIndexed("x"), "flask", building=True)
    assert "does not mean" in words.for_error(errors.RetrievalError("x"), "flask", building=False)


@pytest.mark.parametrize("problem", ["", "shared", "outsider", "unknown"])
def test_a_refusal_names_no_repository(problem: str) -> None:
    assert "flask" not in words.for_place(Place("C1", direct=False, problem=problem))


def test_a_choice_is_told_with_what_there_is() -> None:
    assert "`flask`, `gin`" in words.for_no_choice(NoChoice(("flask", "gin")))
    unknown = words.for_no_choice(NoChoice(("flask",), "<!channel>`", "flask"))
    assert "Did you mean `flask`" in unknown
    assert "<" not in unknown
