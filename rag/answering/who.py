"""Who knows about what a search has found: the authors of its best files, and whom CODEOWNERS names for them. No model is asked.

An author's knowledge of a file is a share: commits weighed by age and size, over those of all people. It counts by the file's place in
the search. Programs are no people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from rag.answering.code_owners import PLACES, Rule, owning, rules_of
from rag.index.chunk_table import ChunkTable
from rag.index.generation import Generation
from rag.source.history.names import is_program
from rag.source.history.tally import History
from rag.source.permalink import permalink
from rag.types import Chunk, Repository, Retrieval, SearchResult

FILES = 8  # the best of a search that are looked at
PEOPLE = 3
TOUCHED = 3  # files named for each person
_SECOND_GROUP = 0.5  # what a file of the group that does not lead counts
_LEAST = 0.1  # of the first person's knowledge: whoever has less is not named


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that a person has changed. `last`: None where no date is known. `result`: its place in the search."""

    result: SearchResult
    last: date | None
    commits: int


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    knowledge: float
    touched: tuple[Touched, ...]


@dataclass(frozen=True, slots=True)
class Owned:
    """A line of CODEOWNERS, the files of the search that it means, and the line's own place."""

    rule: Rule
    files: tuple[SearchResult, ...]
    result: SearchResult


@dataclass(frozen=True, slots=True)
class Known:
    """`history`: "" where it was read, else why it says nothing: "none", "masked". `cut`: the clone was shallow."""

    people: tuple[Person, ...]
    owned: tuple[Owned, ...]
    history: str
    cut: bool = False


def known_of(retrieval: Retrieval, generation: Generation, repository: Repository) -> Known:
    """What history and CODEOWNERS say of the files that were found. Reads files.

    Raises: IndexCorrupt.
    """
    if not generation.history.named:
        return Known((), (), "masked")
    history = generation.history.get()
    files = best_files(retrieval)
    owned = tuple(_owned(files, generation.chunks, retrieval, repository))
    if history is None or not history.named:
        return Known((), owned, "none")
    return Known(tuple(people(files, history)), owned, "", history.cut)


def best_files(retrieval: Retrieval) -> list[tuple[SearchResult, float]]:
    """The first result of each of the best files and what the file counts, 0 to 1, the most first."""
    best = {group: max(r.score for r in retrieval.results if r.group == group) for group in {r.group for r in retrieval.results}}
    files: dict[str, tuple[SearchResult, float]] = {}
    for result in retrieval.results:
        share = max(0.0, result.score) / best[result.group] if best[result.group] > 0 else 1.0
        files.setdefault(result.chunk.path, (result, share * (1.0 if result.group == retrieval.leads else _SECOND_GROUP)))
    return sorted(files.values(), key=lambda file: (-file[1], file[0].rank))[:FILES]


def people(files: Sequence[tuple[SearchResult, float]], history: History) -> list[Person]:
    """Up to PEOPLE, the one who knows most first."""
    numbers = {path: number for number, path in enumerate(history.paths)}
    knowledge: dict[str, float] = {}
    touched: dict[str, list[tuple[float, Touched]]] = {}
    for result, counts in files:
        number = numbers.get(result.chunk.path)
        if number is None:
            continue
        pairs = range(int(history.starts[number]), int(history.starts[number + 1]))
        own = [(pair, name) for pair in pairs if not is_program(name := history.authors[int(history.who[pair])])]
        total = sum(float(history.weights[pair]) for pair, _ in own)
        for pair, name in own:
            share = counts * (float(history.weights[pair]) / total if total > 0 else 1 / len(own))
            knowledge[name] = knowledge.get(name, 0.0) + share
            touched.setdefault(name, []).append((share, Touched(result, _day(int(history.last[pair])), int(history.commits[pair]))))
    ranked = sorted(knowledge, key=lambda name: (-knowledge[name], name))
    return [
        Person(name, knowledge[name], tuple(one for _, one in sorted(touched[name], key=lambda held: -held[0])[:TOUCHED]))
        for name in ranked[:PEOPLE]
        if knowledge[name] >= _LEAST * knowledge[ranked[0]]
    ]


def _owned(
    files: Sequence[tuple[SearchResult, float]], chunks: ChunkTable, retrieval: Retrieval, repository: Repository
) -> Iterable[Owned]:
    place = next((place for place in PLACES if place in chunks.path_set), None)
    if place is None:
        return
    parts = chunks.get([row for row, number in enumerate(chunks.path_numbers.tolist()) if chunks.paths[number] == place])
    rules = _rules(parts)
    meant: dict[Rule, list[SearchResult]] = {}
    for result, _ in files:
        for rule in owning(rules, result.chunk.path):
            meant.setdefault(rule, []).append(result)
    commit = retrieval.index.commit
    for rank, (rule, results) in enumerate(meant.items(), len(retrieval.results) + 1):
        chunk = next(part for part in parts if part.start_line <= rule.line <= part.end_line)
        line = replace(chunk, start_line=rule.line, end_line=rule.line, text=chunk.text.split("\n")[rule.line - chunk.start_line])
        yield Owned(rule, tuple(results), SearchResult(rank, line, 0.0, {}, permalink(repository, commit, place, rule.line, rule.line)))


def _rules(parts: Sequence[Chunk]) -> list[Rule]:
    """Of all chunks of a file, each line once: chunks by lines overlap."""
    lines: dict[int, str] = {}
    for part in parts:
        for number, line in enumerate(part.text.split("\n"), part.start_line):
            lines.setdefault(number, line)
    last = max(lines, default=0)
    return rules_of("\n".join(lines.get(number, "") for number in range(1, last + 1)))


def _day(seconds: int) -> date | None:
    return datetime.fromtimestamp(seconds, UTC).date() if seconds > 0 else None
