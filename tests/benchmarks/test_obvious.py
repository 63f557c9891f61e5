from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.obvious import CHARACTERS, OVERLAP, split
from benchmarks.pipeline import Cost, scaled


def test_a_short_text_is_one_piece_and_an_empty_one_is_none() -> None:
    assert split("def f():\n    return 1\n") == ["def f():\n    return 1"]
    assert split("\n\n \n") == []


def test_paragraphs_stay_whole_and_the_next_piece_begins_with_the_end_of_the_last() -> None:
    paragraphs = [f"{number} " + "x" * 150 for number in range(20)]
    pieces = split("\n\n".join(paragraphs))
    assert len(pieces) > 1
    assert all(part in paragraphs for piece in pieces for part in piece.split("\n\n"))
    for before, after in pairwise(pieces):
        assert before.split("\n\n")[-1] == after.split("\n\n")[0]


def test_one_long_word_is_cut_into_overlapping_pieces() -> None:
    text = "".join(str(number % 10) for number in range(2500))
    first, second, third = split(text)
    assert (len(first), len(second)) == (CHARACTERS, CHARACTERS)
    assert first[-OVERLAP:] == second[:OVERLAP]
    assert third.endswith(text[-OVERLAP:])


@given(st.lists(st.text(alphabet="ab \n", max_size=700), max_size=8).map("\n\n".join))
def test_pieces_are_short_and_hold_every_word_in_order(text: str) -> None:
    pieces = split(text)
    assert all(0 < len(piece) <= CHARACTERS for piece in pieces)
    assert all(piece in text for piece in pieces)
    place = 0
    for piece in pieces:
        found = text.find(piece, place)
        assert found >= 0
        place = found
    assert sum(len(piece.replace(" ", "").replace("\n", "")) for piece in pieces) >= len(text.replace(" ", "").replace("\n", ""))


def test_only_what_grows_with_the_chunks_is_scaled() -> None:
    assert scaled(30.0, {"load": 9.0, "embed": 15.0, "insert": 5.0}, 10) == 30.0 + 9 * 20.0
    assert scaled(30.0, {"embed": 15.0, "insert": 5.0}, 1) == 30.0


def test_what_new_children_and_theirs_cost_is_counted_and_no_others() -> None:
    hold = "import time; held = bytearray(60_000_000); time.sleep(20)"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold!r}])"
    environment = {"PATH": os.environ["PATH"]}
    old = subprocess.Popen([sys.executable, "-c", hold], env=environment)
    try:
        time.sleep(0.5)
        with Cost() as cost:
            new = subprocess.Popen([sys.executable, "-c", nested], env=environment, start_new_session=True)
            try:
                end = time.monotonic() + 15
                while cost.bytes < 60e6 and time.monotonic() < end:
                    time.sleep(0.1)
            finally:
                os.killpg(new.pid, 9)
                new.wait(10)
        assert 60e6 < cost.bytes < 110e6  # the old child's would make it more than 120
    finally:
        old.kill()
        old.wait(10)


def test_processor_seconds_are_those_of_children_not_of_waiting() -> None:
    burn = "import time\nwhile time.process_time() < 0.5: pass\ntime.sleep(0.5)"
    with Cost() as cost:
        subprocess.run([sys.executable, "-c", burn], check=True, timeout=60)
    assert 0.5 <= cost.processor < 0.95
    assert cost.seconds >= 0.95
