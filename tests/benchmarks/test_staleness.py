from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.material import make_repository
from benchmarks.staleness.changes import CLASS_ADDED, DELETED, MOVED, PLAN, RENAMED, RESIGNED, Changed, change, definitions
from benchmarks.staleness.cited import State, state
from benchmarks.staleness.naming import class_of, free_names, like
from benchmarks.staleness.report import failures, lines
from benchmarks.staleness.trial import Outcome, Reply, run
from rag.chunking import ChunkingSettings, TokenizerCounter, make_chunker
from rag.embedding.models import EmbeddingSettings, tokenizer_file
from rag.errors import FootnoteError
from rag.index.jobs import BuildReport
from rag.types import Document


def _files(count: int = 30) -> dict[str, str]:
    """Two functions and two methods a file, long enough to be chunks of their own."""

    def body(name: str, number: int, indent: str = "") -> str:
        steps = "".join(f"{indent}    value_{step} = frame[{step}] + {number}  # {name} takes step {step}\n" for step in range(8))
        return f'{indent}    """Computes {name} for a frame."""\n{steps}{indent}    return value_0\n'

    return {
        f"part_{number}/module_{number}.py": f'"""Module {number}."""\n\n\ndef first_of_{number}(frame):\n{body("first", number)}\n\n'
        f"def second_of_{number}(frame, other=None):\n{body('second', number)}\n\nclass Holder{number}:\n"
        f"    def method_of_{number}(self, frame):\n{body('method', number, '    ')}\n"
        f"    def further_of_{number}(self, frame):\n{body('further', number, '    ')}"
        for number in range(count)
    }


def _changed(files: dict[str, str]) -> Changed:
    chunker = make_chunker(TokenizerCounter(tokenizer_file(EmbeddingSettings())), ChunkingSettings())
    chunks = [chunk for path, text in files.items() for chunk in chunker.chunk(Document(path, text, "python", ""))]
    return change(files, definitions(chunks))


def test_the_twenty_changes_are_in_the_texts() -> None:
    files = _files()
    changed = _changed(files)
    assert Counter(one.kind for one in changed.changes) == Counter(PLAN)
    assert sum(PLAN.values()) == 20
    after = {path: text for path, text in {**files, **changed.files}.items() if text is not None}
    for one in changed.changes:
        added = next((asked for asked in one.asked if asked.path), None)
        if one.kind == DELETED:
            assert one.what not in after
            assert added is None
            continue
        assert added is not None
        assert added.word in after[added.path]
        if one.kind == MOVED:
            assert [path for path, text in after.items() if f"def {added.word}(" in text] == [added.path]
            assert f"def {added.word}(" not in files[added.path]
        else:
            assert not any(added.word in text for text in files.values())
        if one.kind == RENAMED:
            assert not any(re.search(rf"\b{one.what.split()[0]}\b", text) for text in after.values())
        if one.kind == RESIGNED:
            name = one.what.split()[0]
            assert re.search(rf"def {name}\((?:self, )?{added.word}, frame", after[added.path])
        if one.kind == CLASS_ADDED:
            assert f"class {added.word}:" in after[added.path]
    for path, text in after.items():
        compile(text, path, "exec")
    assert all(text != files[path] for path, text in changed.files.items())


def test_the_same_repository_is_changed_in_the_same_way_and_a_small_one_is_refused() -> None:
    assert _changed(_files()) == _changed(_files())
    with pytest.raises(FootnoteError, match="too few"):
        _changed(_files(3))
    with pytest.raises(FootnoteError, match="no function"):
        _changed({"README.md": "# Words\n\nand more words.\n"})


