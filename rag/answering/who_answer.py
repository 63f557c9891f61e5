"""The words in which people are named: code's own, each name and path made harmless, every file with its footnote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag.answering.abstention import abstention
from rag.answering.defang import defang_code, defang_text
from rag.answering.segments import clean
from rag.answering.who import Known, Owned, Person
from rag.retrieval.confidence import REFUSE_BELOW
from rag.source.redaction import redact
from rag.types import Answer, AnswerPiece, Citation, Retrieval, SearchResult

GENERATOR = "history"

MASKED = "Names of authors are masked here, so I cannot say who knows about it."
NO_HISTORY = "This index holds no history yet, so I cannot say who knows about it; the next build of it adds the history."
NOBODY = "The history names nobody for the files that match: what changed them was done by programs, or came with their first commit alone."
CUT = "The clone that was read is shallow: it holds only the newest part of the history, so those who worked on this earlier are missing."
_HOW = "By the history of the files that match best; a commit counts less the older it is and the more files it changes."


def who_answer(
    question: str, retrieval: Retrieval, known: Known, *, answer_id: str, seconds: Mapping[str, float]
) -> tuple[list[AnswerPiece], Retrieval, Answer]:
    """Pieces to show, what was retrieved with the lines of CODEOWNERS that are cited, and the answer; an abstention has no piece."""
    foreign = retrieval.confidence is not None and retrieval.confidence < REFUSE_BELOW
    told = Known((), (), known.history, known.cut) if foreign else known
    footnotes = _Footnotes(retrieval.index.commit)
    lines = [*(_owner(owned, footnotes) for owned in told.owned), *(_person(person, footnotes) for person in told.people)]
    pieces: list[AnswerPiece] = []
    notices = list(retrieval.notices)
    if lines:
        opening = f"{_HOW}\n\n" if told.people else f"{NO_HISTORY if told.history == 'none' else NOBODY}\n\n"
        pieces = [AnswerPiece(opening + lines[0][0], lines[0][1]), *(AnswerPiece(text, cited) for text, cited in lines[1:])]
        text = "".join(piece.text for piece in pieces).strip()
        if told.cut:
            notices.append(CUT)
    else:
        text = _why_nobody(question, retrieval, known, foreign)
    cited = tuple(owned.result for owned in told.owned)
    logged = _with(retrieval, cited)
    answer = Answer(
        id=answer_id,
        question=question,
        repository=retrieval.index.repository,
        text=text,
        abstained=not lines,
        citations=footnotes.citations,
        generator=GENERATOR,
        index=retrieval.index,
        seconds=seconds,
        notices=tuple(notices),
        leads=retrieval.leads,
        confidence=retrieval.confidence,
    )
    return pieces, logged, answer


def _why_nobody(question: str, retrieval: Retrieval, known: Known, foreign: bool) -> str:
    if known.history == "masked":
        return MASKED
    if foreign or not retrieval.results:
        return abstention(question, retrieval.index, retrieval.results)
    if known.history == "none":
        return NO_HISTORY
    return f"{NOBODY} {CUT}" if known.cut else NOBODY


def _person(person: Person, footnotes: _Footnotes) -> tuple[str, tuple[Citation, ...]]:
    said, cited = [], []
    for one in person.touched:
        footnote = footnotes.of(one.result)
        cited.append(footnote)
        when = f" on {one.last.isoformat()}" if one.last else ""
        commits = f"{one.commits:,} commit{'s' if one.commits != 1 else ''}"
        said.append(f"{_code(one.result.chunk.path)}{when} ({commits}) [{footnote.number}]")
    return f"- **{_name(person.name)}** last changed {_listed(said)}.\n", tuple(cited)


def _owner(owned: Owned, footnotes: _Footnotes) -> tuple[str, tuple[Citation, ...]]:
    footnote = footnotes.of(owned.result)
    names = _listed([f"**{_name(name)}**" for name in owned.rule.owners])
    files = _listed([_code(result.chunk.path) for result in owned.files[:3]])
    return f"- {_code(owned.result.chunk.path)} names {names} for {files} [{footnote.number}].\n", (footnote,)


class _Footnotes:
    """Numbers places in the order in which they are cited, each once."""

    def __init__(self, commit: str) -> None:
        self._commit = commit
        self._known: dict[tuple[str, int], Citation] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(self._known.values())

    def of(self, result: SearchResult) -> Citation:
        chunk = result.chunk
        place = (chunk.path, chunk.start_line)
        if place not in self._known:
            self._known[place] = Citation(
                number=len(self._known) + 1,
                path=chunk.path,
                start_line=chunk.start_line,
                end_line=chunk.end_line,
                commit=self._commit,
                permalink=result.permalink,
                chunk_id=chunk.id,
            )
        return self._known[place]


def _with(retrieval: Retrieval, cited: Sequence[SearchResult]) -> Retrieval:
    """What is cited is among what is logged as retrieved."""
    return replace(retrieval, results=(*retrieval.results, *cited))


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _name(name: str) -> str:
    return defang_text(redact(clean(name))[0]).strip()


def _code(path: str) -> str:
    return f"`{defang_code(redact(' '.join(clean(path).replace('`', chr(39)).split()))[0])}`"
