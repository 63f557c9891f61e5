"""Twenty changes to a repository, as people make them: functions renamed and moved to another file, signatures changed, classes added,
modules deleted. Pure: texts in, texts out.

They are made in about a hundredth of the files, as far as there are enough functions in these. A function is chosen whose name stands in
one file alone, so that a question by this name has one right place and nobody else would have had to be changed with it.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.staleness.naming import LANGUAGES, class_of, free_names, like
from rag.errors import FootnoteError
from rag.types import Chunk, Kind

RENAMED, MOVED, RESIGNED, CLASS_ADDED, DELETED = "renamed", "moved", "signature changed", "class added", "module deleted"
PLAN = {RENAMED: 6, MOVED: 5, RESIGNED: 4, CLASS_ADDED: 3, DELETED: 2}
SHARE = 0.01  # of the files
_WORD = re.compile(r"[^\W\d]\w+")


@dataclass(frozen=True, slots=True)
class Asked:
    """`path`, `word`: where the answer must point at once the change is indexed, and what must stand there; "" where nothing was added."""

    question: str
    path: str = ""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    kind: str
    what: str
    asked: tuple[Asked, ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """`files`: the new text of each file that changed, None for one that is deleted."""

    changes: tuple[Change, ...]
    files: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Definition:
    """A function that lies whole in one chunk. `text`: its lines. `top`: it stands in no class, and can be moved."""

    path: str
    language: str
    name: str
    text: str
    top: bool


def definitions(chunks: Iterable[Chunk]) -> list[Definition]:
    """Functions and methods with a name of their own that stands in one file alone, each whole in its chunk."""
    chunks = list(chunks)
    pieces = Counter((chunk.path, chunk.symbol) for chunk in chunks)
    places: dict[str, set[str]] = defaultdict(set)
    for chunk in chunks:
        for word in set(_WORD.findall(chunk.text)):
            places[word].add(chunk.path)
    found = []
    for chunk in chunks:
        if chunk.kind not in (Kind.FUNCTION, Kind.METHOD) or len(chunk.defines) != 1 or pieces[chunk.path, chunk.symbol] > 1:
            continue
        name = chunk.defines[0]
        plain = len(name) > 5 and not name.startswith("_") and chunk.language in LANGUAGES
        if plain and places[name] == {chunk.path} and re.search(rf"\b{re.escape(name)}\s*\(", chunk.text):
            found.append(Definition(chunk.path, chunk.language, name, chunk.text, not chunk.scope and chunk.kind is Kind.FUNCTION))
    return found


def change(texts: Mapping[str, str], found: Sequence[Definition], *, plan: Mapping[str, int] = PLAN, seed: int = 1) -> Changed:
    """`texts`: every file of the repository by its path. `found`: its `definitions`. The same input gives the same changes.

    Raises: FootnoteError where it has too few functions for the plan.
    """
    return _Changing(dict(texts), found, plan, random.Random(seed)).run()


@dataclass
class _Changing:
    texts: dict[str, str]
    found: Sequence[Definition]
    plan: Mapping[str, int]
    chance: random.Random
    homes: list[str] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    names: list[tuple[str, str]] = field(default_factory=list)
    left: list[Definition] = field(default_factory=list)
    doomed: list[Definition] = field(default_factory=list)

    def run(self) -> Changed:
        original = dict(self.texts)
        used = frozenset(word.lower() for text in original.values() for word in _WORD.findall(text))
        self.names = free_names(used, sum(self.plan.values()))
        self._choose_homes()
        steps: dict[str, Callable[[], Change]] = {
            MOVED: self._move,  # first, since a function at the top of its file is the rarest
            RENAMED: self._rename,
            RESIGNED: self._change_signature,
            CLASS_ADDED: self._add_class,
            DELETED: self._delete,
        }
        changes = [steps[kind]() for kind in steps for _ in range(self.plan.get(kind, 0))]
        files = {path: self.texts.get(path) for path in sorted(self.touched) if self.texts.get(path) != original[path]}
        return Changed(tuple(changes), files)

    def _choose_homes(self) -> None:
        """Files of the language that has most functions, at random but those with two or more first, until they have enough functions.
        The modules to be deleted are others: `doomed` has a function of each."""
        languages = Counter(one.language for one in self.found)
        if not languages:
            raise FootnoteError("This repository has no function that could be changed.", "Name one with code in it.")
        language = languages.most_common(1)[0][0]
        by_file: dict[str, list[Definition]] = defaultdict(list)
        for one in self.found:
            if one.language == language and one.path in self.texts and self.texts[one.path].count(one.text) == 1:
                by_file[one.path].append(one)
        paths = sorted(by_file)
        self.chance.shuffle(paths)
        paths.sort(key=lambda path: -min(3, sum(one.top for one in by_file[path])))
        deleted = self.plan.get(DELETED, 0)
        paths, rest = paths[: len(paths) - deleted], paths[len(paths) - deleted :]
        wanted = max(2, round(SHARE * len(self.texts)) - deleted)
        needed = sum(self.plan.get(kind, 0) for kind in (RENAMED, MOVED, RESIGNED))
        for path in paths:
            # Half as many again: changing one function can spoil another that calls it.
            if len(self.homes) >= wanted and len(self.left) >= needed * 1.5:
                break
            self.homes.append(path)
            self.left += by_file[path]
        self.chance.shuffle(self.left)
        self.doomed = [by_file[path][0] for path in rest]

    def _take(self, fits: Callable[[Definition], bool] = lambda _: True) -> Definition:
        for one in self.left:
            if fits(one) and self.texts[one.path].count(one.text) == 1:
                self.left.remove(one)
                self.touched.add(one.path)
                return one
        raise FootnoteError("This repository has too few functions for twenty changes.", "Name a larger one.")

    def _rename(self) -> Change:
        one = self._take()
        new = like(one.name, self.names.pop())
        self.texts[one.path] = re.sub(rf"\b{re.escape(one.name)}\b", new, self.texts[one.path])
        return Change(
            RENAMED,
            f"{one.name} is {new} now, in {one.path}",
            (
                Asked(f"Where is {one.name} defined and what does it do?"),
                Asked(f"Where is {new} defined and what does it do?", one.path, new),
            ),
        )

    def _move(self) -> Change:
        one = self._take(lambda one: one.top and len(self.homes) > 1)
        target = self.chance.choice([path for path in self.homes if path != one.path])
        self.texts[one.path] = self.texts[one.path].replace(one.text, "", 1)
        self.texts[target] = f"{self.texts[target].rstrip()}\n\n\n{one.text}\n"
        self.touched.add(target)
        asked = Asked(f"Which file defines {one.name} and what does it do?", target, one.name)
        return Change(MOVED, f"{one.name} moved from {one.path} to {target}", (asked,))

    def _change_signature(self) -> Change:
        one = self._take()
        added = like("snake_case" if "_" in one.name else "camelCase", self.names.pop())
        head = re.compile(rf"\b{re.escape(one.name)}\s*\(\s*(?:self\b\s*,?|cls\b\s*,?|&self\b\s*,?|&mut self\b\s*,?)?\s*")
        found = head.search(one.text)
        if found is None:  # `definitions` has seen to it
            raise AssertionError(one.name)
        before = found.group().rstrip()
        joint = f"{before} " if before.endswith(",") else f"{before}, " if not before.endswith("(") else before
        new = f"{one.text[: found.start()]}{joint}{added}, {one.text[found.end() :]}"
        self.texts[one.path] = self.texts[one.path].replace(one.text, new, 1)
        asked = Asked(f"What does {one.name} do with its parameter {added}?", one.path, added)
        return Change(RESIGNED, f"{one.name} in {one.path} takes {added} too", (asked,))

    def _add_class(self) -> Change:
        path = self.chance.choice(self.homes)
        language = next(one.language for one in self.found if one.path == path)
        name, text = class_of(language, self.names.pop())
        self.texts[path] = f"{self.texts[path].rstrip()}\n{text}"
        self.touched.add(path)
        return Change(CLASS_ADDED, f"{name} in {path}", (Asked(f"What is the class {name} for?", path, name),))

    def _delete(self) -> Change:
        if not self.doomed:
            raise FootnoteError("This repository has too few files for twenty changes.", "Name a larger one.")
        one = self.doomed.pop()
        del self.texts[one.path]
        self.touched.add(one.path)
        return Change(DELETED, one.path, (Asked(f"What does {one.name} in {one.path} do?"),))
