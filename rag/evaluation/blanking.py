"""A copy of a commit in which the words that a question was made of are gone, so that the question is not found by its own text.

The copy is a commit in a bare repository of its own that borrows the clone's objects: only the changed files take room. It has the same
id whenever the same words are blanked in the same commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rag.errors import EvaluationError
from rag.evaluation.datasets import Label
from rag.source import git
from rag.source.mirror import Mirror

GONE = "…"  # in place of a word: a heading stays a heading
_WORD = re.compile(r"\w+")
_TIMEOUT = 120.0  # seconds for one git command
_WHO = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "x"), ("EMAIL", "x"))} | {
    "GIT_AUTHOR_DATE": "2000-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2000-01-01T00:00:00Z",
}


def blank_words(text: str, start: int, end: int, words: Iterable[str]) -> str:
    """`text` with the words of `words` (whole, regardless of case) replaced in lines start..end, 1-based and inclusive; as many lines."""
    gone = {word.lower() for phrase in words for word in _WORD.findall(phrase)}
    lines = text.split("\n")
    for number in range(max(start, 1) - 1, min(end, len(lines))):
        lines[number] = _WORD.sub(lambda found: GONE if found[0].lower() in gone else found[0], lines[number])
    return "\n".join(lines)


def blanked_clone(mirror: Mirror, clone: Path, commit: str, lines: Mapping[Label, Sequence[str]], directory: Path) -> tuple[Path, str]:
    """Makes the copy in `directory` and returns it with the id of its commit. `lines`: what to blank -> the questions made of it.

    `clone`: where the mirror's git directory or work tree lies. Raises: EvaluationError, SourceError.
    """
    texts: dict[str, str] = {}
    for label, phrases in lines.items():
        if label.path not in texts:
            texts[label.path] = mirror.document(commit, label.path).text
        texts[label.path] = blank_words(texts[label.path], label.start_line or 1, label.end_line or 1, phrases)
    source = _objects(clone)
    directory.mkdir(parents=True, exist_ok=True)
    if not (directory / "HEAD").is_file():
        _git(None, "init", "--quiet", "--bare", "--", str(directory))
    (directory / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (directory / "objects" / "info" / "alternates").write_text(f"{source}\n", encoding="utf-8")
    index = {"GIT_INDEX_FILE": str(directory / "blanked-index")}
    _git(directory, "read-tree", commit, extra=index)
    for path, text in texts.items():
        blob = _git(directory, "hash-object", "-w", "--stdin", stdin=text.encode("utf-8", "surrogatepass"))
        _git(directory, "update-index", "--cacheinfo", f"100644,{blob},{path}", extra=index)
    tree = _git(directory, "write-tree", extra=index)
    made = _git(directory, "commit-tree", "-m", f"Words of questions blanked in {commit}", tree, extra=_WHO)
    _git(directory, "update-ref", "refs/heads/blanked", made)
    return directory, made


def _objects(clone: Path) -> Path:
    inside = clone / ".git"
    common = _git(inside if inside.exists() else clone, "rev-parse", "--git-common-dir")
    base = inside if inside.is_dir() else clone
    return (base / common).resolve() / "objects" if not Path(common).is_absolute() else Path(common) / "objects"


def _git(directory: Path | None, *arguments: str, extra: Mapping[str, str] | None = None, stdin: bytes = b"") -> str:
    done = git.run(directory, arguments, timeout=_TIMEOUT, env=git.environment(extra=extra), stdin=stdin)
    if done.code != 0:
        raise EvaluationError(f"git {arguments[0]} failed: {done.complaint}", "See that the clone is whole.")
    return done.stdout.decode("utf-8", "replace").strip()
