from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rag.answering.answerer import AnswerSettings
from rag.answering.context import estimate_tokens, pack, pack_history
from rag.answering.prompts import SYSTEM, messages
from rag.types import GenerationRequest, Turn
from tests.answering.material import chunk, result, results


def test_results_are_numbered_in_their_order() -> None:
    packed = pack(results(3), 10_000)
    assert [(entry.number, entry.result.rank) for entry in packed] == [(1, 1), (2, 2), (3, 3)]


def test_one_that_is_too_large_is_passed_over() -> None:
    found = [result(1, chunk(text="x = 1")), result(2, chunk("big.py", text="y" * 9000)), result(3, chunk("small.py", text="z = 1"))]
    assert [entry.result.chunk.path for entry in pack(found, 600)] == ["src/app.py", "small.py"]


def test_what_lies_inside_another_is_left_out() -> None:
    whole = chunk(start=1, text="a\nb\nc")
    inside = chunk(start=2, text="b")
    elsewhere = replace(inside, path="other.py")
    assert [entry.result.chunk for entry in pack([result(1, whole), result(2, inside), result(3, elsewhere)], 10_000)] == [whole, elsewhere]


def test_no_more_than_asked_for() -> None:
    assert len(pack(results(9), 10_000, most=4)) == 4


def test_nothing_fits_into_nothing() -> None:
    assert pack(results(3), 0) == ()
    assert pack([], 1000) == ()


@given(st.lists(st.integers(0, 4000), max_size=20), st.integers(0, 9000))
def test_a_prompt_stays_within_its_tokens(sizes: list[int], budget: int) -> None:
    found = [result(rank, chunk(f"f{rank}.py", text="word " * (size // 5))) for rank, size in enumerate(sizes, 1)]
    packed = pack(found, budget)
    prompt = messages(GenerationRequest("?", "flask", packed), "0123456789abcdef")
    assert sum(estimate_tokens(content) for _, content in prompt) <= budget + estimate_tokens(SYSTEM) + 150


def test_the_estimate_is_not_below_what_is_known_of_tokenizers() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("def route(self, rule):") >= 7  # 7 in Llama 3's vocabulary
    assert estimate_tokens("日本語のテキスト") >= 8


def test_the_latest_turns_that_fit_oldest_first_without_their_footnotes() -> None:
    turns = [Turn(f"question {n}", f"answer {n} [1][2], and 【3】.") for n in range(50)]
    packed = pack_history(turns, 120)
    assert 1 <= len(packed) < 50
    assert packed[-1] == Turn("question 49", "answer 49, and.")
    assert [turn.question for turn in packed] == [f"question {n}" for n in range(50 - len(packed), 50)]


def test_a_long_turn_is_cut() -> None:
    (turn,) = pack_history([Turn("q", "word " * 5000)], 2000)
    assert len(turn.answer) < 1600


def test_the_defaults_leave_room_for_a_full_context_of_usual_chunks() -> None:
    settings = AnswerSettings()
    room = settings.request_tokens - settings.max_tokens - settings.history_tokens - estimate_tokens(SYSTEM) - 300
    found = [result(rank, chunk(f"src/package/module{rank}.py", text="x" * 800)) for rank in range(1, 11)]
    assert len(pack(found, room)) == settings.context_chunks


def test_a_context_takes_from_both_groups() -> None:
    code = results(7)
    prose = [result(rank, chunk(f"docs/{rank}.md", language="markdown")) for rank in (8, 9, 10)]
    paths = [entry.result.chunk.path for entry in pack([*code, *prose], 100_000)]
    assert [paths.index(path) for path in ("docs/8.md", "docs/9.md", "docs/10.md")] == [3, 7, 9]
    assert [path for path in paths if path.startswith("src/")] == [found.chunk.path for found in code]
    assert pack([*prose, *code], 100_000)[1].result == code[0]
    assert sorted(paths) == sorted(found.chunk.path for found in [*code, *prose])
