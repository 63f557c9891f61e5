"""The worker process: same chunks as in this process, and what happens when a file kills it, outlasts it or eats its memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import rag
from rag.chunking import ChunkingSettings, IsolatedChunker, TokenizerCounter
from rag.chunking.chunker import LanguageChunker
from rag.chunking.isolated import FALLBACKS
from rag.chunking.wire import pack_chunks, pack_document, unpack_chunks, unpack_document
from rag.errors import BuildFailed
from rag.types import Document, Kind
from tests.chunking.checks import check_contract

# Takes the parser and what follows far longer than any limit below, and stays harmless to this process.
SLOW = Document("slow.py", "x = [\n" + "  (a, b, c),\n" * 60_000 + "]\n", "python", "")
SMALL = [Document(f"f{n}.py", f"def f{n}(x):\n    '''Says {n}.'''\n    return x + {n}\n", "python", "") for n in range(60)]


@pytest.fixture(params=[1, 2, 3], ids=lambda workers: f"{workers} workers")
def isolated(tokenizer_file: Path, request: pytest.FixtureRequest) -> Iterator[IsolatedChunker]:
    with IsolatedChunker(tokenizer_file, ChunkingSettings(), timeout=20, workers=request.param) as chunker:
        yield chunker


def worker_of(chunker: IsolatedChunker) -> int:
    worker = chunker._lanes[0].worker
    assert worker is not None
    return worker.pid


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_chunks_are_those_of_this_process(isolated: IsolatedChunker, chunker: LanguageChunker) -> None:
    root = Path(rag.__file__).parent
    documents = [Document(str(file.relative_to(root)), file.read_text("utf-8"), "python", "") for file in sorted(root.rglob("*.py"))]
    documents += [Document("a\udcff b\n.md", "# É\n\n" + "word " * 5000, "markdown", ""), Document("empty", "", "text", "")]
    answers = list(isolated.chunk_many(iter(documents)))
    assert [document for document, _ in answers] == documents
    assert all(chunks == chunker.chunk(document) for document, chunks in answers)
    assert isolated.chunk(documents[0]) == answers[0][1]
    assert isolated.fallbacks == {}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_document_that_outlasts_its_worker_is_cut_by_lines(tokenizer_file: Path, count_tokens: TokenizerCounter, workers: int) -> None:
    with IsolatedChunker(tokenizer_file, ChunkingSettings(), timeout=0.4, workers=workers) as chunker:
        answers = dict(zip("abc", chunker.chunk_many([SMALL[0], SLOW, SMALL[1]]), strict=True))
        assert [chunk.symbol for chunk in answers["a"][1] + answers["c"][1]] == ["f0", "f1"]
        assert {chunk.kind for chunk in answers["b"][1]} == {Kind.LINES}
        assert chunker.fallbacks == {"timeout": 1}
        assert chunker.fallen == {"slow.py": "timeout"}
    check_contract(SLOW, answers["b"][1], count_tokens, ChunkingSettings(), overlaps=True)


def test_a_worker_without_memory_is_replaced(tokenizer_file: Path) -> None:
    with IsolatedChunker(tokenizer_file, ChunkingSettings(), timeout=60, memory_bytes=80 << 20) as chunker:
        big = Document("big.py", "x = [\n" + "  (a, b, c, d, e, f),\n" * 40_000 + "]\n", "python", "")
        first = chunker.chunk(SMALL[0])
        assert {chunk.kind for chunk in chunker.chunk(big)} == {Kind.LINES}
        assert chunker.chunk(SMALL[0]) == first
        assert sum(chunker.fallbacks.values()) == 1
        assert set(chunker.fallbacks) <= {"memory", "crash"} <= set(FALLBACKS)


def test_a_worker_that_is_killed_costs_one_document(isolated: IsolatedChunker, chunker: LanguageChunker) -> None:
    isolated.chunk(SMALL[0])
    first = worker_of(isolated)
    seen = 0
    many = SMALL * 5  # more than is sent ahead, so that the dead worker is needed again
    for document, chunks in isolated.chunk_many(many):
        seen += 1
        if seen == 5:
            os.kill(worker_of(isolated), signal.SIGKILL)
        if chunks != chunker.chunk(document):
            assert {chunk.kind for chunk in chunks} == {Kind.LINES}
    assert seen == len(many)
    assert sum(isolated.fallbacks.values()) <= 1
    assert gone(first)
    assert isolated.chunk(SMALL[7]) == chunker.chunk(SMALL[7])


def test_what_others_answer_is_taken_in_while_one_is_slow(tokenizer_file: Path, chunker: LanguageChunker) -> None:
    """Their answers are far more than a pipe holds, and the order stays."""
    long = Document("long.py", "\n".join(document.text for document in SMALL) * 12, "python", "")
    wide = Document("wide.md", "# Wide\n\n" + f"{'long words ' * 400}\n\n" * 40, "markdown", "")
    documents = [long, *[wide] * 10, *SMALL, long, *[wide] * 10]
    expected = {document.path: chunker.chunk(document) for document in documents}
    with IsolatedChunker(tokenizer_file, ChunkingSettings(), timeout=60, workers=3) as several:
        several.start()
        answers = list(several.chunk_many(iter(documents)))
        assert [document for document, _ in answers] == documents
        assert all(chunks == expected[document.path] for document, chunks in answers)
        assert several.fallbacks == {}
        assert len({lane.worker.pid for lane in several._lanes if lane.worker is not None}) == 3


def test_every_worker_that_dies_is_replaced(tokenizer_file: Path, chunker: LanguageChunker) -> None:
    with IsolatedChunker(tokenizer_file, ChunkingSettings(), timeout=60, workers=2) as several:
        for number, (document, chunks) in enumerate(several.chunk_many(SMALL * 3)):
            if number in (3, 50):
                for lane in several._lanes:
                    assert lane.worker is not None
                    os.kill(lane.worker.pid, signal.SIGKILL)
            if chunks != chunker.chunk(document):
                assert {chunk.kind for chunk in chunks} == {Kind.LINES}
        assert number == 3 * len(SMALL) - 1
        assert sum(several.fallbacks.values()) <= 4
        assert [several.chunk(document) for document in SMALL] == [chunker.chunk(document) for document in SMALL]


def test_no_worker_is_no_chunker(tokenizer_file: Path) -> None:
    with pytest.raises(ValueError, match="0 workers"):
        IsolatedChunker(tokenizer_file, ChunkingSettings(), workers=0)


def test_leaving_early_does_not_mix_up_later_answers(isolated: IsolatedChunker, chunker: LanguageChunker) -> None:
    stream = isolated.chunk_many(SMALL)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert isolated.chunk(SMALL[33]) == chunker.chunk(SMALL[33])


def test_threads_take_turns(isolated: IsolatedChunker, chunker: LanguageChunker) -> None:
    wrong: list[str] = []

    def work() -> None:
        wrong.extend(document.path for document in SMALL[:15] if isolated.chunk(document) != chunker.chunk(document))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_closing_ends_the_worker_and_using_it_again_starts_one(tokenizer_file: Path) -> None:
    chunker = IsolatedChunker(tokenizer_file, ChunkingSettings())
    chunker.chunk(SMALL[0])
    first = worker_of(chunker)
    chunker.close()
    assert gone(first)
    assert chunker.chunk(SMALL[0])
    second = worker_of(chunker)
    chunker.close()
    chunker.close()
    assert gone(second)


def test_a_worker_that_cannot_start_is_a_build_that_failed(tokenizer_file: Path) -> None:
    with (
        IsolatedChunker(tokenizer_file, ChunkingSettings(), memory_bytes=1 << 20) as chunker,
        pytest.raises(BuildFailed, match="could not be started"),
    ):
        chunker.chunk(SMALL[0])


def test_the_worker_ends_with_its_parent(tokenizer_file: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom rag.chunking import *\nfrom rag.types import Document\n"
        "c = IsolatedChunker(Path(sys.argv[1]), ChunkingSettings())\nc.chunk(Document('a', 'b', 'text', ''))\n"
        "print(c._lanes[0].worker.pid, flush=True)\ntime.sleep(60)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(rag.__file__).parent.parent)}
    with subprocess.Popen([sys.executable, "-c", code, str(tokenizer_file)], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 10
    while not _ended(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _ended(pid)


def _ended(pid: int) -> bool:
    """Gone, or a zombie that nobody has collected yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return gone(pid)


