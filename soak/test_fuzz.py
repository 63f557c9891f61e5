"""Arbitrary and hostile text, far more of it than `make test` has time for, against what must hold of redaction, defanging and chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from rag.answering.draft import Draft
from rag.chunking import ChunkingSettings
from rag.source.redaction import redact
from rag.types import Document
from soak.conftest import Soak, enough
from tests.answering.material import COMMIT, context
from tests.answering.test_defang import ADDRESSES, ALPHABET, PINGS, WRAPPERS, assert_harmless
from tests.chunking.checks import check_contract
from tests.chunking.test_contract import ANY, CODE, LANGUAGES, _chunker, _counter, overlaps
from tests.source.test_redaction import AROUND, PIECES, SECRETS

T = TypeVar("T")
BATCH = 500  # examples under one seed: a run ends between two batches, and does not tire of one corner
HOSTILE = [wrapper.replace("{}", address) for wrapper in WRAPPERS for address in ADDRESSES] + PINGS


def fuzz(what: str, soak: Soak, strategy: st.SearchStrategy[T], check: Callable[[T], None]) -> None:
    """Runs `check` on `--soak-examples` values of `strategy`, until the first that fails, which is made small and printed."""
    clock, made, batch = soak.clock(), 0, 0
    while made < soak.examples and not clock.over:
        counted = 0

        @seed(soak.seed + batch)
        @settings(
            max_examples=min(BATCH, soak.examples - made),
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )
        @given(strategy)
        def some(value: T) -> None:
            nonlocal counted
            counted += 1
            check(value)

        some()
        made, batch = made + max(counted, 1), batch + 1
    soak.done.append(f"fuzz: {made:,} texts, {what}")
    enough("examples", made, soak.examples, soak)


def test_redaction_keeps_lines_and_is_done_once(soak: Soak) -> None:
    def check(text: str) -> None:
        once, count = redact(text)
        assert once.count("\n") == text.count("\n")
        assert (count == 0) == (once == text)
        if "BEGIN" not in text:
            assert redact(once) == (once, 0)

    pieces = st.sampled_from(PIECES + [value for _, value in SECRETS]) | st.text(max_size=4)
    fuzz("redacted: lines kept, nothing redacted twice", soak, st.lists(pieces, max_size=40).map("".join), check)


def test_no_surroundings_hide_a_secret(soak: Soak) -> None:
    def check(made: tuple[tuple[str, str], str, str]) -> None:
        (kind, value), before, after = made
        text, _ = redact(f"{before} {AROUND.get(kind, '%s') % value}\n{after}")
        assert value not in text

    around = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=12).map("".join)
    fuzz("each with a secret: none kept", soak, st.tuples(st.sampled_from(SECRETS), around, around), check)


def test_no_link_or_ping_of_a_model_is_live(soak: Soak) -> None:
    def check(made: tuple[str, int]) -> None:
        text, size = made
        draft = Draft(context(), COMMIT, "q")
        raw = f"Cited [1].\n{text}"
        pieces = [piece for start in range(0, len(raw), size) for piece in draft.feed(raw[start : start + size])]
        pieces += draft.close()
        assert "".join(piece.text for piece in pieces).strip() == draft.text
        assert_harmless(draft.text)

    parts = st.sampled_from(ALPHABET) | st.sampled_from(HOSTILE) | st.text(max_size=3)
    fuzz("written by a hostile model: none live", soak, st.tuples(st.lists(parts, max_size=40).map("".join), st.integers(1, 9)), check)


def test_any_text_in_any_language_keeps_the_contract_of_chunks(soak: Soak) -> None:
    def check(made: tuple[str, str, int]) -> None:
        text, language, window = made
        document = Document("lib/some/where.x", text, language, "")
        limits = ChunkingSettings(window_tokens=window)
        check_contract(document, _chunker(window).chunk(document), _counter(), limits, overlaps=overlaps(language))

    texts = st.lists(CODE | ANY, min_size=1, max_size=3).map("\n".join)
    fuzz("cut into chunks", soak, st.tuples(texts, st.sampled_from(LANGUAGES), st.sampled_from([64, 128, 256])), check)
