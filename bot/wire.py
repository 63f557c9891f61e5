"""What `--json` prints and the control socket carries: pure, values -> plain JSON. These shapes are promised in docs/."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Any

from rag import errors
from rag.errors import FootnoteError
from rag.types import Answer, AnswerPiece, Citation, GenerationInfo, Retrieval, SearchResult

Json = dict[str, Any]
DIGITS = 6  # of a score: what is beyond is noise of the arithmetic


def plain(value: Any) -> Any:
    """Dataclasses to objects, moments to ISO 8601, tuples to lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value


def result(found: SearchResult) -> Json:
    chunk = found.chunk
    return {
        "rank": found.rank,
        "id": chunk.id,
        "path": chunk.path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "kind": str(chunk.kind),
        "group": found.group,
        "symbol": chunk.symbol,
        "language": chunk.language,
        "score": round(found.score, DIGITS),
        "scores": {stage: round(score, DIGITS) for stage, score in found.scores.items()},
        "permalink": found.permalink,
        "twins": [plain(twin) for twin in found.twins],
        "text": chunk.text,
    }


def index(info: GenerationInfo) -> Json:
    return {
        "repository": info.repository,
        "generation": info.generation,
        "commit": info.commit,
        "branch": info.branch,
        "built_at": info.built_at.isoformat(timespec="seconds"),
        "documents": info.documents,
        "chunks": info.chunks,
        "dense_ready": info.dense_ready,
        "notices": list(info.notices),
    }


def retrieval(found: Retrieval) -> Json:
    return {
        "results": [result(one) for one in found.results],
        "index": index(found.index),
        "seconds": seconds(found.seconds),
        "leads": found.leads,
        "confidence": None if found.confidence is None else round(found.confidence, DIGITS),
        "candidates": dict(found.candidates),
        "notices": list(found.notices),
        "explanation": list(found.explanation),
    }


def citation(cited: Citation) -> Json:
    return {
        "number": cited.number,
        "path": cited.path,
        "start_line": cited.start_line,
        "end_line": cited.end_line,
        "commit": cited.commit,
        "permalink": cited.permalink,
        "also": [plain(twin) for twin in cited.also],
    }


def piece(part: AnswerPiece) -> Json:
    return {"piece": part.text, "citations": [citation(one) for one in part.citations]}


def answer(given: Answer) -> Json:
    return {
        "answer_id": given.id,
        "answer": given.text,
        "abstained": given.abstained,
        "citations": [citation(one) for one in given.citations],
        "generator": given.generator,
        "seconds": seconds(given.seconds),
        "index": index(given.index),
        "notices": list(given.notices),
        "dropped_citations": given.dropped_citations,
        "ungrounded": list(given.ungrounded),
        "confidence": None if given.confidence is None else round(given.confidence, DIGITS),
    }


def seconds(stages: Any) -> Json:
    return {stage: round(value, 4) for stage, value in stages.items()}


def fault(error: FootnoteError) -> Json:
    return {"error": type(error).__name__, "problem": error.problem, "remedy": error.remedy}


def restore(message: Json) -> FootnoteError:
    """The error that `fault` wrote, in the class that it had."""
    kind = getattr(errors, str(message.get("error")), FootnoteError)
    if not (isinstance(kind, type) and issubclass(kind, FootnoteError)):
        kind = FootnoteError
    restored: FootnoteError = kind(str(message.get("problem", "")), str(message.get("remedy", "")))
    return restored