def test_the_worker_sees_no_secret_and_loads_no_model(tokenizer_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-secret")
    with IsolatedChunker(tokenizer_file, ChunkingSettings()) as chunker:
        chunker.chunk(SMALL[0])
        maps = Path(f"/proc/{worker_of(chunker)}/maps")
        if not maps.exists():
            pytest.skip("no /proc here")
        assert b"xoxb-secret" not in Path(f"/proc/{worker_of(chunker)}/environ").read_bytes()
        assert not any(name in maps.read_text() for name in ("torch", "numpy", "onnxruntime"))


def test_documents_and_chunks_survive_the_wire(chunker: LanguageChunker) -> None:
    document = Document("na\udcefve\n.py", "def f():\n    return 'é\U0001f600'\n\n" + "x" * 5000, "python", "abc")
    received = unpack_document(pack_document(document))
    assert (received.path, received.text, received.language) == (document.path, document.text, document.language)
    chunks = chunker.chunk(document)
    line = pack_chunks(document, chunks)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert unpack_chunks(document, line) == chunks


@pytest.mark.parametrize(
    "line",
    [
        b'[[0, 1, "lines", null, "", "", [], "", "", ""]]',
        b'[[1, 99, "lines", null, "", "", [], "", "", ""]]',
        b'[[1, 1, "lines", "not in it", "", "", [], "", "", ""]]',
        b'[[1, 1, "nonsense", null, "", "", [], "", "", ""]]',
        b"[[1]]",
        b"[1]",
        b"[",
    ],
)
def test_an_answer_that_cannot_be_true_is_refused(line: bytes) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
        unpack_chunks(Document("a", "one line", "text", ""), line)
