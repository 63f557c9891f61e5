"""Every error that Footnote raises on purpose.

FootnoteError
├── ConfigurationError          a setting, a key, a variable
├── SourceError                 reading a repository
│   ├── SourceNotFound          the path or URL leads nowhere
│   ├── SourceRefused           a location that must not be read (protocol, address, option)
│   ├── CloneFailed             git could not fetch it
│   ├── BranchNotFound
│   └── EmptyRepository         no commit, or nothing in it that can be indexed
├── ModelError                  the embedding model
│   ├── UnknownModel
│   └── ModelMismatch           weights differ from the known hash
├── IndexingError               building or opening an index
│   ├── NotIndexed
│   ├── IndexMismatch           of a format that this version cannot read
│   ├── IndexCorrupt
│   ├── BuildFailed
│   ├── BuildRunning
│   └── DiskFull
├── RetrievalError              a search that failed (finding nothing is a value, not an error)
│   ├── StoreUnavailable        a server that holds vectors refused, failed or cannot be reached
│   │   └── CollectionGone      it has no such collection
│   └── RerankerFailed          a reranker refused, failed, is away or gave what are no scores: the order before it stands
├── GeneratorError              the language model
│   ├── GeneratorUnavailable    refused, unreachable, 5xx, bad key
│   ├── GeneratorBusy           429: wait and try again
│   ├── PromptTooLarge          413, or a limit per request
│   ├── GeneratorCut            the stream ended without a finish reason
│   └── ReplyMalformed          a reply is not the JSON that was asked for
│       └── JudgementMalformed  a judge's: counted, never a score
├── EvaluationError             a file of questions, or the clones for it
├── DatabaseError
└── DataDirectoryLocked         another process owns the data directory
"""

from __future__ import annotations


class FootnoteError(Exception):
    """A fault with a name and a remedy.

    `problem` names the thing that is wrong; `remedy` says what to do about it. Both are one line of plain text and may be shown
    on the operator's terminal. Slack never shows them: it shows fixed words and a reference id. `reference`: that id, where the failure
    is in the log; "" elsewhere.
    """

    reference: str = ""

    def __init__(self, problem: str, remedy: str = "") -> None:
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{problem} {remedy}".strip())

    def __reduce__(self) -> tuple[type[FootnoteError], tuple[str, str]]:
        return type(self), (self.problem, self.remedy)


class ConfigurationError(FootnoteError):
    """A setting is missing, misspelt or out of range."""


class SourceError(FootnoteError):
    """A repository cannot be read."""


class SourceNotFound(SourceError):
    """The path or URL leads nowhere."""


class SourceRefused(SourceError):
    """The location must not be read: its protocol, address or form is not allowed."""


class CloneFailed(SourceError):
    """git could not clone or fetch the repository."""


class BranchNotFound(SourceError):
    """The repository has no such branch."""


class EmptyRepository(SourceError):
    """The repository has no commit, or nothing in it can be indexed."""


class ModelError(FootnoteError):
    """The embedding model cannot be used."""


class UnknownModel(ModelError):
    """No model of that name can be loaded."""


class ModelMismatch(ModelError):
    """The weights on disk are not the ones that are known."""


class IndexingError(FootnoteError):
    """An index cannot be built or opened."""


class NotIndexed(IndexingError):
    """The repository has no index yet."""


class IndexMismatch(IndexingError):
    """The index has a format that this version cannot read. Another model or chunker is none: what can be read of it is, and said."""


class IndexCorrupt(IndexingError):
    """A file of the index is missing, truncated or altered."""


class BuildFailed(IndexingError):
    """A build did not complete; the former index keeps answering."""


class BuildRunning(IndexingError):
    """The repository is being built already."""


class DiskFull(IndexingError):
    """There is no room for the new index."""


class RetrievalError(FootnoteError):
    """A search failed. Finding nothing is not an error."""


class StoreUnavailable(RetrievalError):
    """The server that holds the vectors refused, failed or cannot be reached."""


class CollectionGone(StoreUnavailable):
    """The server has no such collection."""


class RerankerFailed(RetrievalError):
    """A reranker brought no scores. Results stand in the order that they had before it."""


class GeneratorError(FootnoteError):
    """The language model did not write an answer."""


class GeneratorUnavailable(GeneratorError):
    """The language model refused, cannot be reached or failed."""


class GeneratorBusy(GeneratorError):
    """The language model's rate limit is reached."""


class PromptTooLarge(GeneratorError):
    """The prompt and the answer together exceed a limit of the language model."""


class GeneratorCut(GeneratorError):
    """The language model's stream ended before it was finished."""


class ReplyMalformed(GeneratorError):
    """A language model's reply is not the JSON that was asked for."""


class JudgementMalformed(ReplyMalformed):
    """A judge's reply is not what was asked for. It is counted and never becomes a score."""


class EvaluationError(FootnoteError):
    """Questions cannot be read, or what they are about is not there."""


class DatabaseError(FootnoteError):
    """The SQLite file cannot be read or written."""


class DataDirectoryLocked(FootnoteError):
    """Another process owns the data directory."""
