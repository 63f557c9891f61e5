"""Questions that quote: error messages and keys as they stand in the code, drawn from the indexes. Where each comes from is the answer."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

from rag.errors import FootnoteError
from rag.evaluation.datasets import Label, Question
from rag.evaluation.indexes import EvalIndexes, Group, groups_of
from rag.retrieval.paths import path_facts
from rag.types import PROSE, Chunk

EACH = 8  # messages of a repository, and as many keys
SEED = 4
_MOST_FILES = 2  # that hold one
_NO_CODE = PROSE | {"json", "yaml", "toml", "xml", ""}
_PATTERNS = {
    "message": re.compile(r"(?<!\")\"([A-Za-z][^\"\\\n]{14,90})\"(?!\")"),
    "key": re.compile(r"[\"']((?:[A-Z][A-Z0-9]{2,}(?:_[A-Z0-9]+)+)|(?:--?[a-z]+(?:-[a-z]+)+)|(?:[a-z]+(?:[._-][a-z]+)+))[\"']"),
}
_ASKED = {
    "message": ("error: {}", "I get '{}', why?", "{}"),
    "key": ("{}", "what does {} do", "where is {} read"),
}
_FILE = re.compile(r"\.(?:[cm]?[jt]sx?|py|go|rs|md|json|txt|html|css|rb|java|php|lua|kt|cs|swift|exs?)$")


async def quoted_questions(questions: Sequence[Question], indexes: EvalIndexes, *, dense: bool) -> list[Question]:
    """Up to EACH of each kind about every repository and commit that `questions` name and that is or can be indexed whole (`dense`: with
    its vectors)."""
    made: list[Question] = []
    for group in groups_of(questions, root=False):
        try:
            async with indexes.open(Group(group.repository, group.commit, ""), dense=dense) as (generation, _, _):
                found = drawn(generation.chunks.all(), random.Random(f"{SEED} {group.repository}"))
        except FootnoteError:  # the run that asks its other questions names it
            continue
        for number, (kind, text, paths, language) in enumerate(found):
            made.append(
                Question(
                    id=f"quoted/{group.repository}/{number}",
                    dataset="quoted",
                    repository=group.repository,
                    commit=group.commit,
                    language=language,
                    text=_ASKED[kind][number % len(_ASKED[kind])].format(text),
                    relevant=tuple(Label(path) for path in paths),
                    category=kind,
                )
            )
    return made


def drawn(chunks: Iterable[Chunk], chance: random.Random) -> list[tuple[str, str, list[str], str]]:
    """Kind, text, the files of code that hold it between quotes, and their language."""
    holders: dict[tuple[str, str], dict[str, str]] = {}
    for chunk in chunks:
        facts = path_facts(chunk.path)
        if facts.test or facts.example or chunk.language in _NO_CODE:
            continue
        for kind, pattern in _PATTERNS.items():
            for text in pattern.findall(chunk.text):
                if _is_worth_asking(kind, text):
                    holders.setdefault((kind, text), {})[chunk.path] = chunk.language
    chosen = []
    for kind in _PATTERNS:
        found = sorted((text, paths) for (of, text), paths in holders.items() if of == kind and len(paths) <= _MOST_FILES)
        for text, paths in chance.sample(found, min(EACH, len(found))):
            chosen.append((kind, text, sorted(paths), next(iter(paths.values()))))
    return chosen


def _is_worth_asking(kind: str, text: str) -> bool:
    if kind == "message":
        return len(text.split()) >= 4 and not re.search(r"[%{}$<>/]", text)
    return len(text) > 5 and not _FILE.search(text)
