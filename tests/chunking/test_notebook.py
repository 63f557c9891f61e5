"""Notebooks by their cells, in the lines of the JSON that they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rag.types import Chunk, Kind

Cut = Callable[[str, str], list[Chunk]]


def cell(kind: str, source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True), **more}


def notebook(*cells: dict[str, Any], language: str = "python", indent: int | None = 1) -> str:
    return json.dumps({"cells": cells, "metadata": {"language_info": {"name": language}}, "nbformat": 4}, indent=indent) + "\n"


PROSE = "".join(f"A sentence with number {n} about it.\n" for n in range(10))
CODE = "".join(f"print(compute({n}), 'some words')\n" for n in range(10))


def test_each_cell_is_a_chunk_named_by_its_heading_or_its_number_and_kind(cut: Cut) -> None:
    text = notebook(cell("markdown", f"## Training it\n{PROSE}"), cell("code", CODE), cell("markdown", PROSE), cell("raw", PROSE))
    chunks = cut("notebook", text)
    assert [(chunk.symbol, chunk.kind) for chunk in chunks] == [
        ("Training it", Kind.SECTION),
        ("cell 2 (code)", Kind.MODULE),
        ("cell 3 (markdown)", Kind.SECTION),
        ("cell 4 (raw)", Kind.MODULE),
    ]
    lines = text.split("\n")
    assert all(chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line]) for chunk in chunks)


def test_a_long_cell_is_cut_between_the_statements_of_its_language(cut: Cut) -> None:
    source = "import a\n\n" + "".join(f'def f{n}(x):\n    """Does {n}."""\n    return x{" + 1234567" * 25}\n\n' for n in range(6))
    chunks = cut("notebook", notebook(cell("code", source)))
    assert [name for chunk in chunks for name in chunk.defines] == ["cell 1 (code)", *(f"f{n}" for n in range(6))]
    assert all(chunk.text.lstrip().startswith('"def f') for chunk in chunks[1:])
    assert chunks[3].doc.startswith("Does")


def test_the_language_is_the_notebooks(cut: Cut) -> None:
    (chunk,) = cut("notebook", notebook(cell("code", "function area(c)\n    c.r\nend\n"), language="julia"))
    assert "area" in chunk.defines


def test_outputs_are_apart_from_the_source_where_both_are_long(cut: Cut) -> None:
    output = [{"output_type": "stream", "name": "stdout", "text": [f"epoch {n} loss {n / 7}\n" for n in range(60)]}]
    chunks = cut("notebook", notebook({**cell("code", CODE * 2), "outputs": output}, cell("markdown", "# Next\n")))
    assert {chunk.symbol for chunk in chunks} >= {"cell 1 (code)"}
    assert not any("epoch 59" in chunk.text and "compute(3)" in chunk.text for chunk in chunks)


def test_what_is_no_notebook_is_still_cut(cut: Cut) -> None:
    for text in (
        "",
        "not json",
        "[1, 2]",
        '{"cells": 3}',
        '{"cells": [1, {"source": {}}]}',
        '{"cells": [{"source": ["a", 3]}',
        notebook(indent=None),
    ):
        chunks = cut("notebook", text)
        assert "".join(chunk.text for chunk in chunks).strip() == text.strip()
