"""What speaks for a file or a chunk beside its text: each signal a pure function, each weight in one table. Of files, all k of a group at
once: (k,) arrays in, (k,) out.

Weights are round; a signal stays where the sets of questions together gain by it (docs/retrieval.md has the ablation, with both halves of
the repositories). It is added to a text score whose best is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag.retrieval.matching import Flags, Floats, Matches
from rag.types import Chunk, Kind


@dataclass(frozen=True, slots=True)
class Weights:
    """`sparse`: of the words against meaning, 0 to 1; the rest in the order of the functions below."""

    sparse: float = 0.5
    sparse_of_symbol: float = 0.6
    stem: float = 0.7
    stem_alone: float = 0.0
    names: float = 0.3
    directory: float = 0.2
    coherence: float = 0.25
    size: float = 0.2
    trunk: float = 0.3
    trunk_if_named: float = 0.5
    commits: float = 0.4
    tested: float = 0.1
    said: float = 0.3
    definition: float = 1.0
    mention: float = 0.4
    stem_agrees: float = 1.5
    place: float = 0.5
    frame: float = 0.3
    setup: float = 2.0
    literal: float = 1.2
    test: float = 0.6
    example: float = 0.7
    lenience: float = 0.6
    data: float = 0.8
    outdated: float = 0.8
    variant: float = 0.8
    odd: float = 0.5
    changes: float = 1.0
    translation: float = 1.0
    level: float = 0.02
    repeat: float = 0.5
    repeat_share: float = 0.5
    member_repeat: float = 0.7
    member_share: float = 0.8
    chunks_per_file: int = 3
    lifted: int = 3
    lifted_to: int = 6
    lines_sparse: float = 0.8
    lines_dense: float = 0.2
    lines_names: float = 0.2
    lines_pointed: float = 1.0
    lines_meant: float = 0.5
    lines_literal: float = 0.5
    lines_declared: float = 1.5
    lines_said: float = 0.3


CODE = Weights()
PROSE = Weights(
    sparse=0.6,
    stem=0.3,
    stem_alone=0.1,
    names=0.0,
    directory=0.2,
    coherence=0.1,
    size=0.0,
    trunk=0.0,
    commits=0.0,
    tested=0.0,
    said=0.0,
    definition=0.0,
    mention=0.0,
    literal=0.6,
    test=1.0,
    example=1.0,
    lenience=0.4,
    data=1.0,
    outdated=1.0,
    variant=1.0,
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
_OF_A_SUBJECT = 6  # terms of a question that is as broad as any


def of_members(weights: Weights) -> Weights:
    """The weights where the question names something that is defined here and asks about it: half as much depends on what a file is."""
    return replace(
        weights,
        coherence=weights.coherence / 2,
        size=weights.size / 2,
        trunk=weights.trunk / 2,
        tested=weights.tested / 2,
        test=(1 + weights.test) / 2,
        example=(1 + weights.example) / 2,
    )


def fitting(weights: Weights, backend: str) -> Weights:
    """The weights beside vectors of a back end: static ones say less, so words count for more."""
    if backend != "static":
        return weights
    return replace(weights, sparse=_SPARSE_BESIDE_STATIC, sparse_of_symbol=_SPARSE_BESIDE_STATIC)


def stem_match(names: Matches, weights: Weights) -> Floats:
    """The files' names against the question."""
    return weights.stem * names.precision * np.sqrt(names.coverage) + weights.stem_alone * names.precision


def directory_match(directories: Matches, weights: Weights) -> Floats:
    """The names of their directories."""
    return weights.directory * directories.coverage


def names_match(best: Floats, weights: Weights) -> Floats:
    """`best`: F1 of the defined name of each that meets the question best."""
    return weights.names * best


def breadth(terms: int) -> float:
    """How much the question is about a subject, which fills a file, and not about one place of it: the more it says, the less. 0 to 1."""
    return min(1.0, math.sqrt(_OF_A_SUBJECT / max(terms, 1)))


def coherence(share: Floats, broad: float, weights: Weights) -> Floats:
    """How much of a file is about it. `share`: the sum of its chunks' scores over the root of their number, against the largest. `broad`:
    see `breadth`."""
    return weights.coherence * share * broad


def size(chunks: NDArray[np.int64], broad: float, weights: Weights) -> Floats:
    """Where the work is done there is more to read than where it is declared: `chunks` of each file, against the largest."""
    return weights.size * broad * np.log1p(chunks) / math.log1p(chunks.max())


def trunk(share: Floats, weights: Weights, *, named: bool) -> Floats:
    """Files of the directory that holds most of the code answer likelier than those beside it. `share`: see `rag.retrieval.trunk`. `named`:
    the question says a name that is defined here, so that less is left to guess."""
    return weights.trunk * share * (weights.trunk_if_named if named else 1.0)


