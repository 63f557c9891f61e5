"""Few words for many paths, that mean no path more and none less."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rag.index.globs import matching
from rag.index.path_cover import Cover, cover, ending_of, folders_of

NAMES = st.sampled_from(["a", "b", "a.py", "b.py", "c.md", ".env", "x.tar.gz", "na\udce9.py", "..."])
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=30, unique=True)


def meant(words: Cover, path: str) -> bool:
    """As the server reads it."""
    return ending_of(path) in words.endings or path in words.paths or any(folder in words.folders for folder in folders_of(path))


@settings(deadline=None)
@given(paths=PATHS, data=st.data())
def test_any_set_of_paths_is_meant_exactly(paths: list[str], data: st.DataObject) -> None:
    fitting = data.draw(st.sets(st.sampled_from(paths)))
    words = cover(fitting, paths)
    assert {path for path in paths if meant(words, path)} == fitting
    assert len(words) <= len(fitting)


@settings(deadline=None)
@given(paths=PATHS, glob=st.sampled_from(["a", "*.py", "a/**", "**/b", "b/*", "*", "[ab].py", "?.md"]))
def test_globs_keep_their_meaning(paths: list[str], glob: str) -> None:
    fitting = matching([glob], paths)
    assert {path for path in paths if meant(cover(fitting, paths), path)} == fitting


def test_folders_and_endings_of_large_trees_are_single_words() -> None:
    paths = [f"src/part{part}/file{number}.{ending}" for part in range(40) for number in range(50) for ending in ("py", "txt")]
    paths += [f"docs/page{number}.md" for number in range(300)] + ["src.py"]
    assert cover(matching(["src"], paths), paths) == Cover(endings=("txt",), folders=("src",))
    assert cover(matching(["*.md"], paths), paths) == Cover(endings=("md",))
    assert cover(matching(["src/part7/**"], paths), paths) == Cover(folders=("src/part7",))
    assert len(cover(matching(["file7.*"], paths), paths)) == 80
