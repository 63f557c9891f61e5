"""What speaks for a file or a chunk beside its text: each signal a pure function, each weight in one table.

Weights are round; a signal stays where it helps on both halves of the repositories (docs/retrieval.md has the ablation). It is added to a
text score whose best is 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from rag.index.stems import stem
from rag.retrieval.paths import PathFacts
from rag.types import Chunk, Kind


@dataclass(frozen=True, slots=True)
class Weights:
    """`sparse`: of the words against meaning, 0 to 1; the rest in the order of the functions below."""

    sparse: float = 0.5
    sparse_of_symbol: float = 0.6
    stem: float = 0.6
    stem_alone: float = 0.1
    names: float = 0.3
    directory: float = 0.2
    coherence: float = 0.25
    size: float = 0.2
    definition: float = 1.0
    mention: float = 0.4
    stem_agrees: float = 1.5
    place: float = 0.5
    frame: float = 0.3
    test: float = 0.6
    example: float = 0.7
    lenience: float = 0.4
    outdated: float = 0.8
    odd: float = 0.5
    changes: float = 1.0
    translation: float = 1.0
    level: float = 0.02
    repeat: float = 0.5
    repeat_share: float = 0.5
    chunks_per_file: int = 3
    lifted: int = 3
    lifted_to: int = 6
    lines_sparse: float = 0.8
    lines_dense: float = 0.2
    lines_names: float = 0.2
    lines_pointed: float = 1.0


CODE = Weights()
PROSE = Weights(
    sparse=0.6,
    stem=0.3,
    names=0.0,
    directory=0.2,
    coherence=0.1,
    size=0.0,
    definition=0.0,
    mention=0.0,
    test=1.0,
    example=1.0,
    outdated=1.0,
    changes=0.5,
    translation=0.5,
    level=0.0,
    lifted=5,
    lifted_to=5,
)
LONG_CODE = replace(CODE, repeat=0.7, repeat_share=0.8)
LONG_PROSE = replace(PROSE, repeat=0.7, repeat_share=0.8)
"""Of a bug report, a commit message, a pasted trace: what it is about is often more than one place of a file."""

_SPARSE_BESIDE_STATIC = 0.7


def fitting(weights: Weights, backend: str) -> Weights:
    """The weights beside vectors of a back end: static ones say less, so words count for more."""
    if backend != "static":
        return weights
    return replace(weights, sparse=_SPARSE_BESIDE_STATIC, sparse_of_symbol=_SPARSE_BESIDE_STATIC)


@dataclass(frozen=True, slots=True)
class Match:
    """`precision`: share of the words that the question holds. `coverage`: share of the question's importance that they hold."""

    precision: float
    coverage: float

    @property
    def f1(self) -> float:
        both = self.precision + self.coverage
        return 2 * self.precision * self.coverage / both if both else 0.0


NO_MATCH = Match(0.0, 0.0)
_OF_A_SUBJECT = 6  # terms of a question that is as broad as any
_FIRST = 3  # letters that words have in common if one is the beginning of the other, or a relative


class Asked:
    """The question's terms, each as important as it is rare. `importance`: of a term, positive."""

    def __init__(self, terms: Iterable[str], importance: Callable[[str], float]) -> None:
        self.importance = {term: importance(term) for term in dict.fromkeys(terms)}
        self._all = sum(self.importance.values()) or 1.0
        self._near: dict[str, list[tuple[str, str]]] = {}  # first letters -> (term, its stem): what differs in them does not meet
        for term in self.importance:
            self._near.setdefault(term[:_FIRST], []).append((term, stem(term)))
        self._known: dict[str, tuple[str, ...]] = {}
        self._matches: dict[tuple[str, ...], Match] = {}  # many files share their directories

    def match(self, words: tuple[str, ...]) -> Match:
        """How words of a path or a name meet the question."""
        if words not in self._matches:
            self._matches[words] = self._match(words)
        return self._matches[words]

    def _match(self, words: tuple[str, ...]) -> Match:
        met = [terms for word in words if (terms := self._meeting(word))]
        if not met:
            return NO_MATCH
        covered = {term for terms in met for term in terms}
        return Match(len(met) / len(words), sum(self.importance[term] for term in covered) / self._all)

    def _meeting(self, word: str) -> tuple[str, ...]:
        near = self._near.get(word[:_FIRST])
        if near is None:
            return ()
        if word not in self._known:
            bare = stem(word)
            self._known[word] = tuple(term for term, of_term in near if bare == of_term or _begins(word, term))
        return self._known[word]


