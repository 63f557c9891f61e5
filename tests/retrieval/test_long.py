"""Long questions: what is the question in them, which words are searched for, and what that costs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.index.generation import Generation
from rag.protocols import Embedder
from rag.retrieval.focus import CHOSEN, focused
from rag.retrieval.long_text import LONG, long_text
from rag.retrieval.query import understand
from rag.retrieval.query_filters import TEST_GLOBS
from rag.retrieval.retriever import Retriever
from rag.retrieval.settings import RetrievalSettings
from rag.types import Filters
from tests.embedding.fixtures import Counting
from tests.index.fixtures import SampleIndex

REPORT = """\
<!-- Thank you for the report! Please fill in what follows. -->
### Parcel is lost when a locker is released twice
**Describe the bug**

Releasing a locker that is free already gives back nothing, and the parcel that arrives next is gone.
It should be refused.

**To Reproduce**
```python
from larder.lockers import Station
station = Station(3)
station.release_locker(1)
```
which ends with

```
Traceback (most recent call last):
  File "/home/ada/try.py", line 3, in <module>
    station.release_locker(1)
  File "/opt/venv/lib/python3.12/site-packages/larder/lockers.py", line 9999, in release_locker
    parcel, locker.parcel = locker.parcel, None
AttributeError: 0x7ffe12ab34cd
```

### Environment
- [x] I have searched for it
_No response_
OS: any, kind:unknown lang:none
""" + "\n".join(f"dependency-{number} 1.{number}.0 is installed" for number in range(12))


def test_a_report_is_a_title_with_material_below() -> None:
    long = long_text(REPORT)
    assert long is not None
    assert long.title == "Parcel is lost when a locker is released twice"
    assert long.body.startswith("Releasing a locker that is free already")
    assert long.prose.startswith("Releasing a locker that is free already")
    for brought in ("Thank you", "Describe the bug", "To Reproduce", "Environment", "No response", "I have searched"):
        assert brought not in long.body
    assert "station = Station(3)" in long.body
    assert "station = Station(3)" not in long.prose
    assert long.opening.startswith(f"{long.title}\nReleasing")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("x" * LONG, None),
        ("one\n" + "x" * LONG, "one"),
        ("\n\n# one\n\n" + "x" * LONG, "one"),
        ("First. Second? " + "x " * LONG, "First. Second?"),
        ("y" * 10 * LONG, "y" * 200),
        ("<!-- " + "z" * LONG, None),
    ],
)
def test_what_the_title_is(text: str, title: str | None) -> None:
    long = long_text(text)
    assert (long.title if long else None) == title


def test_what_is_asked_for_is_said_in_the_title() -> None:
    query = understand(REPORT)
    assert query.long is not None
    assert query.filters == Filters()  # "kind:" and "lang:" below are what somebody pasted
    assert not query.asks_for_tests
    assert (query.asks_for, query.symbol) == ("", "")
    tail = "\n" + "It fails with the example in the documentation. " * 20 + "in the tests"
    assert understand("where are parcels kept" + tail).filters == Filters()
    asked = understand("which tests cover parcels, as the docs say? lang:go" + tail)
    assert asked.filters == Filters(language=("go",))
    assert (asked.asks_for_tests, asked.asks_for) == (True, "documentation")
    assert understand("how are doors checked in the unit tests" + tail).filters == Filters(path=TEST_GLOBS)


def test_the_title_counts_twice_and_the_rest_by_what_is_rare_here(generation: Generation) -> None:
    query = focused(understand(REPORT), generation.stems, len(generation.chunks))
    title = understand("Parcel is lost when a locker is released twice").terms
    assert query.terms[: 2 * len(title)] == 2 * title
    chosen = query.terms[2 * len(title) :]
    assert len(chosen) == len(set(chosen)) <= CHOSEN
    assert "release_locker" in chosen
    assert not any("dependency" in term or term.startswith("0x") for term in chosen)  # nothing here holds them
    short = understand("where are parcels kept")
    assert focused(short, generation.stems, len(generation.chunks)) is short


async def test_the_frame_nearest_to_the_failure_leads_to_its_chunk(
    retriever: Retriever, generation: Generation, sample_index: SampleIndex
) -> None:
    found = await retriever.retrieve(REPORT, generation, sample_index.repository, explain=True)
    first = found.results[0]
    assert first.chunk.path == "larder/lockers.py"
    assert "release_locker" in first.chunk.defines
    assert " + named " in found.explanation[0]
    assert found.notices == ()


async def test_a_long_question_embeds_one_short_text_whatever_its_length(
    embedder: Embedder, generation: Generation, sample_index: SampleIndex
) -> None:
    counting = Counting(embedder)
    retriever = Retriever(counting, RetrievalSettings())
    text = "Parcels are lost\n" + "A parcel that nobody fetches is sent back. " * 2_000 + "\n\n" + "noise " * 10_000
    for _ in range(2):
        await retriever.retrieve(text, generation, sample_index.repository)
    [asked] = counting.questions
    assert len(asked) < 2_000


@given(
    st.text(max_size=1_500)
    | st.lists(st.sampled_from(["```", "# a", "<!--", "-->", "", "    x = 1", "word. word", "**b**"])).map("\n".join)
)
def test_any_long_text_is_taken_apart(text: str) -> None:
    long = long_text(text + "\n" + "x" * LONG)
    if long is not None:
        assert "\n" not in long.title
        assert len(long.title) <= 200
        assert set(long.prose.splitlines()) <= set(long.body.splitlines())
