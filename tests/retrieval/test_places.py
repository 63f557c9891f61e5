"""Where a text points: every language's frames, links, lines; and which files and chunks of a real index that is."""

from __future__ import annotations

import pytest

from rag.index.generation import Generation
from rag.retrieval.places import Place, places_of
from rag.retrieval.pointed import Pointed, pointed_at

FRAMES = {
    '  File "/usr/lib/python3/site-packages/depot/station.py", line 12, in open_door': Place(
        "usr/lib/python3/site-packages/depot/station.py", 12, 12, "open_door", 1.0
    ),
    "~/depot/station.py in open_door(self, number)": Place("depot/station.py", 0, 0, "open_door", 1.0),
    "File ~/depot/station.py:12, in Station.open_door(self)": Place("depot/station.py", 12, 12, "open_door", 1.0),
    "    at Station.openDoor (/app/lib/station.js:12:7)": Place("app/lib/station.js", 12, 12, "opendoor", 1.0),
    "    at async Promise.all (file:///app/lib/station.mjs:12:7)": Place("app/lib/station.mjs", 12, 12, "all", 1.0),
    "    at /app/lib/station.js:12:7": Place("app/lib/station.js", 12, 12, "", 1.0),
    "\tat org.depot.core.Station.openDoor(Station.java:12)": Place("org/depot/core/Station.java", 12, 12, "opendoor", 1.0),
    "   at Depot.Station.OpenDoor(Int32 n) in C:\\src\\Depot\\Station.cs:line 12": Place("src/Depot/Station.cs", 12, 12, "opendoor", 1.0),
    "\t/go/src/depot/station.go:12 +0x1d": Place("go/src/depot/station.go", 12, 12, "", 1.0),
    "             at src/station.rs:12:5": Place("src/station.rs", 12, 12, "", 1.0),
    "/usr/lib/depot/station.rb:12:in `open_door'": Place("usr/lib/depot/station.rb", 12, 12, "open_door", 1.0),
    "\tfrom /usr/lib/depot/station.rb:12:in 'Station#open_door'": Place("usr/lib/depot/station.rb", 12, 12, "", 1.0),
    "#0 /var/www/src/Depot/Station.php(12): Station->openDoor(3)": Place("var/www/src/Depot/Station.php", 12, 12, "opendoor", 1.0),
    "#1  0x00005555 in open_door (n=3) at src/station.c:12": Place("src/station.c", 12, 12, "open_door", 1.0),
    "    (depot 1.0.0) lib/depot/station.ex:12: Depot.Station.open_door/1": Place("lib/depot/station.ex", 12, 12, "open_door", 1.0),
}


@pytest.mark.parametrize("line", list(FRAMES))
def test_a_stack_frame_of_each_language(line: str) -> None:
    assert places_of(f"It fails:\n{line}\n") == (FRAMES[line],)


def test_the_nearest_frame_is_the_last_in_python_and_the_first_elsewhere() -> None:
    python = 'Traceback (most recent call last):\n  File "a/outer.py", line 1, in run\n  File "a/inner.py", line 2, in fail\nError: no'
    other = "Error: no\n    at fail (a/inner.js:2:1)\n    at run (a/outer.js:1:1)"
    for text in (python, other):
        inner, outer = places_of(text)
        assert inner.path.startswith("a/inner.")
        assert inner.nearness == 1.0 > outer.nearness > 0


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("see src/depot/door.py:12", Place("src/depot/door.py", 12, 12)),
        ("see door.py:12-20.", Place("door.py", 12, 20)),
        ("see src\\depot\\door.py(12)", Place("src/depot/door.py", 12, 12)),
        ("in C:\\work\\depot\\door.py, line 12", Place("work/depot/door.py", 12, 12)),
        ("`depot/door.py` lines 12 to 20", Place("depot/door.py", 12, 20)),
        ("depot/door.py lines 12-20", Place("depot/door.py", 12, 20)),
        ("depot/door.py#L12-L20", Place("depot/door.py", 12, 20)),
        ("thread 'main' panicked at src/main.rs:12:5:", Place("src/main.rs", 12, 12)),
        ("https://github.com/o/r/blob/0a1b2c/src/depot/door.py#L12-L20", Place("src/depot/door.py", 12, 20)),
        ("(https://gitlab.com/a/b/r/-/blob/main/src/my%20door.py#L12-20)", Place("src/my door.py", 12, 20)),
        ("https://bitbucket.org/o/r/src/0a1b2c/src/door.py#lines-12:20", Place("src/door.py", 12, 20)),
        ("https://git.example.com:8443/o/r/blob/main/Dockerfile?plain=1#L3", Place("Dockerfile", 3, 3)),
    ],
)
def test_places_in_a_sentence(text: str, place: Place) -> None:
    assert places_of(text) == (place,)


@pytest.mark.parametrize(
    "text", ["", "version 1.2.3, depot.station, e.g. this", "https://example.com/a/door.py", "and/or", "12:30", "self.door.open(12)"]
)
def test_what_is_no_place(text: str) -> None:
    assert places_of(text) == ()


def _chunk_lines(generation: Generation, pointed: Pointed) -> list[tuple[str, int, int]]:
    return [(c.path, c.start_line, c.end_line) for c in generation.chunks.get(sorted(pointed.rows))]


def test_a_line_chooses_the_chunk_that_holds_it(generation: Generation) -> None:
    chunks = generation.chunks
    table = [chunk for chunk in chunks.all() if chunk.path == "larder/lockers.py"]
    assert len(table) > 1
    for chunk in table:
        pointed = pointed_at(places_of(f"larder/lockers.py:{chunk.end_line}"), chunks, long=False)
        assert [chunks.paths[number] for number in pointed.named] == ["larder/lockers.py"]
        assert (chunk.path, chunk.start_line, chunk.end_line) in _chunk_lines(generation, pointed)
        assert all(start <= chunk.end_line <= end for _, start, end in _chunk_lines(generation, pointed))
    beyond = pointed_at(places_of("larder/lockers.py:99999"), chunks, long=False)
    assert (len(beyond.named), beyond.rows) == (1, frozenset())


def test_a_function_of_a_frame_chooses_the_chunk_that_defines_it(generation: Generation) -> None:
    trace = 'File "/opt/app/larder/lockers.py", line 9999, in release_locker\nValueError'
    pointed = pointed_at(places_of(trace), generation.chunks, long=True)
    assert list(pointed.framed.values()) == [1.0]
    [row] = pointed.rows
    assert "release_locker" in generation.chunks.get([row])[0].defines


def test_a_name_alone_counts_in_a_question_but_not_in_a_long_text(generation: Generation) -> None:
    chunks = generation.chunks
    assert pointed_at(places_of("what is in lockers.py"), chunks, long=False).named
    assert not pointed_at(places_of("what is in lockers.py"), chunks, long=True).named
    assert pointed_at(places_of("what is in larder/lockers.py"), chunks, long=True).named
    assert not pointed_at(places_of("other/lockers.py, ockers.py"), chunks, long=False).named
    assert pointed_at((), chunks, long=False) == Pointed()
