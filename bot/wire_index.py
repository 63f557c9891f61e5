"""As `bot.wire`, for what is told of an index's files and chunks. Apart, so that a command that only asks does not load the index rooms."""

from __future__ import annotations

from collections.abc import Mapping

from bot import wire
from bot.wire import Json
from rag.chunking.isolated import FALLBACKS
from rag.index.corpus import DocumentEntry
from rag.index.distribution import SMALL, Distribution, LanguageStats
from rag.index.listing import Listing
from rag.source.selection import REASONS
from rag.types import GenerationInfo


def file(entry: DocumentEntry) -> Json:
    """`skipped`: why it is not in the index, "" if it is. `explanation`: of that reason, or of the fallback."""
    return {
        "path": entry.path,
        "language": entry.language,
        "chunks": entry.chunks,
        "skipped": entry.reason,
        "fallback": entry.fallback,
        "cut_lines": entry.cut_lines,
        "explanation": REASONS.get(entry.reason, "") if entry.reason else FALLBACKS.get(entry.fallback, ""),
    }


def listing(found: Listing) -> Json:
    def reasons(counts: Mapping[str, int], explanations: Mapping[str, str]) -> list[Json]:
        return [{"reason": reason, "files": count, "explanation": explanations.get(reason, "")} for reason, count in counts.items()]

    return {
        "index": wire.index(found.info),
        "total": len(found.entries),
        "indexed": sum(not entry.reason for entry in found.entries),
        "chunks": sum(entry.chunks for entry in found.entries),
        "skipped": reasons(found.skipped, REASONS),
        "fallbacks": reasons(found.fallbacks, FALLBACKS),
        "cut_lines": sum(entry.cut_lines for entry in found.entries),
        "complete": found.complete,
    }


def distribution(counted: Distribution, info: GenerationInfo) -> Json:
    def row(stats: LanguageStats) -> Json:
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in wire.plain(stats).items()}

    languages = [row(stats) for stats in counted.languages]
    return {"index": wire.index(info), "window": counted.window, "small": SMALL, "languages": languages, "total": row(counted.total)}
