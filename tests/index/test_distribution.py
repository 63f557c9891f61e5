"""The distribution of chunks: it counts each once, with the model's own tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rag.embedding.models import EmbeddingSettings, tokenizer_file
from rag.index.distribution import ALL, begins_inside, distribution
from rag.types import Chunk, Kind
from tests.index.fixtures import SampleIndex


def test_every_chunk_counts_once_and_none_exceeds_the_window(sample_index: SampleIndex) -> None:
    with sample_index.index.open() as generation:
        counted = distribution(generation, tokenizer_file(EmbeddingSettings()))
        chunks = list(generation.chunks.all())
    assert counted.window == sample_index.spec.window
    assert {row.language for row in counted.languages} == {"python", "javascript", "go", "markdown", "toml"}
    assert (counted.total.language, counted.total.files, counted.total.chunks) == (ALL, 7, len(chunks))
    assert sum(row.chunks for row in counted.languages) == len(chunks)
    assert sum(row.files for row in counted.languages) == 7
    assert [row.chunks for row in counted.languages] == sorted((row.chunks for row in counted.languages), reverse=True)
    python = next(row for row in counted.languages if row.language == "python")
    assert python.files == len({chunk.path for chunk in chunks if chunk.language == "python"})
    for row in (*counted.languages, counted.total):
        assert row.over_window_share == 0
        assert 0 < row.median_tokens < row.median_encoded_tokens <= row.longest_encoded_tokens <= counted.window
        assert row.median_tokens < row.median_chars
    toml = next(row for row in counted.languages if row.language == "toml")
    assert (toml.chunks, toml.small_share, toml.inside_definition_share) == (1, 1.0, 0.0)  # one chunk of three short lines
    # [ station ] name = " north " size = 24
    assert (toml.median_chars, toml.median_tokens) == (len('[station]\nname = "north"\nsize = 24'), 11)


def test_a_chunk_over_the_window_is_seen(sample_index: SampleIndex) -> None:
    with sample_index.index.open() as generation:
        narrow = replace(generation.manifest, embedding=replace(generation.manifest.embedding, window=60))
        counted = distribution(replace(generation, manifest=narrow), tokenizer_file(EmbeddingSettings()))
    assert counted.window == 60
    assert 0 < counted.total.over_window_share < 1


@pytest.mark.parametrize(
    ("symbol", "defines", "kind", "inside"),
    [
        ("", (), Kind.MODULE, False),
        ("assign", ("assign",), Kind.FUNCTION, False),
        ("Station.assign", ("assign", "release"), Kind.METHOD, False),
        ("Station.assign", (), Kind.METHOD, True),
        ("Station.assign", ("release",), Kind.METHOD, True),
        ("TABLE", (), Kind.MODULE, True),
        ("A heading that was cut", ("A heading that was cut short",), Kind.SECTION, False),
        ("A heading", (), Kind.SECTION, True),
    ],
)
def test_a_chunk_that_goes_on_with_a_definition(symbol: str, defines: tuple[str, ...], kind: Kind, inside: bool) -> None:
    assert begins_inside(Chunk("a.py", 5, 9, kind, "python", "x", symbol=symbol, defines=defines)) is inside
