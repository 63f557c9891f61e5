"""Counting tokens without tokenising everything twice.

Tokenising is the slowest part of chunking, and most words of a repository repeat. So words are counted once and remembered, and a
line's tokens are the sum of its words'. For BERT's tokenizers that sum is exact on ASCII text, since they split at white space and
punctuation before they look anything up. For any other it is an estimate, and every chunk it is used for is counted again, whole.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from tokenizers import Tokenizer

TokenCounter = Callable[[str], int]

_WORDS = re.compile(r"\w+|[^\w\s]")
_REMEMBERED = 400_000


class TokenizerCounter:
    """Tokens of a `tokenizer.json`, special tokens included, without its truncation and padding. `words_add_up`: see the module."""

    def __init__(self, tokenizer_file: Path) -> None:
        """Raises: OSError, ValueError where the file is no tokenizer."""
        raw = tokenizer_file.read_text("utf-8")
        try:
            pre_tokenizer = (json.loads(raw).get("pre_tokenizer") or {}).get("type")
            self._tokenizer = Tokenizer.from_str(raw)
        except Exception as error:  # the library raises bare Exception
            raise ValueError(f"{tokenizer_file} is not a tokenizer file: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.words_add_up = pre_tokenizer == "BertPreTokenizer"

    def __call__(self, text: str) -> int:
        try:
            return len(self._tokenizer.encode(text))
        except (TypeError, UnicodeError):  # lone surrogates, of a path that is not UTF-8
            return len(self._tokenizer.encode(text.encode("utf-8", "replace").decode("utf-8")))

    def many(self, words: Sequence[str]) -> list[int]:
        """As calling it with each, several times as fast. Raises: TypeError, UnicodeError on lone surrogates."""
        return [len(encoding) for encoding in self._tokenizer.encode_batch_fast(words)]


class _WordCounts(dict[str, int]):
    def __init__(self, count: TokenCounter, special: int) -> None:
        super().__init__()
        self._count = count
        self._special = special

    def __missing__(self, word: str) -> int:
        tokens = self._count(word) - self._special
        self.learn([word], [tokens + self._special])
        return tokens

    def learn(self, words: Sequence[str], counts: Sequence[int]) -> None:
        """Remembers counts, special tokens included; of words that are not too long to come again."""
        if len(self) + len(words) > _REMEMBERED:
            self.clear()
        self.update((word, tokens - self._special) for word, tokens in zip(words, counts, strict=True) if len(word) <= 64)


class TokenBudget:
    """Counts for one embedding model. `special`: the special tokens that the model adds to every text."""

    def __init__(self, count: TokenCounter) -> None:
        self._count = count
        self._exact_on_ascii = bool(getattr(count, "words_add_up", False))
        self.special = count("")
        self._words = _WordCounts(count, self.special)

    def of_line(self, line: str) -> int:
        """An estimate, without special tokens. Never below the truth for BERT's tokenizers on ASCII."""
        tokens = sum(map(self._words.__getitem__, _WORDS.findall(line)))
        return tokens if self._exact_on_ascii else tokens + 1

    def of_lines(self, lines: Sequence[str]) -> list[int]:
        """`of_line` of each; equal lines are counted once, and words not yet known together."""
        words = {line: _WORDS.findall(line) for line in set(lines)}
        many = getattr(self._count, "many", None)
        if many is not None:
            # Not a difference of sets: that would walk all that is remembered, for every document.
            unknown = [word for word in set().union(*words.values()) if word not in self._words]
            with contextlib.suppress(TypeError, UnicodeError):
                self._words.learn(unknown, many(unknown))
        extra, known = (0 if self._exact_on_ascii else 1), self._words.__getitem__
        tokens = {line: sum(map(known, found)) + extra for line, found in words.items()}
        return [tokens[line] for line in lines]

    def of_text(self, text: str) -> int:
        """Exact, without special tokens."""
        if self._exact_on_ascii and text.isascii():
            return self.of_line(text)
        return self._count(text) - self.special

    def fits(self, text: str, estimate: int, window: int) -> bool:
        """Whether `text` with its special tokens is within `window`; `estimate`, without them, spares the count where it is exact.

        ASCII text has no more tokens than characters, but for the special ones and a space that some tokenizers put in front.
        """
        if text.isascii():
            if len(text) + self.special + 1 <= window:
                return True
            if self._exact_on_ascii:
                return estimate + self.special <= window
        return self._count(text) <= window
