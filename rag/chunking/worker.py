"""`python -m rag.chunking.worker`: chunks documents from standard input, one JSON line each way, under limits it sets on itself first.

It imports neither numpy nor a model, opens no file but the tokenizer, and ends when its standard input does. Timers that the kernel
keeps end it inside a parser that never returns, whether or not its parent still lives.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from pathlib import Path

from rag.chunking.worker_limits import WALL_FACTOR


def _limit_memory(size: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, size)):
        with contextlib.suppress(ValueError, OSError):  # not every system enforces an address space limit
            resource.setrlimit(limit, (value, value))


def _set_timers(cpu_seconds: float) -> None:
    """Processor time is what a document may take, so that a busy machine changes nothing; the clock catches what waits. 0: none."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
        signal.setitimer(signal.ITIMER_REAL, cpu_seconds * (WALL_FACTOR + 1))


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
        _set_timers(order["timeout"])
        try:
            document = unpack_document(line)
            answer = pack_chunks(document, chunker.chunk(document))
        except MemoryError:
            answer = b"memory\n"
        except Exception as error:  # any fault of a parser's binding is this one document's
            answer = f"error {type(error).__name__}\n".encode()
        answers.write(answer)
        answers.flush()
        _set_timers(0)


if __name__ == "__main__":
    main()
