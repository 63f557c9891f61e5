"""Names as this index writes them: "lockerdoor" is LockerDoor here, "doorLock" is door_lock. Not "door-lock": people write words with
hyphens that are no names ("many-to-many"), and that cost more than it brought (0.003 of 435 clean questions)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from rag.index.defined_names import DefinedNames
from rag.index.stems import stem
from rag.index.tokens import split_words, word_terms, words
from rag.retrieval.query import Query

_COMPOUND = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z0-9]_[A-Za-z0-9]")  # of several words
# Of ten letters and more: what is shorter may be a word ("multipart", "metadata"). Inside another name it means that one.
_ONE_WORD = re.compile(r"(?<![\w.:/#`$@\\-])(?:[a-z]{10,40}|[A-Z]{10,40})(?![\w(:/#`\\]|\.\w|-\w)")
_MOST = 12  # names of a question that are looked for
_LOOKED_INTO = 8  # rows that define one


def spelt_as_here(query: Query, defines: DefinedNames) -> Query:
    """The query with names as they are defined in the index, where it writes them in another way, and with the words that they hold."""
    if query.long is not None:
        return query
    written = {word.lower(): word for word in words(query.text)}
    names = tuple(dict.fromkeys(_defined(name, written.get(name, name), defines) for name in query.identifiers))
    parts: dict[str, tuple[str, ...]] = {}
    found: list[str] = []
    if not query.symbol:
        for term in dict.fromkeys(word.lower() for word in _ONE_WORD.findall(query.text)[:_MOST]):
            if meant := _as_written(term, defines):
                found.append(term)
                parts[term] = word_terms(meant)
    names = tuple(dict.fromkeys((*names, *found)))
    missing = {term: of for term, of in parts.items() if not set(of[1:]) <= set(query.terms)}
    terms = tuple(part for term in query.terms for part in missing.get(term, (term,)))
    if names == query.identifiers and terms == query.terms:
        return query
    symbol = names[0] if query.symbol and names else query.symbol
    return replace(query, symbol=symbol, identifiers=names, terms=terms, stems=tuple(map(stem, terms)))


def _defined(name: str, written: str, defines: DefinedNames) -> str:
    """An identifier of the question, lower case, as a name that is defined: itself where it is, or where no other form of it is. `written`:
    as the question writes it."""
    if len(defines.defining(name)):
        return name
    return next((form for form in _forms(split_words(written)) if len(defines.defining(form))), name)


def _as_written(name: str, defines: DefinedNames) -> str:
    """A defined name of several words, as it is written here, that is this one but for its case; "" for none."""
    for row in defines.defining(name)[:_LOOKED_INTO].tolist():
        for written in defines.of_row(row):
            if written.lower() == name and _COMPOUND.search(written):
                return written
    return ""


def _forms(parts: Iterable[str]) -> Iterator[str]:
    """The ways to join words to a name, lower case."""
    lower = [part.lower() for part in parts]
    if len(lower) > 1:
        yield "".join(lower)
        yield "_".join(lower)
