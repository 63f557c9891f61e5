"""Which repository a question is about: named > the thread's > the channel's > the only one > named in passing. Never a guess."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rag.types import Repository

_BY_KEY = re.compile(r"(?:^|(?<=\s))repo(?:sitory)?:\s?(?P<name>[\w.-]+(?:/[\w.-]+)*)[,:]?(?=\s|$)", re.IGNORECASE)
_BY_PHRASE = re.compile(r"^\s*(?:in|about|for|on)\s+`?(?P<name>[\w./-]+?)`?\s*[:,]\s+", re.IGNORECASE)
_BY_LABEL = re.compile(r"^\s*`?(?P<name>[\w./-]+?)`?\s*:\s+")


@dataclass(frozen=True, slots=True)
class Choice:
    """`question` is the text without the words that only named the repository."""

    repository: Repository
    question: str
    how: Literal["named", "thread", "channel", "only", "mentioned"]


@dataclass(frozen=True, slots=True)
class NoChoice:
    """`unknown`: the name that somebody asked for and that may not be heard about here, or does not exist: told alike.
    `nearest`: an allowed name much like it, "" for none."""

    choices: tuple[str, ...]
    unknown: str = ""
    nearest: str = ""


def choose(text: str, allowed: Sequence[Repository], pin: str = "", binding: str = "") -> Choice | NoChoice:
    """Pure. `allowed`: what may be heard about here, and so all that can be chosen. `pin`, `binding`: names, "" for none."""
    by_name = {repository.name.lower(): repository for repository in allowed}
    names = tuple(sorted(repository.name for repository in allowed))

    keyed = _BY_KEY.search(text)
    if keyed:
        found = find(keyed["name"], allowed)
        rest = f"{text[: keyed.start()].rstrip()} {text[keyed.end() :].lstrip()}".strip(" ,:")
        if found is None:
            return NoChoice(names, keyed["name"], nearest(keyed["name"], names))
        return Choice(found, rest, "named")
    for pattern in (_BY_PHRASE, _BY_LABEL):
        phrase = pattern.match(text)
        found = find(phrase["name"], allowed) if phrase else None
        if phrase and found:  # "in practice: …" names no repository and is left as it is
            return Choice(found, text[phrase.end() :].strip(), "named")

    question = text.strip()
    if pin.lower() in by_name:
        return Choice(by_name[pin.lower()], question, "thread")
    if binding.lower() in by_name:
        return Choice(by_name[binding.lower()], question, "channel")
    if len(allowed) == 1:
        return Choice(allowed[0], question, "only")
    words = {word.strip(".-").lower() for word in re.findall(r"[\w.-]+", text)}
    mentioned = [repository for repository in allowed if repository.name.lower() in words]
    if len(mentioned) == 1:
        return Choice(mentioned[0], question, "mentioned")
    return NoChoice(names)


def find(name: str, allowed: Sequence[Repository]) -> Repository | None:
    """By whole name, or by its last part ("flask" for "pallets/flask") where only one has it; case does not matter."""
    wanted = name.strip("`/ ").lower()
    exact = [repository for repository in allowed if repository.name.lower() == wanted]
    if exact:
        return exact[0]
    tail = [
        repository
        for repository in allowed
        if repository.name.lower().rsplit("/", 1)[-1] == wanted or wanted.rsplit("/", 1)[-1] == repository.name.lower()
    ]
    return tail[0] if len(tail) == 1 else None


def nearest(name: str, names: Sequence[str]) -> str:
    """The one of `names` that is spelt most like it, "" if none is close."""
    close = difflib.get_close_matches(name.lower(), [known.lower() for known in names], n=1, cutoff=0.6)
    return next((known for known in names if close and known.lower() == close[0]), "")
