"""What passes between `IsolatedChunker` and its worker: one JSON array a line.

JSON and not pickle, since what comes back was made by a process that hostile files may have taken over. Texts that are whole lines are not
sent back; the reader cuts them from the document that it holds.
"""

from __future__ import annotations

import json
from typing import Any

from rag.types import Chunk, Document, Kind


def pack_document(document: Document) -> bytes:
    return json.dumps([document.path, document.text, document.language]).encode("ascii") + b"\n"


def unpack_document(line: bytes) -> Document:
    path, text, language = json.loads(line)
    return Document(path=path, text=text, language=language, blob="")


def pack_chunks(document: Document, chunks: list[Chunk]) -> bytes:
    lines = document.text.split("\n")
    rows: list[list[Any]] = []
    for chunk in chunks:
        whole = chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        place = [chunk.start_line, chunk.end_line, chunk.kind, None if whole else chunk.text]
        rows.append([*place, chunk.symbol, chunk.scope, chunk.defines, chunk.signature, chunk.doc, chunk.module_doc])
    return json.dumps(rows).encode("ascii") + b"\n"


def unpack_chunks(document: Document, line: bytes) -> list[Chunk]:
    """Raises: ValueError, TypeError, KeyError, IndexError where the answer has another form."""
    lines = document.text.split("\n")
    chunks: list[Chunk] = []
    for start, end, kind, text, symbol, scope, defines, signature, doc, module_doc in json.loads(line):
        if not (isinstance(start, int) and isinstance(end, int) and 1 <= start <= end <= len(lines)):
            raise ValueError("lines outside the document")
        if text is not None and (start != end or text not in lines[start - 1]):
            raise ValueError("text that is not in the document")
        chunks.append(
            Chunk(
                path=document.path,
                start_line=start,
                end_line=end,
                kind=Kind(kind),
                language=document.language,
                text="\n".join(lines[start - 1 : end]) if text is None else str(text),
                symbol=str(symbol),
                scope=str(scope),
                defines=tuple(str(name) for name in defines),
                signature=str(signature),
                doc=str(doc),
                module_doc=str(module_doc),
            )
        )
    return chunks