def test_a_function_whose_name_stands_elsewhere_is_left_alone() -> None:
    files = _files(4)
    files["caller.py"] = "from part_0.module_0 import first_of_0\n\nprint(first_of_0([1] * 8))\n"
    chunker = make_chunker(TokenizerCounter(tokenizer_file(EmbeddingSettings())), ChunkingSettings())
    names = {
        one.name
        for one in definitions(chunk for path, text in files.items() for chunk in chunker.chunk(Document(path, text, "python", "")))
    }
    assert "first_of_0" not in names
    assert {"second_of_0", "first_of_1", "further_of_3"} <= names


def test_names_are_in_the_style_of_the_old_ones_and_free() -> None:
    words = ("annul", "ledger")
    assert [like(old, words) for old in ("parse_url", "parse", "parseUrl", "ParseURL")] == [
        "annul_ledger",
        "annul_ledger",
        "annulLedger",
        "AnnulLedger",
    ]
    every = free_names(frozenset(), 100)
    assert len(set(every)) == 100
    assert free_names(frozenset({"reconcile_ledger"}), 100) == every[1:]
    assert class_of("go", words)[1].startswith("\n\n// AnnulLedger keeps the ledger to annul.\ntype AnnulLedger struct {\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\nc\nd", State.HOLDS),
        ("new\na\nb\nc\nd", State.SHIFTED),
        ("a\nb\nchanged\nd", State.CHANGED),
        ("a\nb", State.CHANGED),
        ("a\nbc\nc", State.CHANGED),
        (None, State.DELETED),
    ],
)
def test_a_citation_is_judged_by_the_lines_at_the_new_head(text: str | None, expected: State) -> None:
    assert state("b\nc", 2, 3, text) is expected


def _report(**values: Any) -> BuildReport:
    known: dict[str, Any] = {
        "repository": "sample",
        "commit": "c",
        "branch": "main",
        "generation": "g",
        "documents": 100,
        "chunks": 1000,
        "embedded": 1000,
        "reused": 0,
        "skipped": {},
        "fallbacks": {},
        "seconds": {"total": 20.0},
        "peak_memory_bytes": 1,
    }
    return BuildReport(**{**known, **values})


def test_the_verdict_needs_stale_answers_before_and_none_after() -> None:
    gone = Reply(RENAMED, "Where is it?", (State.CHANGED, State.HOLDS), ("a.py:1-2", "b.py:1-2"), False)
    good = Reply(RENAMED, "Where is it?", (State.HOLDS,), ("a.py:1-2",), True)

    def outcome(before: Reply, after: Reply, *, same: bool = True, files: int = 1) -> Outcome:
        incremental = _report(embedded=30, seconds={"total": 2.0})
        return Outcome("sample", (), files, _report(), incremental, (before,), (after,), same)

    assert failures(outcome(gone, good)) == []
    assert len(failures(outcome(gone, gone))) == 1
    assert len(failures(outcome(good, good))) == 1
    assert len(failures(outcome(gone, good, same=False))) == 1
    said = "\n".join(lines(outcome(gone, good), answers=True))
    assert "1 of 1 answers cite code that is gone (1 × text gone; 2 citations)" in said
    assert "0 of 1 answers cite code that is gone (1 citations, all hold)" in said
    assert "0 of 1 before, 1 of 1 after" in said
    assert "10.0 times as fast" in said
    assert "3.0% (target: under 5%, met)" in said
    assert "before a.py:1-2 (text gone), b.py:1-2" in said
    assert "FAILED" not in said
    assert "exceed" in "\n".join(lines(outcome(gone, good, files=9)))


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_trial_from_end_to_end(tmp_path: Path, models_directory: Path) -> None:
    source = make_repository(tmp_path / "source", _files(24))
    outcome = await run(source, "sample", tmp_path / "work", models_directory, lambda _: None)
    assert failures(outcome) == []
    assert sum(reply.stale for reply in outcome.before) >= 10
    assert not any(reply.found for reply in outcome.before)
    assert sum(bool(reply.found) for reply in outcome.after) >= 14
    assert 0 < outcome.incremental.embedded < outcome.incremental.chunks
    assert outcome.incremental.commit != outcome.full.commit
