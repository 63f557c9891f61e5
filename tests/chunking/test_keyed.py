# ruff: noqa: E501 - sources on one line each, as a table
"""Data by its keys: which rows are keys, what they are called, and where a large value is cut."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rag.chunking.keyed import outline_by_keys
from rag.types import Chunk, Kind

Cut = Callable[[str, str], list[Chunk]]


def keys(language: str, text: str) -> list[tuple[str, int, int]]:
    """(symbol, first line, last line)"""
    return [(key.symbol, key.start + 1, key.end + 1) for key in outline_by_keys(text.split("\n"), language).definitions]


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("toml", 'a = 1\n[x.y]\nb = 1\nc = [\n  "d = 1",\n]\n\n# Why.\n[[z]]\n', [("a", 1, 1), ("x.y", 2, 6), ("x.y.c", 4, 6), ("z", 8, 9)]),
        ("toml", 'a = """\n[not]\nb = 1\n"""\n[c] # d\n', [("a", 1, 4), ("c", 5, 5)]),
        ("toml", "a = '''x''' # ''' \n\"b c\" = '''\n[no]'''\n", [("a", 1, 1), ("b c", 2, 3)]),
        ("yaml", "# Top.\non:\n  push:\n    x: 1\njobs:\n  # Tests.\n  test:\n    - a: 1\n  last: 1\n",
         [("on", 1, 4), ("on.push", 3, 4), ("jobs", 5, 9), ("jobs.test", 6, 8)]),
        ("yaml", "run: |\n  no: 1\n    no: 2\n\n  no: 3\nnext: >-\n  no: 4\n\"last one\": x\n", [("run", 1, 5), ("next", 6, 7), ("last one", 8, 8)]),
        ("yaml", "list:\n- a\n- b: 1\n  c: 2\nend: 1\n", [("list", 1, 4), ("end", 5, 5)]),
        ("yaml", "- name: Install it\n  apt: x\n- id: second\n  x: 1\n", [("Install it", 1, 2), ("second", 3, 4)]),
        ("yaml", "a: 1\n---\na: 2\nb: http://x/y\n", [("a", 1, 1), ("a", 3, 3), ("b", 4, 4)]),
        ("yaml", "{{- if .Values.x }}\nmetadata:\n  labels:\n    {{- include \"x\" . }}\n{{- end }}\n", [("metadata", 2, 5), ("metadata.labels", 3, 5)]),
        ("json", '{\n  "a": 1,\n  "b": {\n    "c": [\n      1\n    ],\n    "d": 2\n  }\n}\n', [("a", 2, 2), ("b", 3, 8), ("b.c", 4, 6)]),
        ("json", '{\n  // Why: "no": 1\n  "a": "{\\"no\\":",\n  /* "no": {\n  */\n  b: [1]\n}\n', [("a", 2, 3), ("b", 4, 6)]),
        ("json", '[\n  {\n    "a": 1\n  }\n]\n', []),
        ("json", '{"a": 1, "b": {"c": 2}}', []),
        ("json", '}}}{{{"', []),
    ],
)  # fmt: skip
def test_keys_and_the_rows_that_they_hold(language: str, text: str, found: list[tuple[str, int, int]]) -> None:
    assert keys(language, text) == found


BLOCKS = {
    "toml": ("", "[key_{n}]\n{rows}", "option_{i} = 'value of option number {i}'\n"),
    "yaml": ("", "key_{n}:\n{rows}", "  option_{i}: value of option number {i}\n"),
    "json": ("{{\n", '  "key_{n}": {{\n{rows}    "last": 1\n  }},\n', '    "option_{i}": "value of option number {i}",\n'),
}


@pytest.mark.parametrize("language", BLOCKS)
def test_a_chunk_begins_at_a_key_of_the_top(language: str, cut: Cut) -> None:
    opening, block, row = BLOCKS[language]
    rows = "".join(row.format(i=i) for i in range(12))
    chunks = cut(language, opening.format() + "".join(block.format(n=n, rows=rows) for n in range(8)))
    assert len(chunks) > 3
    assert {chunk.kind for chunk in chunks} == {Kind.MODULE}
    assert [name for chunk in chunks for name in chunk.defines] == [f"key_{n}" for n in range(8)]
    assert all(chunk.text.lstrip('[" ').startswith("key_") for chunk in chunks[1:])
    assert [chunk.symbol for chunk in chunks if len(chunk.defines) == 1] == [
        chunk.defines[0] for chunk in chunks if len(chunk.defines) == 1
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("yaml", "jobs:\n" + "".join(f"  job_{n}:\n" + "    - run: a command of some length\n" * 20 for n in range(6))),
        (
            "json",
            '{\n  "jobs": {\n'
            + "".join(f'    "job_{n}": [\n' + '      "a command of some length",\n' * 20 + "    ],\n" for n in range(6))
            + "  }\n}",
        ),
        ("toml", "[jobs]\n" + "".join(f"job_{n} = [\n" + '  "a command of some length",\n' * 20 + "]\n" for n in range(6))),
    ],
)
def test_a_large_value_is_cut_at_the_keys_in_it(language: str, text: str, cut: Cut) -> None:
    chunks = cut(language, text)
    assert {f"jobs.job_{n}" for n in range(6)} <= {chunk.symbol for chunk in chunks}
    assert all(chunk.text.lstrip('" ').startswith("job_") for chunk in chunks[1:])
    assert chunks[0].text.lstrip('{[\n" ').startswith("jobs")


def test_a_comment_stays_with_the_key_below_it_and_describes_it(cut: Cut) -> None:
    chunks = cut("yaml", "".join(f"# Says why {n}.\nkey_{n}:\n" + "  option: value of some length\n" * 25 for n in range(5)))
    assert [chunk.doc for chunk in chunks] == [f"Says why {n}." for n in range(5)]
