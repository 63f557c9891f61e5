"""How chunks are cut, as one value."""

from __future__ import annotations

from dataclasses import dataclass

# Part of every manifest: raise it whenever the same document would be cut, named or described differently.
CHUNKER_VERSION = "2"


@dataclass(frozen=True, slots=True)
class ChunkingSettings:
    """Sizes are characters unless they say tokens.

    `window_tokens`: what the embedding model reads, special tokens included; no chunk's `encoded_text` is longer.
    `max_chars`: neighbours are merged up to it; one definition may reach half as much again before it is cut.
    `min_chars`: a chunk below it is merged with a neighbour wherever that is possible.
    `prose_max_chars`: `max_chars` for sections of prose, which say less per character.
    `overlap`: share of a chunk that the next one repeats, where a document is cut by lines for want of a syntax.
    `max_pieces_per_line`: a line too long for one chunk is cut into so many at most; what is left of it is not indexed.
    """

    window_tokens: int = 256
    max_chars: int = 800
    min_chars: int = 200
    prose_max_chars: int = 1500
    overlap: float = 0.1
    max_pieces_per_line: int = 16

    def __post_init__(self) -> None:
        if self.window_tokens < 32:
            raise ValueError(f"window_tokens is {self.window_tokens}, at least 32 is needed")
        if not 0 < self.min_chars <= self.max_chars <= self.prose_max_chars:
            raise ValueError("0 < min_chars <= max_chars <= prose_max_chars does not hold")
        if not 0 <= self.overlap < 0.5:
            raise ValueError(f"overlap is {self.overlap}, a share from 0 to under 0.5 is needed")
        if self.max_pieces_per_line < 1:
            raise ValueError("max_pieces_per_line must be at least 1")
