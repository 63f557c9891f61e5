"""What a build reads: every document of a commit, cut into chunks, and what it keeps of each to compare the next build with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from types import MappingProxyType

from rag.errors import BuildFailed, EmptyRepository
from rag.index.files import corrupt
from rag.index.measure import Stopwatch
from rag.index.term_counts import TermCounts
from rag.source.mirror import Skipped
from rag.types import Chunk, Document

# Raise it whenever more is kept of each file: part of the recipe, so that a build writes it for an index that lacks it.
ENTRIES_FORMAT = 2
ENTRIES = "documents.jsonl"

# A build may lose this share of its chunks, or leave this share of the lines uncut, before it counts as failed.
TOLERATED_LOSS = 0.3

ChunkMany = Callable[[Iterable[Document]], Iterator[tuple[Document, list[Chunk]]]]


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """One file of the tree. `chars`, `chunks`: 0 for a file that was skipped, for `reason` (rag.source.selection.REASONS).

    `language`: "" for a file that was skipped, and in an index written before ENTRIES_FORMAT 2. `fallback`: why it was cut by lines
    although its language has a parser (rag.chunking.isolated.FALLBACKS), "" if it was not. `cut_lines`: lines too long to be indexed whole.
    """

    path: str
    blob: str = ""
    chars: int = 0
    chunks: int = 0
    reason: str = ""
    language: str = ""
    fallback: str = ""
    cut_lines: int = 0


@dataclass(slots=True)
class Corpus:
    """All chunks of a commit in the order of the tree. `lines`, `covered`: not blank ones, and those of them in a chunk.

    `terms`: counted along with the chunks, while the parsing processes are busy with the next ones.
    """

    chunks: list[Chunk] = field(default_factory=list)
    terms: TermCounts = field(default_factory=TermCounts)
    entries: list[DocumentEntry] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    chars: int = 0
    lines: int = 0
    covered: int = 0
    redactions: int = 0


def read_corpus(
    found: Iterable[Document | Skipped],
    chunk_many: ChunkMany,
    watch: Stopwatch,
    on_document: Callable[[int, int], None],
    fallen: Mapping[str, str] = MappingProxyType({}),
) -> Corpus:
    """Cuts documents as they are read. `on_document`: called with the numbers of documents and chunks so far.

    `fallen`: path -> why it was cut by lines; looked at when a document's chunks have come.
    """
    corpus = Corpus()
    stream = iter(found)

    def documents() -> Iterator[Document]:
        while True:
            with watch.stage("read"):
                item = next(stream, None)
            if item is None:
                return
            if isinstance(item, Skipped):
                corpus.skipped[item.reason] += 1
                corpus.entries.append(DocumentEntry(item.path, reason=item.reason))
            else:
                yield item

    # The chunker reads ahead, so what it takes includes reading.
    with watch.stage("chunk"):
        for document, chunks in chunk_many(documents()):
            _add(corpus, document, chunks, fallen.get(document.path, ""))
            on_document(corpus.documents, len(corpus.chunks))
    watch.seconds["chunk"] -= watch.seconds.get("read", 0.0)
    return corpus


def _add(corpus: Corpus, document: Document, chunks: Sequence[Chunk], fallback: str) -> None:
    lines = document.text.split("\n")
    numbers = {number for number, line in enumerate(lines, start=1) if line.strip()}
    inside: set[int] = set()
    for chunk in chunks:
        inside.update(range(chunk.start_line, chunk.end_line + 1))
        corpus.terms.add(chunk)
    corpus.chunks.extend(chunks)
    corpus.entries.append(
        DocumentEntry(
            document.path,
            document.blob,
            len(document.text),
            len(chunks),
            language=document.language,
            fallback=fallback,
            cut_lines=_cut_lines(lines, chunks),
        )
    )
    corpus.documents += 1
    corpus.chars += len(document.text)
    corpus.lines += len(numbers)
    corpus.covered += len(numbers & inside)
    corpus.redactions += document.redactions


def _cut_lines(lines: Sequence[str], chunks: Sequence[Chunk]) -> int:
    """How many lines are in no chunk as a whole: of a line far over the window, only its beginning is indexed, in pieces."""
    pieces: Counter[int] = Counter()
    for chunk in chunks:
        if chunk.start_line == chunk.end_line and chunk.text != lines[chunk.start_line - 1]:
            pieces[chunk.start_line] += _inked(chunk.text)
    return sum(inked < _inked(lines[number - 1]) for number, inked in pieces.items())


def _inked(text: str) -> int:
    return sum(map(len, text.split()))


def check_whole(repository: str, corpus: Corpus) -> None:
    """Raises: EmptyRepository where there is nothing to index; BuildFailed where the chunks leave out too many of the lines."""
    if not corpus.chunks and not corpus.lines:
        left_out = ", ".join(f"{reason}: {count:,}" for reason, count in corpus.skipped.most_common(5))
        raise EmptyRepository(
            f"{repository} holds nothing that can be indexed{f' (skipped: {left_out})' if left_out else ''}.",
            "Commit a text file, or check the include and exclude globs.",
        )
    if corpus.covered < (1 - TOLERATED_LOSS) * corpus.lines:
        raise BuildFailed(
            f"Chunks of {repository} hold only {corpus.covered:,} of the {corpus.lines:,} lines that were read.",
            "The former index keeps answering. Report this as a fault of the chunker.",
        )


def check_loss(repository: str, former: Sequence[DocumentEntry], now: Sequence[DocumentEntry]) -> None:
    """Chunks of files that are gone, and as many as a file has shrunk, are lost by the repository; any other loss is the build's.

    Raises: BuildFailed where it is more than TOLERATED_LOSS of the former chunks.
    """
    standing = {entry.path: entry for entry in now}
    lost = 0.0
    for before in former:
        after = standing.get(before.path)
        if after is None or not before.chunks:
            continue
        kept = 1.0 if after.reason else min(1.0, after.chars / before.chars)
        lost += max(0.0, before.chunks * kept - after.chunks)
    total = sum(entry.chunks for entry in former)
    if lost > TOLERATED_LOSS * total:
        raise BuildFailed(
            f"This build of {repository} lost {lost:,.0f} of {total:,} chunks, though the repository still has their files.",
            "The former index keeps answering. If the loss is meant, index the repository with --force.",
        )


def write_entries(path: Path, entries: Iterable[DocumentEntry]) -> None:
    """One JSON array a line, the fields of DocumentEntry in their order."""
    with path.open("w", encoding="ascii") as file:
        for entry in entries:
            file.write(json.dumps(astuple(entry)) + "\n")


def read_entries(path: Path) -> list[DocumentEntry]:
    """Older lines lack the last fields. Raises: IndexCorrupt."""
    try:
        with path.open(encoding="ascii") as file:
            return [DocumentEntry(*json.loads(line)) for line in file]
    except (OSError, ValueError, TypeError) as error:
        raise corrupt(path, "cannot be read") from error


def recorded(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts by reason, the most frequent first."""
    return dict(Counter(counts).most_common())
