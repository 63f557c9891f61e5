"""What holds for every list of chunks, whatever the document: the contract of `make_chunker`, as one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rag.chunking import ChunkingSettings
from rag.types import Chunk, Document


def check_contract(
    document: Document, chunks: Sequence[Chunk], count_tokens: Callable[[str], int], settings: ChunkingSettings, *, overlaps: bool
) -> None:
    lines = document.text.split("\n")
    covered: set[int] = set()
    before: Chunk | None = None
    pieces_end = 0
    for chunk in chunks:
        assert 1 <= chunk.start_line <= chunk.end_line <= len(lines)
        assert (chunk.path, chunk.language) == (document.path, document.language)
        assert count_tokens(chunk.encoded_text) <= settings.window_tokens
        assert chunk.text.strip()
        whole = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        if chunk.text != whole:  # a part of a line that is too long
            assert chunk.start_line == chunk.end_line
            if before is None or before.end_line < chunk.start_line:
                pieces_end = 0
            place = whole.find(chunk.text, pieces_end)
            assert place >= 0, "parts of a line come in its order, without overlap"
            assert not whole[pieces_end:place].strip(), "nothing is left out between two parts"
            pieces_end = place + len(chunk.text)
        else:
            assert lines[chunk.start_line - 1].strip()
            assert lines[chunk.end_line - 1].strip()
        if before is not None:
            assert (before.start_line, before.end_line) <= (chunk.start_line, chunk.end_line), "in order of lines"
            same_line = before.start_line == before.end_line == chunk.start_line == chunk.end_line
            assert overlaps or same_line or before.end_line < chunk.start_line, "no line is in two chunks"
        covered.update(range(chunk.start_line, chunk.end_line + 1))
        before = chunk
    blank = {number for number, line in enumerate(lines, 1) if not line.strip()}
    assert covered | blank == set(range(1, len(lines) + 1)), "every line that is not blank is in a chunk"
    assert (
        len({chunk.id for chunk in chunks}) == len(chunks) or any(chunk.text not in document.text for chunk in chunks) or _repeats(chunks)
    )


def _repeats(chunks: Sequence[Chunk]) -> bool:
    """Equal parts of one line have one id: only then may ids repeat."""
    seen: dict[str, Chunk] = {}
    for chunk in chunks:
        if chunk.id in seen and chunk.start_line != chunk.end_line:
            return False
        seen[chunk.id] = chunk
    return True
