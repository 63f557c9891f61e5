"""Names of authors: what is kept of them, which of them are programs, and which a person means by a few letters. Pure.

A name comes from whoever made the commit and may hold anything. What is kept has no control or invisible characters, no e-mail address,
nothing that Slack or Markdown could read as markup, a link or a ping, and at most 80 characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches

from rag.source.redaction import redact

LONGEST = 80  # characters
_READ = 1_000  # of a name; the rest of a longer one is not looked at
_ADDRESS = re.compile(r"([^\s@<>]{0,80})@[^\s@<>]*")
_SCHEME = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{0,20}:(?=\S)")
_MARKUP = re.compile(r"[<>\[\]{}|`*~#@\\!^=/\"“”„]+")
_PROGRAM = re.compile(
    r"\[bot\]|(?:^|[\s_-])bot$|^(?:dependabot|renovate|greenkeeper|github[ -]?actions?|semantic-release)(?:$|[\s_-])"
    r"|^(?:gitlab[ -]?ci|pre-commit[ -.]ci|mergify|bors|homu|weblate|transifex|imgbot|travis[ -]ci|jenkins|circleci|copybara)$",
    re.IGNORECASE,
)
_NEAR = 3


def kept_name(raw: str) -> str:
    """What is stored and shown of a name, "" where nothing is left: "Ana <b@x.org>" -> "Ana", "ana@x.org" -> "ana"."""
    text = unicodedata.normalize("NFC", raw[:_READ])
    text = "".join(" " if character.isspace() else character for character in text)
    text = "".join(character for character in text if unicodedata.category(character)[0] != "C")
    if redact(text)[1]:  # a token that somebody pasted into the wrong field
        return ""
    text = _ADDRESS.sub(r"\1", text)
    text = _MARKUP.sub(" ", _SCHEME.sub(" ", text))
    return " ".join(text.split())[:LONGEST].strip(" _-,;:")


def is_program(name: str) -> bool:
    """Whether commits of this name are made by a program and not by a person. `name`: as it was written, or as it is kept."""
    return bool(_PROGRAM.search(name.strip()))


def folded(name: str) -> str:
    """For comparing: lower case, without accents, words apart by one space."""
    plain = "".join(character for character in unicodedata.normalize("NFKD", name) if not unicodedata.combining(character))
    return " ".join(re.findall(r"\w+", plain.casefold().replace("_", " ")))


def meant_by(wanted: str, names: Iterable[str]) -> list[str]:
    """The names that `wanted` means: it is one of them, or some words of one, the last of which may be cut short."""
    asked = folded(wanted)
    return [name for name in names if f" {asked}" in f" {folded(name)}"] if asked else []


def near(wanted: str, names: Iterable[str]) -> list[str]:
    """Up to three names that are written much like `wanted`, by the whole name or one of its words; the nearest first."""
    forms: dict[str, str] = {}
    for name in names:
        whole = folded(name)
        for form in (whole, *whole.split()):
            forms.setdefault(form, name)
    found = get_close_matches(folded(wanted), list(forms), 3 * _NEAR, 0.6)
    return list(dict.fromkeys(forms[form] for form in found))[:_NEAR]
