from __future__ import annotations

import pytest

from rag.answering.draft import Draft
from rag.answering.grounding import uncited_paragraphs, ungrounded
from rag.types import ContextChunk
from tests.answering.material import COMMIT, chunk, context, result

FIRST = ContextChunk(
    1,
    result(
        1,
        chunk("src/app.py", text="def route(self, rule):\n    self.add_url_rule(rule, endpoint='x')", symbol="Flask.route", scope="Flask"),
    ),
)
SECOND = ContextChunk(2, result(2, chunk("src/cli.py", 50, text="DEFAULT_PORT = 5000\nLOG = {'level': 'INFO'}", symbol="")))
BOTH = (FIRST, SECOND)


@pytest.mark.parametrize(
    "quotation",
    ["route", "Flask.route", "self.add_url_rule(rule)", "src/app.py", "app.py", "rule", "None", "True", "5000", "--", "endpoint='x'"],
)
def test_what_stands_in_the_cited_lines(quotation: str) -> None:
    assert ungrounded([quotation], [FIRST], BOTH) == []


def test_what_a_neighbour_shows_is_grounded_too() -> None:
    assert ungrounded(["DEFAULT_PORT"], [FIRST], BOTH) == []


@pytest.mark.parametrize("quotation", ["route_all", "Flask.register", "flask", "add_url", "MAX_PORT", "src/other.py"])
def test_what_stands_nowhere_is_named(quotation: str) -> None:
    assert ungrounded([quotation, quotation], [FIRST], BOTH) == [quotation]


def test_the_question_may_be_quoted_back() -> None:
    assert ungrounded(["Blueprint"], [FIRST], BOTH, "What about Blueprint?") == []


def test_a_draft_lists_invented_identifiers() -> None:
    draft = Draft(context(), COMMIT, "q")
    draft.feed("`route` calls `add_url_rule` and `teleport` [1].\n```py\ninvented_in_a_block()\n```\n")
    draft.close()
    assert draft.ungrounded == ("teleport",)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It routes requests to views [1].", 0),
        ("It routes requests to views.", 1),
        ("First it does this.\nThen it does that [1].", 0),
        ("First it does this.\n\nThen it does that [1].", 1),
        ("It works in two steps:\n\n- it reads the rule [1]\n- it adds the rule", 1),
        ("1. it reads the whole rule\n2. it adds the rule [2]", 1),
        ("# A heading of some words\n\nDone.", 0),
        ("See [1].\n\n```py\nx = call_of(some, thing, here)\n```\n", 0),
        ("See `x[1] of the same array` here", 1),
    ],
)
def test_paragraphs_without_a_footnote_are_counted(text: str, count: int) -> None:
    assert uncited_paragraphs(text) == count
