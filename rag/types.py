"""The values that pass between the rooms: frozen, slotted, without behaviour beyond what can be derived from them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

PROSE: frozenset[str] = frozenset({"markdown", "restructuredtext", "asciidoc", "org", "latex", "text"})
"""Languages that people read as prose; "text" is also what a file of unknown make is called (`is_prose`)."""
_OF_TEXTS = re.compile(
    r"(?:^|/)(?:[^/]+\.(?i:text|rdoc|cheatmd|rmd)|[A-Z]+(?:[_-][A-Z]+)*"  # LICENSE, RELEASE-NOTES
    r"|(?i:authors|changelog|changes|contributing|copying|install|licen[cs]e|news|notice|readme|todo))$"
)
_LIST_OF_PACKAGES = re.compile(r"(?:^|/)(?:[^/]*(?:requirements|constraints)[^/]*|(?:requirements|constraints)/[^/]+)\.txt$", re.IGNORECASE)
_PLAIN = re.compile(
    r"(?!.*(?:(?<![A-Za-z])(?:unit)?(?:test|spec|fixture|mock|snapshot|corpus|expected)|Test|Spec|Mock)[^/]*/)"
    r"(?!(?:.*/)?(?!(?:la|fas|grea|shor|smar|con|pro|de)tests?/)[a-z]+tests?/).*\.(?i:txt)$"  # doortest/, not latest/
)  # else it is recorded output
_RECORDED = re.compile(  # but what says what lies there
    r"(?:^|/)(?:_*fixtures?_*|testdata|__snapshots__)/(?!(?:[^/]+/)*readme(?:\.[^/]*)?$)", re.IGNORECASE
)


def is_prose(path: str, language: str) -> bool:
    """Whether people read the file as prose, not a test as its fixture. Of "text" what is called so: rules of a tool, lists of required
    packages and recorded output are no prose."""
    if _RECORDED.search(path):
        return False
    if language != "text":
        return language in PROSE or path.endswith(".pod")
    return bool(_OF_TEXTS.search(path) or _PLAIN.match(path)) and not _LIST_OF_PACKAGES.search(path)


class Kind(StrEnum):
    """What a chunk is."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"  # also struct, enum, interface, trait, impl
    MODULE = "module"  # code outside definitions
    SECTION = "section"  # prose under a heading
    LINES = "lines"  # cut by lines, no syntax known


@dataclass(frozen=True, slots=True)
class Repository:
    """A configured source.

    `audience`: identifiers of the places (Slack channels, "dm", "*") that may hear about it; empty means nobody in Slack.
    `generator`: "extractive" keeps all code on this machine; any other value names a language model that is sent excerpts.
    `web`: base URL under which its files are shown, "" to derive it from a GitHub, GitLab or Bitbucket `source`.
    `by_hand`: added by `footnote index`, not by the file: known to the command line and the playground alone.
    """

    name: str
    source: str
    branch: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    audience: tuple[str, ...] = ()
    generator: str = "extractive"
    web: str = ""
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """One file at one commit, decoded and redacted. `text` has "\\n" line ends; its lines are numbered as in the file."""

    path: str
    text: str
    language: str  # a name of rag.source.languages, "text" where none is known
    blob: str  # git's object id
    redactions: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """Contiguous lines of one document.

    `start_line`, `end_line`: 1-based, inclusive. `text`: exactly these lines, redacted, joined by "\\n", no trailing newline.
    `symbol`: the definition it holds or lies in, with its enclosing scopes ("Flask.route"), "" for none; for prose the heading.
    `scope`: the enclosing class, module or ancestors' headings, "" for none. `defines`: bare names defined in it.
    `signature`: the header of the definition on one line, "" for none. `doc`: first sentence of its doc comment, "" for none.
    `module_doc`: first sentence of the module's docstring, "" for none.
    """

    path: str
    start_line: int
    end_line: int
    kind: Kind
    language: str
    text: str
    symbol: str = ""
    scope: str = ""
    defines: tuple[str, ...] = ()
    signature: str = ""
    doc: str = ""
    module_doc: str = ""

    @property
    def id(self) -> str:
        """16 hexadecimal digits, the same whenever path, lines and text are the same."""
        key = f"{self.path}\0{self.start_line}\0{self.end_line}\0{self.text}"
        return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def encoded_text(self) -> str:
        """What the embedding model reads: path, symbol and module docstring, then the lines. The chunker keeps all of it in the window."""
        return "\n".join(part for part in (self.path, self.symbol, self.module_doc, self.text) if part)


@dataclass(frozen=True, slots=True)
class EmbeddingSpec:
    """What must agree for two vectors to be comparable. `window`: tokens the model can read, special tokens included.
    `document_prompt`: what the model reads before every chunk, "" for nothing. `read_tokens`: of a chunk only so many are read, 0 for all
    that the window holds."""

    model: str
    weights_hash: str
    backend: str  # "onnx-int8", "onnx-fp32", "static", "sentence-transformers"
    dimension: int
    window: int
    document_prompt: str = ""
    read_tokens: int = 0

    @property
    def reads(self) -> int:
        """Tokens of a chunk that decide its vector, special tokens included."""
        return self.read_tokens or self.window


