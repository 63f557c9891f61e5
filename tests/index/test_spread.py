"""Work on several threads: each part once, and nothing waits for a thread that is not free."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.index.spread import Beside, spread


@settings(deadline=None)
@given(st.lists(st.integers(), max_size=40))
def test_each_part_is_worked_on_once(parts: list[int]) -> None:
    done: list[int] = []
    spread(done.append, parts)
    assert sorted(done) == sorted(parts)


def test_what_a_part_raises_is_raised() -> None:
    def work(part: int) -> None:
        if part == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"):
        spread(work, list(range(5)))


def test_a_function_beside_returns_or_raises_what_it_does() -> None:
    assert Beside(lambda: 7).result() == 7
    with pytest.raises(ZeroDivisionError):
        Beside(lambda: 1 // 0).result()


def test_each_function_runs_once_however_many_ask() -> None:
    ran: list[int] = []
    first = [Beside(lambda number=number: ran.append(number)) for number in range(40)]  # type: ignore[misc]
    others = [Beside(one.result) for one in first for _ in range(3)]
    for other in others:
        other.result()
    for one in first:
        one.result()
    assert sorted(ran) == list(range(40))


def test_where_no_thread_is_free_it_runs_on_the_one_that_asks() -> None:
    go = threading.Event()
    waiting = [Beside(lambda: go.wait(60)) for _ in range(64)]
    try:
        assert Beside(threading.get_ident).result() == threading.get_ident()
        done: list[int] = []
        spread(done.append, [1, 2, 3])
        assert done == [1, 2, 3]
    finally:
        go.set()
    assert all(one.result() for one in waiting)
