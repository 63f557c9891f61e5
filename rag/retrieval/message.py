"""A message as people write it to others: what is asked in it, what is told beside it, and what is neither: greetings, thanks, "can anyone
tell me". Pure.

Nothing is taken out of a message that says nothing else, and whatever is taken out leaves the rest as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.retrieval.small_talk import ANYBODY, BACK, CIVIL, EMPTY, FIRST_PERSON, OF_SENTENCES, OTHERS, front_of, prefaced, spoken

_SENTENCES = re.compile(
    r"((?<=[!?])[\"')]*\s+|(?<=\.\.\.)\s+|(?<=[.;])[\"')]*\s+(?=[A-Z\"'(`])|(?<=[a-z]{3}\.)(?<!etc\.)(?<!esp\.)(?<!incl\.)\s+(?=[a-z])|\s+-{1,2}\s+)"
)
_ASKS = re.compile(
    r"(?:how|what|where|which|why|who|whose|when|is|are|was|were|does|do|did|has|have|can|could|should|would|will|may|must)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|this|they|them|these|those|(?:is|are|was|were|does|do|did|of|for|about|from|to|with) that)\b", re.IGNORECASE
)
_AT_FIRST = 5  # words among which a pronoun means what came before, not what the sentence itself has named
_ASIDE = re.compile(r"\s\(([^()`]{10,300})\)([?!.]*)\s*$")
_FEW_PARTS = 2  # of a message, not of a report
_IN_BRACKETS = re.compile(r"\(([^()`]+)\)[.!]?")
_OF_A_SENTENCE = 4  # words in brackets at the end that are an aside
_FEW = 4  # less than a quarter of the words of what is hardly more than a courtesy
_A_REPORT = 5  # words that could be searched for
_TOO_LITTLE = 2  # words without which a question is about what was told
_SHORT = 12  # words of that
_LIKE_CODE = re.compile(r"`|\w\(\)|\w_\w|[a-z0-9][A-Z]|::|->|\w\.\w|[\w-]/\w")
_PASTED = re.compile(
    r"""\s*(?: Traceback\ \( | File\ ".*",\ line\ \d | at\ \S+.*[:(]\d+ | goroutine\ \d | panic:\ | exit\ status\ \d | Caused\ by:
      | \#\d+\s+\S | \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\]?[\s:]
      | \S+:\d+(?::\d+)?(?:\s\+0x\w+)?\s*$ | [\w.]*(?:Error|Exception):\s )""",
    re.VERBOSE,
)  # a line of a log or a trace
_BROKEN, _GOES_ON = re.compile(r"[\w,] *$"), re.compile(r"[a-z(`\"'](?!``)")
_WIDE = 45  # characters of a line that a program may have broken
_FENCE = re.compile(r"\s*```")


@dataclass(frozen=True, slots=True)
class Message:
    """`asked`: what is searched for, never empty where the message says anything. `told`: what stands beside it and may bear on it, "" for
    nothing. `whole`: both, as they stood. `questions`: those of `asked` where it is made of several, each of which stands by itself."""

    asked: str
    told: str = ""
    whole: str = ""
    questions: tuple[str, ...] = ()


@dataclass(slots=True)
class _Part:
    """A sentence, or a line that was pasted. `before`: what separates it from the part before. `small`: a courtesy; `asks`: a question;
    `talk`: of whoever wrote it, not of code, `ours` by "we" alone; `preface`: what led up to it; `aside`: in
    brackets behind it; `whole`: nothing was taken from it."""

    text: str
    before: str
    pasted: bool = False
    small: bool = False
    asks: bool = False
    talk: bool = False
    ours: bool = False
    preface: str = ""
    aside: str = ""
    whole: bool = False

    def read(self, *, alone: bool) -> None:
        core = self.text
        if alone and (aside := _ASIDE.search(core)) and _is_aside(aside[1]):
            core, self.aside = core[: aside.start()] + aside[2], aside[1]
        core = _trimmed(core)
        while not self.preface and (cut := prefaced(core)) and _says(core[cut[0] :]) and not _reports(core[: cut[0]]):
            self.preface = core[: cut[0]] if cut[1] else ""
            core = _trimmed(core[cut[0] :])
        words = spoken(core)
        self.small = not words or (OF_SENTENCES.issuperset(words) and not CIVIL.isdisjoint([*words, *spoken(self.text)]))
        self.asks = core.rstrip("\"')*_ ").endswith("?") or bool(_ASKS.match(core))
        people = not (FIRST_PERSON | OTHERS).isdisjoint(words)
        if alone and (brackets := _IN_BRACKETS.fullmatch(self.text.strip())) and _is_aside(brackets[1]):
            self.text, self.talk = brackets[1], True
            return
        others = sum(word not in OF_SENTENCES for word in words)
        courteous = not CIVIL.isdisjoint(words) and others * _FEW < len(words)
        self.talk = not _LIKE_CODE.search(core) and (courteous or (not ANYBODY.isdisjoint(words) if self.asks else people))
        self.ours = self.talk and not courteous and not self.asks and FIRST_PERSON.isdisjoint(words)
        self.whole = core == self.text
        self.text = core


def read_message(text: str) -> Message:
    """What of a short text is asked and what is told. `text`: plain, see rag.retrieval.markup."""
    parts = _parts(text)
    pasted = [part for part in parts if part.pasted]
    said = [part for part in parts if not part.pasted]
    for part in said:
        part.read(alone=len(said) <= _FEW_PARTS)
    kept = [part for part in said if not part.small]
    for at, part in enumerate(kept):  # "we" is also what a repository's own people say of it
        before, behind = kept[:at], kept[at + 1 :]
        leads_up = all(other.talk for other in before) and not all(other.talk for other in behind)
        part.talk &= not part.ours or leads_up or any(other.asks for other in kept)
    for part, following in zip(
        reversed(kept), [None, *reversed(kept)], strict=False
    ):  # what leads up to the question says what it is about
        part.talk &= not (part.ours and _reports(part.text) and (following is None or not following.talk))
    asked = [part for part in kept if not part.talk]
    if not any(_says(part.text) for part in asked):
        asked = kept
    elif any(part.asks and _leans(part.text) for part in asked):
        asked = _with_what_is_meant(kept) if kept != asked else [*pasted, *asked]
    if _is_about_what_was_told(asked, kept):  # "exports time out. Is there a limit?"
        asked = kept
    asked = [part for part in asked if part.pasted or not part.asks or _says(part.text)] or asked  # "where does that live?"
    if not any(_says(part.text) for part in asked):  # nothing but what was pasted, or nothing at all
        return Message(text, whole=text)
    several = tuple(part.text for part in asked if part.asks and not _leans(part.text))
    questions = several if 1 < len(several) == len(asked) else ()
    if not pasted and all(part.whole for part in said) and len(asked) == len(said):
        return Message(text, whole=text, questions=questions)
    beside = [part.text for part in (*pasted, *kept) if all(part is not one for one in asked) and _says(part.text)]
    return Message(
        _together(asked), "\n".join([*(said for part in asked for said in (part.preface, part.aside) if said), *beside]), text, questions
    )


def _parts(text: str) -> list[_Part]:
    parts: list[_Part] = []
    for line, pasted in _lines(text):
        if pasted:
            parts.append(_Part(line, "\n", pasted=True))
            continue
        pieces = _SENTENCES.split(line)
        parts.append(_Part(pieces[0], "\n"))
        parts += [_Part(piece, separator) for separator, piece in zip(pieces[1::2], pieces[2::2], strict=True) if piece.strip()]
    return parts


def _lines(text: str) -> list[tuple[str, bool]]:
    """The lines that hold something, and whether they are of a log, or of a trace with what stands inside it. Code between fences is said
    like any other."""
    found: list[tuple[str, bool]] = []
    for block in re.split(r"\n\s*\n", text):
        fence, within = 0, 0  # how many fences there were, and inside which of them a line stands
        lines: list[tuple[str, bool, int]] = []
        for line in block.split("\n"):
            if _FENCE.match(line):
                fence += 1
                within = fence if not within and line.count("```") % 2 == 1 else 0
            elif lines and not within and not lines[-1][1] and _goes_on(lines[-1][0], line):
                lines[-1] = (f"{lines[-1][0].rstrip()} {line}", False, within)
            elif line.strip():
                lines.append((line, bool(_PASTED.match(line)), within))
        logs = {within for _, pasted, within in lines if pasted and within}
        marked = [number for number, (_, pasted, _) in enumerate(lines) if pasted]
        inside = range(marked[0], marked[-1]) if marked else range(0)
        found += [
            (line, pasted or number in inside or within in logs or (bool(marked) and line[:1].isspace()))
            for number, (line, pasted, within) in enumerate(lines)
        ]
    return found


def _goes_on(line: str, following: str) -> bool:
    """Whether a program broke one line in two."""
    return len(line) >= _WIDE and _BROKEN.search(line) is not None and _GOES_ON.match(following) is not None


def _trimmed(text: str) -> str:
    """Without the phrases that open a request and the courtesies that end it; as it is where nothing else is left."""
    start = front_of(text)
    core = text[start:]
    while (end := BACK.search(core)) and _says(core[: end.start()]):
        core = core[: end.start()] + ("?" if "?" in end[0] else "")
    return core if _says(core) else text


def _with_what_is_meant(kept: Sequence[_Part]) -> list[_Part]:
    """What is asked, and what was told before a question that points back to it."""
    asked: list[_Part] = []
    for at, part in enumerate(kept):
        following = kept[at + 1] if at + 1 < len(kept) else None
        if not part.talk or (following is not None and following.asks and _leans(following.text)):
            asked.append(part)
    return asked


def _is_aside(text: str) -> bool:
    """Whether what stands in brackets behind a question is another sentence, or says where more stands."""
    words = spoken(text)
    return not _LIKE_CODE.search(text) and (len(words) >= _OF_A_SENTENCE or words[:1] in (["see"], ["cf"]))


def _leans(text: str) -> bool:
    return _POINTS_BACK.search(" ".join(text.split()[:_AT_FIRST])) is not None


def _says(text: str) -> bool:
    """Whether a text holds a word that could be searched for."""
    return not EMPTY.issuperset(spoken(text))


def _is_about_what_was_told(asked: Sequence[_Part], kept: Sequence[_Part]) -> bool:
    """Whether a question has hardly a word of its own, and what stands beside it is short enough to be what it means."""
    told = sum(len(spoken(part.text)) for part in kept if all(part is not one for one in asked))
    asks = [part for part in asked if not part.pasted]
    return 0 < told <= _SHORT and any(part.asks for part in asks) and sum(_content(part.text) for part in asks) < _TOO_LITTLE


def _reports(text: str) -> bool:
    """Whether a sentence says what happens ("our workers stop after a fork"): what it tells of is asked about, whoever "we" are."""
    words = spoken(text)
    return _LIKE_CODE.search(text) is not None or (FIRST_PERSON.isdisjoint(words) and _content(text) >= _A_REPORT)


def _content(text: str) -> int:
    """How many words of a text could be searched for; a name is enough by itself."""
    return _TOO_LITTLE if _LIKE_CODE.search(text) else sum(word not in EMPTY for word in spoken(text))


def _together(parts: Sequence[_Part]) -> str:
    return "".join(("" if not number else part.before) + part.text for number, part in enumerate(parts)).strip()
