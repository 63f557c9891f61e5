from __future__ import annotations

from dataclasses import replace

import pytest

from rag.answering.answerer import Answerer
from rag.answering.generators.extractive import ExtractiveGenerator, choose, question_terms
from rag.types import Answer, Chunk, ContextChunk, Kind, SearchResult
from tests.answering.material import REPOSITORY, chunk, result, retrieval
from tests.answering.test_defang import assert_harmless

LOCAL = replace(REPOSITORY, generator="extractive")
ROUTE = chunk(
    "larder/doors.py",
    336,
    'def route(self, rule: str, **limits: t.Any) -> t.Callable[[T], T]:\n    """Decorate a door function to register it."""',
    kind=Kind.METHOD,
    symbol="Doors.route",
    signature="def route(self, rule: str, **limits: t.Any) -> t.Callable[[T], T]",
    doc="Decorate a door function to register it under its number.",
)
PROSE = chunk(
    "docs/quickstart.rst",
    200,
    "Routing\n-------\n\nDoors have numbers. Use the :meth:`~larder.Doors.route` decorator to bind a function.\nSee [3].",
    kind=Kind.SECTION,
    language="restructuredtext",
    symbol="Routing",
)
MODULE = chunk("larder/now.py", 1, "import x\n\nroute_ctx = make()\n", kind=Kind.MODULE, symbol="")


async def ask(question: str, *chunks: Chunk, similarity: float = 0.5) -> Answer:
    found = retrieval([result(rank, what, similarity) for rank, what in enumerate(chunks, 1)])
    items = [item async for item in Answerer(lambda _: ExtractiveGenerator()).answer(question, found, LOCAL, answer_id="a1")]
    answer = items[-1]
    assert isinstance(answer, Answer)
    return answer


async def test_what_a_reader_sees() -> None:
    answer = await ask("Decorate: how does the route decorator register a door function?", ROUTE, PROSE, MODULE)
    assert (
        answer.text
        == """\
These are the 3 places that match your question best. No language model wrote this: it is what stands in the files.

- **`Doors.route`** in `larder/doors.py`, lines 336–337 [1]
  `def route(self, rule: str, **limits: t.Any) -> t.Callable[[T], T]`
  Decorate a door function to register it under its number.
  Matches: decorate, door, function, register, route.
- `larder/now.py`, lines 1–4 [2]
  `route_ctx = make()`
  Matches: route.
- **“Routing”** in `docs/quickstart.rst`, lines 200–204 [3]
  Use the `larder.Doors.route` decorator to bind a function.
  Matches: decorator, door, function, route."""
    )
    assert [c.number for c in answer.citations] == [1, 2, 3]
    assert (answer.abstained, answer.ungrounded, answer.dropped_citations) == (False, (), 0)


async def test_a_line_that_tells_more_than_the_doc_comment_is_shown_too() -> None:
    text = 'class Station:\n    """A row of lockers."""\n\n    def assign(self):\n        """Puts a parcel into the first free locker."""'
    station = chunk("s.py", 1, text, kind=Kind.CLASS, symbol="Station", signature="class Station", doc="A row of lockers.")
    answer = await ask("How does a parcel get into the first free locker?", station)
    assert "  A row of lockers.\n  Puts a parcel into the first free locker.\n" in answer.text


async def test_the_signature_is_not_repeated_as_the_line_that_matches() -> None:
    header = "async def assign_locker(parcel: str) -> None"
    found = chunk("s.py", 1, f"{header}:\n    pass", kind=Kind.FUNCTION, symbol="assign_locker", signature=header)
    assert (await ask("how to assign a locker", found)).text.count(header) == 1


async def test_nothing_relevant_is_an_abstention() -> None:
    answer = await ask("What is the capital of France?", ROUTE, MODULE, similarity=0.1)
    assert answer.abstained
    assert answer.text.startswith("Nothing in this repository answers that.")


async def test_a_word_of_the_question_or_a_similar_vector_is_enough() -> None:
    assert not (await ask("Where is rule read?", ROUTE, similarity=0.0)).abstained
    assert not (await ask("Where are endpoints bound?", ROUTE, similarity=0.45)).abstained


async def test_a_file_that_says_how_the_repository_is_set_up_need_not_say_it_in_the_words_of_the_question() -> None:
    workflow = chunk(".github/workflows/ship.yml", text="on: push", symbol="", kind=Kind.MODULE, language="yaml")
    for gained, abstained in ((1.5, False), (0.5, True)):
        found = result(1, workflow, 0.1)
        found = replace(found, scores={**found.scores, "setup": gained})
        items = [
            item
            async for item in Answerer(lambda _: ExtractiveGenerator()).answer(
                "how do we publish?", retrieval([found]), LOCAL, answer_id="a1"
            )
        ]
        answer = items[-1]
        assert isinstance(answer, Answer)
        assert answer.abstained == abstained


