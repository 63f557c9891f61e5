"""The words that an embedding model knows as a whole. Its tokenizer has an entry for each word that is common in what it was trained on,
so it is a dictionary that is there anyway: what is not in it is rare, a name, or misspelt."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

_BEGINNINGS = ("▁", "Ġ")  # of words, as some tokenizers mark them


@lru_cache(maxsize=4)
def known_words(tokenizer: Path) -> frozenset[str]:
    """Those of a `tokenizer.json`, lower case, letters alone; none where it has no list of words."""
    try:
        vocabulary = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()
    entries = vocabulary if isinstance(vocabulary, dict) else (entry[0] for entry in vocabulary)
    return frozenset(word for entry in entries if (word := str(entry).lstrip("".join(_BEGINNINGS)).lower()).isalpha())