@dataclass(frozen=True, slots=True)
class Filters:
    """Which chunks may be found. Empty tuples do not filter; values of one field are alternatives. `path`: globs.

    `author`: who changed the file last; `since`, `before`: when, from the beginning of one day and until that of another, UTC. `worded`:
    the dates were said in words, and where they leave nothing they do not hold. These are the history's: rag.index.history_filter makes of
    them `files`, the only paths that are meant, None for all; a store that is asked before that refuses.
    """

    path: tuple[str, ...] = ()
    language: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    since: date | None = None
    before: date | None = None
    worded: bool = False
    files: frozenset[str] | None = None

    def __bool__(self) -> bool:
        return bool(self.path or self.language or self.kind or self.by_history) or self.files is not None

    @property
    def by_history(self) -> bool:
        """Whether it asks for what only the history knows."""
        return bool(self.author or self.since or self.before)


@dataclass(frozen=True, slots=True)
class GenerationInfo:
    """Which index answered. `dense_ready`: it is searched by meaning too; False while only the sparse part stands, and where another
    model than the configured one wrote it. `notices`: why it is not as it should be, for whoever reads of it."""

    repository: str
    generation: str
    commit: str
    branch: str
    built_at: datetime
    documents: int
    chunks: int
    dense_ready: bool
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relevance:
    """What a reranker says of a chunk. `score`: finite, more is better, on its own scale. `reason`: "" where it gives none.

    `relevant`: False where the score is below the reranker's threshold. `readable`: False where its reply could not be read, which counts
    as 0.
    """

    score: float
    reason: str = ""
    relevant: bool = True
    readable: bool = True


@dataclass(frozen=True, slots=True)
class Twin:
    """Where nearly the text of a search result stands again."""

    path: str
    start_line: int
    end_line: int
    permalink: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A ranked chunk. `score` is the one it was ranked by, comparable within its group.

    `scores` holds every stage's: sparse (the mean of BM25 over whole terms and over terms without endings, each divided by its best),
    bm25 (over whole terms, as rank-bm25 has it), similarity (cosine), distance (1 − cosine), dense (= similarity), fused, ranked, rerank
    (what the reranker gave, on its own scale), reranked, setup (what its file gained by saying how the repository is set up, where that
    was asked for), and the rank in each retriever as sparse_rank and dense_rank. A stage that did not see it is absent. `twins`: places
    in other files with nearly the same text, which this result stands for.
    """

    rank: int
    chunk: Chunk
    score: float
    scores: Mapping[str, float]
    permalink: str
    twins: tuple[Twin, ...] = ()

    @property
    def group(self) -> str:
        """ "prose" for what people read as text, "code" for all else."""
        return "prose" if is_prose(self.chunk.path, self.chunk.language) else "code"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a question brought up: best first, by the last two stages the group that `leads` ("code" or "prose") before the other.

    `seconds`: by stage. `explanation`: a line a candidate, only where it was asked for. `confidence`: 0 to 1, how likely it is that the
    question is about this repository; None where the index was not searched by meaning. `narrowly`: prose leads, but not by much.
    `read_as`: misspelt word of the question -> what was searched for instead.
    """

    results: tuple[SearchResult, ...]
    index: GenerationInfo
    seconds: Mapping[str, float]
    candidates: Mapping[str, int] = field(default_factory=dict)  # retriever -> how many it brought
    notices: tuple[str, ...] = ()
    explanation: tuple[str, ...] = ()
    leads: str = "code"
    confidence: float | None = None
    narrowly: bool = False
    read_as: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question and answer of the same conversation."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class ContextChunk:
    """A search result packed into the prompt under a number, from 1."""

    number: int
    result: SearchResult


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """All that a generator may know. `read_as`: see `Retrieval`."""

    question: str
    repository: str
    context: tuple[ContextChunk, ...]
    history: tuple[Turn, ...] = ()
    read_as: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Citation:
    """A statement's number resolved to lines at the commit that was read. `permalink` is "" where the repository has no web page."""

    number: int
    path: str
    start_line: int
    end_line: int
    commit: str
    permalink: str
    chunk_id: str
    also: tuple[Twin, ...] = ()  # where nearly the same text stands; not kept in the log


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A whole statement (or line), already redacted, defanged and with its citations resolved: safe to show as it is, once escaped."""

    text: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered. `text` carries footnote numbers in brackets, "[1]", that match `citations`."""

    id: str
    question: str
    repository: str
    text: str
    abstained: bool
    citations: tuple[Citation, ...]
    generator: str
    index: GenerationInfo
    seconds: Mapping[str, float]
    dropped_citations: int = 0  # numbers the model made up
    ungrounded: tuple[str, ...] = ()  # quoted identifiers that do not stand in the cited lines
    notices: tuple[str, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    leads: str = "code"  # as of its Retrieval
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's verdict on one answer. `faithfulness`: supported statements ÷ all statements, 0–1."""

    answer_id: str
    faithfulness: float
    statements: int
    supported: int
    reasons: tuple[str, ...]
    judge: str  # name and version of the judge: "groq/llama-3.3-70b-versatile@1"