async def test_what_declares_the_setup_is_shown_and_code_that_holds_its_words_is_not() -> None:
    manifest = chunk(
        "pyproject.toml",
        9,
        'classifiers = [\n    "Python :: 3",\n]\nrequires-python = ">=3.11"\ndynamic = []',
        symbol="project.dynamic",
        kind=Kind.MODULE,
        language="toml",
    )
    code = chunk("larder/version.py", 1, "def python_version():\n    return supported", symbol="python_version")
    found = [result(1, manifest, 0.2), result(2, code, 0.5), result(3, PROSE, 0.5)]
    found[0] = replace(found[0], scores={**found[0].scores, "setup": 2.0})
    answers = [
        item
        async for item in Answerer(lambda _: ExtractiveGenerator()).answer(
            "which python versions are supported?", retrieval(found), LOCAL, answer_id="a1"
        )
    ]
    answer = answers[-1]
    assert isinstance(answer, Answer)
    assert '- `pyproject.toml`, lines 9–13 [1]\n  `requires-python = ">=3.11"`\n' in answer.text
    assert [citation.path for citation in answer.citations] == ["pyproject.toml", PROSE.path]


async def test_what_is_not_relevant_is_not_shown() -> None:
    other = chunk("zebra.py", text="stripes = 1", symbol="", kind=Kind.MODULE)
    found = retrieval([result(1, other, 0.1), result(2, ROUTE, 0.1)])
    items = [item async for item in Answerer(lambda _: ExtractiveGenerator()).answer("route", found, LOCAL, answer_id="a1")]
    answer = items[-1]
    assert isinstance(answer, Answer)
    assert [c.path for c in answer.citations] == [ROUTE.path]
    assert answer.text.startswith("This is the place that matches your question best.")


async def test_without_a_dense_part_the_words_decide() -> None:
    bare = SearchResult(1, ROUTE, 3.0, {"sparse": 3.0}, "")
    items = [item async for item in Answerer(lambda _: ExtractiveGenerator()).answer("route", retrieval([bare]), LOCAL, answer_id="a1")]
    assert isinstance(items[-1], Answer)
    assert not items[-1].abstained


async def test_markup_of_doc_comments_and_manuals_is_read_as_words() -> None:
    linked = chunk("d.ts", doc="Opens a {@link Door | small door} of {@code Depot}.", signature="open()", symbol="open")
    assert "  Opens a small door of Depot.\n" in (await ask("open", linked)).text
    manual = chunk(
        "D.pod", 1, "=head1 DOORS\n\nB<Doors> open by L<the depot|Depot>, see C<shut>.", language="perl", kind=Kind.MODULE, symbol=""
    )
    assert "  Doors open by the depot, see shut.\n" in (await ask("doors", manual)).text


def entries(*paths: str) -> list[ContextChunk]:
    return [ContextChunk(number, result(number, chunk(path, number * 10))) for number, path in enumerate(paths, 1)]


@pytest.mark.parametrize(
    ("paths", "chosen"),
    [
        ("aabcde", [1, 2, 3, 4]),
        ("abcaad", [1, 2, 3, 6]),
        ("aaabc", [1, 2, 4, 5]),
        ("aaab", [1, 2, 4]),
        ("aaaa", [1, 2, 3]),
        ("ab", [1, 2]),
        ("", []),
    ],
)
def test_a_file_fills_the_list_only_where_it_is_best(paths: str, chosen: list[int]) -> None:
    assert [entry.number for entry in choose(entries(*paths), 4)] == chosen


async def test_a_misspelt_word_counts_as_what_it_was_read_as() -> None:
    found = replace(retrieval([result(1, ROUTE, 0.1)]), read_as={"dekorator": "decorate"})
    items = [item async for item in Answerer(lambda _: ExtractiveGenerator()).answer("dekorator?", found, LOCAL, answer_id="a1")]
    answer = items[-1]
    assert isinstance(answer, Answer)
    assert "Matches: decorate." in answer.text


def test_common_words_of_questions_tell_nothing() -> None:
    assert question_terms("How does the getUserName function work, and where is it used?") == {
        "getusername",
        "get",
        "user",
        "name",
        "function",
    } - {"get"}


@pytest.mark.parametrize(
    ("symbol", "signature", "doc"),
    [
        ("a`b", "def f(`x`): [1]", "See [1] and [2, 3] <!channel> https://evil.example/ [x](http://evil.example) @here"),
        ("x[9]", "<@U0123ABCD>", "【1】 `open"),
        ("\u202e", "\n", "a\n\n[1]: http://evil.example"),
    ],
)
async def test_what_a_file_says_about_itself_is_harmless_and_cites_nothing(symbol: str, signature: str, doc: str) -> None:
    hostile = replace(ROUTE, symbol=symbol, signature=signature, doc=doc, path="dir `x` [7]/<!here>.py")
    answer = await ask("route", hostile, similarity=0.9)
    assert_harmless(answer.text)
    assert (len(answer.citations), answer.dropped_citations) == (1, 0)
