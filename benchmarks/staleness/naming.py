"""New names in the style of old ones, and classes in the language of a file."""

from __future__ import annotations

import re

# Combined, these are names that no repository has: `free_names` leaves out those that one has all the same.
_VERBS = ("reconcile", "marshal", "transpose", "quiesce", "interleave", "ratify", "hydrate", "demarcate", "annul", "exhume")
_NOUNS = ("ledger", "turnstile", "almanac", "lantern", "estuary", "bobbin", "causeway", "trellis", "sextant", "gazette")

_BRACES = "\n\n{comment} {name} keeps {words}.\nclass {name} {{\n}}\n"
_CLASSES = {
    "python": '\n\nclass {name}:\n    """Keeps {words}."""\n\n    def __init__(self) -> None:\n        self.kept = []\n',
    "ruby": "\n\n# Keeps {words}.\nclass {name}\n  def kept\n    []\n  end\nend\n",
    "go": "\n\n// {name} keeps {words}.\ntype {name} struct {{\n\tkept []string\n}}\n",
    "rust": "\n\n/// Keeps {words}.\npub struct {name} {{\n    kept: Vec<String>,\n}}\n",
    **dict.fromkeys(("javascript", "typescript", "tsx", "java", "csharp", "kotlin", "php", "scala", "swift", "dart"), _BRACES),
    "cpp": "\n\n// {name} keeps {words}.\nclass {name} {{\n}};\n",
}
LANGUAGES = frozenset(_CLASSES)


def free_names(used: frozenset[str], count: int) -> list[tuple[str, str]]:
    """`count` pairs of words of which the second is in no name of a repository, whose words (lower case) are `used`."""
    pairs = [(verb, noun) for step in range(len(_NOUNS)) for verb, noun in zip(_VERBS, _NOUNS[step:] + _NOUNS[:step], strict=True)]
    free = [(verb, noun) for verb, noun in pairs if verb + noun not in used and f"{verb}_{noun}" not in used]
    return free[:count]


def like(old: str, words: tuple[str, str]) -> str:
    """A name of these words, written as `old` is: `snake_case`, `camelCase` or `CamelCase`."""
    first, second = words
    if old[:1].isupper():
        return first.capitalize() + second.capitalize()
    return f"{first}_{second}" if re.fullmatch(r"[^A-Z]+", old) else first + second.capitalize()


def class_of(language: str, words: tuple[str, str]) -> tuple[str, str]:
    """(name, text) of a new class, to be appended to a file."""
    name = words[0].capitalize() + words[1].capitalize()
    return name, _CLASSES[language].format(name=name, words=f"the {words[1]} to {words[0]}", comment="//")
