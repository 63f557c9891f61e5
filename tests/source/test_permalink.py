import pytest

from rag.source.permalink import permalink, plain_reference
from rag.types import Repository

C = "0123456789012345678901234567890123456789"


@pytest.mark.parametrize(
    ("source", "web", "path", "lines", "link"),
    [
        ("https://github.com/o/n.git", "", "a.py", (1, 9), f"https://github.com/o/n/blob/{C}/a.py#L1-L9"),
        ("https://github.com/o/n", "", "a.py", (4, 4), f"https://github.com/o/n/blob/{C}/a.py#L4"),
        ("git@github.com:o/n.git", "", "a.py", (1, 2), f"https://github.com/o/n/blob/{C}/a.py#L1-L2"),
        ("ssh://git@github.com/o/n.git", "", "a b#?.py", (1, 2), f"https://github.com/o/n/blob/{C}/a%20b%23%3F.py#L1-L2"),
        ("https://github.com/o/n", "", "README.md", (1, 2), f"https://github.com/o/n/blob/{C}/README.md?plain=1#L1-L2"),
        ("https://gitlab.com/g/s/n.git", "", "a.py", (1, 9), f"https://gitlab.com/g/s/n/-/blob/{C}/a.py#L1-9"),
        ("https://gitlab.example.org/g/n", "", "a.py", (1, 9), f"https://gitlab.example.org/g/n/-/blob/{C}/a.py#L1-9"),
        ("https://bitbucket.org/g/n.git", "", "a.py", (1, 9), f"https://bitbucket.org/g/n/src/{C}/a.py#lines-1:9"),
        ("https://codeberg.org/g/n.git", "", "a.py", (1, 9), f"https://codeberg.org/g/n/src/commit/{C}/a.py#L1-L9"),
        ("/srv/n", "", "a.py", (1, 9), ""),
        ("https://example.org/n.git", "", "a.py", (1, 9), ""),
        ("/srv/n", "http://127.0.0.1:80/source/n/", "README.md", (1, 9), f"http://127.0.0.1:80/source/n/blob/{C}/README.md#L1-L9"),
        ("/srv/n", "javascript:alert(1)", "a.py", (1, 9), ""),
        ("https://github.com/o/n", "", "a|b>(c)\n.py", (1, 2), f"https://github.com/o/n/blob/{C}/a%7Cb%3E%28c%29%0A.py#L1-L2"),
        ("https://github.com/o/n", "", "caf\\xe9.py", (1, 1), f"https://github.com/o/n/blob/{C}/caf%E9.py#L1"),
    ],
)
def test_a_permalink_is_pinned_to_commit_and_lines(source: str, web: str, path: str, lines: tuple[int, int], link: str) -> None:
    assert permalink(Repository("n", source, web=web), C, path, *lines) == link


def test_a_plain_reference_is_one_line_of_text() -> None:
    assert plain_reference("a/b.py", 10, 20) == "a/b.py:10-20"
    assert plain_reference("a/b.py", 10, 10) == "a/b.py:10"
    assert plain_reference("a\n\u202e.py", 1, 2) == "a\\n\\u202e.py:1-2"
