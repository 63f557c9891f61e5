"""Documentation questions for development: headings and first sentences of the repositories' own prose, blanked in the index."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rag.errors import FootnoteError
from rag.evaluation.datasets import Label, Question
from rag.evaluation.drawing import draw
from rag.evaluation.indexes import EvalIndexes, Group, groups_of

GROUP = ("asciidoc", "latex", "markdown", "org", "restructuredtext", "text")  # languages that results show as documentation
EACH = 20  # questions of a repository, half of them headings
SEED = 4


async def documentation_questions(questions: Sequence[Question], indexes: EvalIndexes, *, dense: bool) -> list[Question]:
    """Up to EACH questions about every repository and commit that `questions` name and that is or can be indexed whole (`dense`: with
    its vectors)."""
    made: list[Question] = []
    for group in groups_of(questions, root=False):
        try:
            async with indexes.open(Group(group.repository, group.commit, ""), dense=dense) as (generation, _, _):
                drawn = draw(generation.chunks.all(), EACH, SEED, ("heading", "sentence"))
        except FootnoteError:  # the run that asks its other questions names it
            continue
        for number, one in enumerate(drawn):
            made.append(
                Question(
                    id=f"documentation/{group.repository}/{number}",
                    dataset="documentation",
                    repository=group.repository,
                    commit=group.commit,
                    language=one.language,
                    text=one.text,
                    relevant=(Label(one.path, one.start, one.end),),
                    category=one.kind,
                    blank=(Label(one.path, *one.blank),),
                )
            )
    return made


def write(questions: Sequence[Question], path: Path) -> None:
    """In the format that `footnote eval` reads, to be looked through."""
    import json

    with path.open("w", encoding="utf-8") as target:
        for one in questions:
            label, blank = one.relevant[0], one.blank[0]
            row = {
                "dataset": one.dataset,
                "id": one.id,
                "repo": one.repository,
                "commit": one.commit,
                "language": one.language,
                "query": one.text,
                "category": one.category,
                "relevant": [{"path": label.path, "start_line": label.start_line, "end_line": label.end_line, "grade": 2}],
                "blank": [{"path": blank.path, "start_line": blank.start_line, "end_line": blank.end_line}],
            }
            target.write(json.dumps(row, ensure_ascii=False) + "\n")
