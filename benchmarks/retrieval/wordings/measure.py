"""Asks questions as they are and in other words, of the same indexes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from benchmarks.retrieval.rows import fewer_commits
from benchmarks.retrieval.wordings import around, edits, forms, longer
from benchmarks.retrieval.wordings.wording import Wording, kind_of
from rag.errors import FootnoteError
from rag.evaluation.datasets import Question, read_questions
from rag.evaluation.indexes import EvalIndexes, groups_of
from rag.evaluation.metrics import Place, score
from rag.evaluation.runner import RANKED
from rag.index.generation import Generation
from rag.retrieval.groups import in_one_list
from rag.retrieval.query import Query, understand
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.types import Repository, SearchResult

WORDINGS: tuple[Wording, ...] = (*around.WORDINGS, *forms.WORDINGS, *edits.WORDINGS, *longer.WORDINGS)
FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(wording.family for wording in WORDINGS))
SETS = {"concept": 150, "pinpoint": 60, "explain": 40, "change": 50}
"""Files of questions, and how many of each are drawn."""
SEED = 8
_COMMITS = 3


@dataclass(frozen=True, slots=True)
class Found:
    """How well one text was answered: NDCG@10 of one list and of code's group, which group led, how sure retrieval was."""

    one_list: float
    code: float
    leads: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Pair:
    """A question in its plain form and in other words."""

    question: Question
    wording: Wording
    said: str
    before: Found
    after: Found


def drawn(bench: Path, share: float = 1.0) -> list[Question]:
    """Questions of the sets that lie in `bench`, the same in each run. Of a commit its title; long texts are no questions of people."""
    found: list[Question] = []
    for name, count in SETS.items():
        path = bench / f"{name}.jsonl"
        if not path.is_file():
            continue
        questions = read_questions(path)
        if name == "change":
            questions = [replace(q, text=q.text.partition("\n")[0].strip()) for q in fewer_commits(questions, _COMMITS)]
        if name == "explain":
            questions = [replace(q, relevant=tuple(label for label in q.relevant if label.grade == 2) or q.relevant) for q in questions]
        usable = sorted((q for q in questions if 3 <= len(q.text) <= 300), key=lambda question: question.id)
        found += Random(f"{SEED} {name}").sample(usable, min(len(usable), round(share * count)))
    return found


def worded(question: Question, each: int, only: Sequence[str] = ()) -> list[tuple[Wording, str]]:
    """Up to `each` wordings of every family that suit a question, the same in each run."""
    found: list[tuple[Wording, str]] = []
    for family in FAMILIES:
        if only and family not in only:
            continue
        random = Random(f"{SEED} {question.id} {family}")
        suiting = [one for one in WORDINGS if one.family == family and kind_of(question.text) in one.kinds]
        said = ((one, one.say(question.text, random)) for one in random.sample(suiting, len(suiting)))
        found += [(one, text) for one, text in said if text is not None][:each]
    return found


async def measure(
    questions: Sequence[Question],
    indexes: EvalIndexes,
    settings: RetrievalSettings,
    tell: Callable[[str], None],
    *,
    each: int = 2,
    only: Sequence[str] = (),
) -> tuple[list[Pair], list[str]]:
    """The pairs, and a line for each repository that could not be asked."""
    retriever = Retriever(indexes.embedder, settings)
    pairs: list[Pair] = []
    left_out: list[str] = []
    for number, group in enumerate(groups := groups_of(questions, root=False)):
        tell(f"{number}/{len(groups)} {group.repository}")
        try:
            async with indexes.open(group, dense=True) as (generation, repository, _):
                for question in group.questions:
                    known: dict[Query, Found] = {}
                    before = await _ask(question, question.text, retriever, generation, repository, known)
                    for wording, text in worded(question, each, only):
                        after = await _ask(question, text, retriever, generation, repository, known)
                        pairs.append(Pair(question, wording, text, before, after))
        except FootnoteError as error:
            left_out.append(f"{group.repository} at {group.commit[:10]} was left out: {error}")
    return pairs, left_out


async def _ask(
    question: Question, text: str, retriever: Retriever, generation: Generation, repository: Repository, known: dict[Query, Found]
) -> Found:
    """What is understood alike is found alike, and searched for once."""
    query = understand(text)
    if query not in known:
        found = await retriever.retrieve(text, generation, repository, limit=RANKED)
        merged = in_one_list(found.results, narrowly=found.narrowly)
        code = [result for result in found.results if result.group == "code"]
        known[query] = Found(_ndcg(merged, question), _ndcg(code, question), found.leads, found.confidence or 0.0)
    return known[query]


def _ndcg(results: Sequence[SearchResult], question: Question) -> float:
    places = [Place(one.chunk.path, one.chunk.start_line, one.chunk.end_line, one.score) for one in results]
    return score(places, question.relevant, lines=False).ndcg