def commits(changed: Floats, broad: float, weights: Weights) -> Floats:
    """Files that were changed by commits that say what is asked: the more is asked, the surer they resemble it. `changed`: see
    `rag.retrieval.commits`, 0 to 1; `broad`: see `breadth`."""
    return weights.commits * changed * (1 - broad)


def literal(held: Floats, weights: Weights) -> Floats:
    """What the question says as it stands in a file: a name that nothing defines, a flag, a key, a message. `held`: see
    `rag.retrieval.literals`, 0 to 1."""
    return weights.literal * held


def tested(text: Floats, weights: Weights) -> Floats:
    """What a test is about is what it tests. `text`: of each file the best text score of its tests, 0 where none was found."""
    return weights.tested * text


def said(best: Floats, weights: Weights) -> Floats:
    """Files that say word by word what the question says, as a pasted message. `best`: see `rag.retrieval.said`, of each file's chunks the
    best, 0 to 1."""
    return weights.said * best


def definition(chunk: Chunk, name: str, *, symbol: bool = False) -> float:
    """How much of a definition of `name` (lower case) a chunk that defines it is: a type 1, a function 0.8, anything less 0.4. `symbol`:
    nothing else is asked; then a type is one, too, whose head stands in one chunk with its first members, after which that is called:
    "Door.open"."""
    *around, last = chunk.symbol.lower().split(".")
    if last != name:
        return 1.0 if symbol and name in around else 0.4
    return {Kind.CLASS: 1.0, Kind.FUNCTION: 0.8, Kind.METHOD: 0.8}.get(chunk.kind, 0.4)


def defines_what_is_asked(strength: Floats, called_so: Flags, weights: Weights, *, symbol: bool) -> Floats:
    """`strength`: of each file's best `definition`; `called_so`: its name is that of what is asked for; `symbol`: nothing else is asked, in
    no sentence that names it."""
    if not symbol:
        return weights.mention * strength
    return weights.definition * strength * np.where(called_so, weights.stem_agrees, 1.0)


def pointed_at(named: Floats, nearness: Floats, weights: Weights) -> Floats:
    """Files that the question names (1, else 0), or that a stack frame in it runs through. `nearness`: of the frame to where it failed, 0
    to 1."""
    return weights.place * named + weights.frame * nearness


def role(test: Flags, example: Flags, weights: Weights, *, tests: bool, examples: bool, better: Floats) -> Floats:
    """What a test's or an example's score is multiplied by. `tests`, `examples`: they are wanted. `better`: by how much it holds more of
    the question than any ordinary file, which excuses it.
    """
    factor = np.where(test & (not tests), weights.test, np.where(example & (not examples), weights.example, 1.0))
    return _excused(factor, better, weights)


def setup(shares: Floats, weights: Weights) -> Floats:
    """Files that say how the repository is set up, where that is asked for. `shares`: see `rag.retrieval.setup.found`."""
    return weights.setup * shares


def material(data: Flags, odd: Flags, setup: Floats, weights: Weights, *, better: Floats) -> Floats:
    """What the score of a file of settings or `data` is multiplied by, and of an `odd` one, whose language nobody knows. `setup`: above 0
    where settings are asked for, and these say it. `better`: as for `role`."""
    factor = np.where(odd, weights.odd, np.where(data, weights.data, 1.0))
    return _excused(np.where(setup > 0, 1.0, factor), better, weights)


def _excused(factor: Floats, better: Floats, weights: Weights) -> Floats:
    return factor + (1 - factor) * np.minimum(np.maximum(better / weights.lenience, 0.0), 1.0) if weights.lenience else factor


def page(changes: Flags, translated: Flags, weights: Weights, *, better: Floats) -> Floats:
    """What a page's score is multiplied by: what every version changed, and translations, are seldom asked for. `changes`: change logs,
    where the question neither asks for them nor says their name; `translated`: from its language; `better`: by how much it answers better
    than any page of another kind, as a translation does where the question is in its language.
    """
    factor = np.where(changes, weights.changes, 1.0) * np.where(translated, weights.translation, 1.0)
    return _excused(factor, better, weights)


def currency(old: Flags, weights: Weights) -> Floats:
    """What the score of an `old` version is multiplied by."""
    return np.where(old, weights.outdated, 1.0)


def reach(variant: Flags, weights: Weights) -> Floats:
    """What the score of a `variant` is multiplied by, which is for one platform where another is for all."""
    return np.where(variant, weights.variant, 1.0)


def depth(levels: NDArray[np.int64], weights: Weights) -> Floats:
    """What the score is multiplied by: a little less with every directory."""
    factors: Floats = np.maximum(0.0, 1 - weights.level * levels)
    return factors


def repeated(position: int, share: float, weights: Weights) -> float:
    """What a file's chunk at a position from 0 is multiplied by. `share`: its score against that of the file's first, 0 to 1."""
    if position == 0:
        return 1.0
    decayed = weights.repeat**position
    return max(decayed, weights.repeat_share * share) if position < weights.chunks_per_file else decayed
