"""`python -m rag.chunking.worker`: chunks documents from standard input, one JSON line each way, under limits it sets on itself first.

It imports neither numpy nor a model, opens no file but the tokenizer, and ends when its standard input does. A timer that the kernel
keeps ends it even inside a parser that never returns, should its parent be gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from pathlib import Path


def _limit_memory(size: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, size)):
        with contextlib.suppress(ValueError, OSError):  # not every system enforces an address space limit
            resource.setrlimit(limit, (value, value))


def _set_timer(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def main() -> None:
    # Nothing but answers may reach the pipe.
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    order = json.loads(requests.readline())
    _limit_memory(order["memory_bytes"])

    from rag.chunking.chunker import LanguageChunker
    from rag.chunking.settings import ChunkingSettings
    from rag.chunking.tokens import TokenizerCounter
    from rag.chunking.wire import pack_chunks, unpack_document

    chunker = LanguageChunker(TokenizerCounter(Path(order["tokenizer"])), ChunkingSettings(**order["settings"]))
    answers.write(b"ready\n")
    answers.flush()
    for line in requests:
        _set_timer(order["timeout"] * 2 + 5)
        try:
            document = unpack_document(line)
            answer = pack_chunks(document, chunker.chunk(document))
        except MemoryError:
            answer = b"memory\n"
        except Exception as error:  # any fault of a parser's binding is this one document's
            answer = f"error {type(error).__name__}\n".encode()
        answers.write(answer)
        answers.flush()
        _set_timer(0)


if __name__ == "__main__":
    main()