def _begins(word: str, term: str) -> bool:
    """Whether one is the beginning of the other: config and configuration."""
    return min(len(word), len(term)) >= _FIRST and (word.startswith(term) or term.startswith(word))


def stem_match(match: Match, weights: Weights) -> float:
    """The file's name against the question."""
    return weights.stem * match.precision * math.sqrt(match.coverage) + weights.stem_alone * match.precision


def directory_match(match: Match, weights: Weights) -> float:
    """The names of its directories."""
    return weights.directory * match.coverage


def names_match(names: Iterable[Match], weights: Weights) -> float:
    """The defined name that meets the question best."""
    return weights.names * max((name.f1 for name in names), default=0.0)


def breadth(terms: int) -> float:
    """How much the question is about a subject, which fills a file, and not about one place of it: the more it says, the less. 0 to 1."""
    return min(1.0, math.sqrt(_OF_A_SUBJECT / max(terms, 1)))


def coherence(share: float, broad: float, weights: Weights) -> float:
    """How much of the file is about it. `share`: the sum of its chunks' scores over the root of their number, against the largest. `broad`:
    see `breadth`."""
    return weights.coherence * share * broad


def size(chunks: int, largest: int, broad: float, weights: Weights) -> float:
    """Where the work is done there is more to read than where it is declared. `largest`: chunks of the largest file among the best."""
    return weights.size * broad * math.log1p(chunks) / math.log1p(largest)


def definition(chunk: Chunk, name: str) -> float:
    """How much of a definition of `name` (lower case) a chunk that defines it is: a type 1, a function 0.8, anything less 0.4."""
    if chunk.symbol.rpartition(".")[2].lower() != name:
        return 0.4
    return {Kind.CLASS: 1.0, Kind.FUNCTION: 0.8, Kind.METHOD: 0.8}.get(chunk.kind, 0.4)


def defines_what_is_asked(strength: float, facts: PathFacts, symbol: str, weights: Weights) -> float:
    """`strength`: of the file's best `definition`; `symbol`: the question's, "" where it is a sentence that names one."""
    if not symbol:
        return weights.mention * strength
    agrees = "".join(facts.stem) == symbol.replace("_", "")
    return weights.definition * strength * (weights.stem_agrees if agrees else 1.0)


def pointed_at(named: bool, nearness: float, weights: Weights) -> float:
    """A file that the question names, or that a stack frame in it runs through. `nearness`: of the frame to where it failed, 0 to 1."""
    return weights.place * named + weights.frame * nearness


def role(facts: PathFacts, weights: Weights, *, tests: bool, examples: bool, better: float) -> float:
    """What a test's or an example's score is multiplied by. `tests`, `examples`: they are wanted. `better`: by how much it holds more of
    the question than any ordinary file, which excuses it.
    """
    factor = 1.0
    if facts.test and not tests:
        factor = weights.test
    elif facts.example and not examples:
        factor = weights.example
    return _excused(factor, better, weights)


def currency(facts: PathFacts, twin: bool, weights: Weights) -> float:
    """What the score of an old version is multiplied by: one that lies among such, or with a `twin` outside of its version's directory."""
    return weights.outdated if facts.outdated or twin else 1.0


def oddity(odd: bool, weights: Weights, *, better: float) -> float:
    """What the score of a file of no known language is multiplied by. `better`: as for `role`."""
    return _excused(weights.odd if odd else 1.0, better, weights)


def page(facts: PathFacts, weights: Weights, *, changes: bool, translated: bool, better: float) -> float:
    """What a page's score is multiplied by: what every version changed, and translations, are seldom asked for. `changes`: they are, or
    the question says the file's name; `translated`: from the question's language; `better`: by how much it answers better than any page
    of another kind, as a translation does where the question is in its language.
    """
    factor = (weights.changes if facts.changes and not changes else 1.0) * (weights.translation if translated else 1.0)
    return _excused(factor, better, weights)


def _excused(factor: float, better: float, weights: Weights) -> float:
    return factor + (1 - factor) * min(1.0, max(0.0, better) / weights.lenience) if weights.lenience else factor


def depth(facts: PathFacts, weights: Weights) -> float:
    """What the score is multiplied by: a little less with every directory."""
    return max(0.0, 1 - weights.level * facts.level)


def repeated(position: int, share: float, weights: Weights) -> float:
    """What a file's chunk at a position from 0 is multiplied by. `share`: its score against that of the file's first, 0 to 1."""
    if position == 0:
        return 1.0
    decayed = weights.repeat**position
    return max(decayed, weights.repeat_share * share) if position < weights.chunks_per_file else decayed
