"""What is read of a commit's message, case by case."""

from __future__ import annotations

import time

import pytest

from rag.source.history.said import said

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    ("message", "subject", "body"),
    [
        ("", "", ""),
        ("\n\n", "", ""),
        ("Mend the door", "Mend the door", ""),
        ("Mend the door\n\nIt stuck: the hinge was bent.\n", "Mend the door", "It stuck: the hinge was bent."),
        ("fix: keep Door.open\n\nSigned-off-by: Ana Berg <ana@example.org>\n", "fix: keep Door.open", ""),
        ("Mend\n\nCo-authored-by: Ben Ode\nReviewed-by: Cem\nChange-Id: I0123456789abcdef\nFixes: #12", "Mend", ""),
        ("Mend\n\ngit-svn-id: svn://example.org/trunk@12 0a1b", "Mend", ""),
        ("Mend (#12)\n\n(cherry picked from commit 0123456789abcdef0123)", "Mend (#12)", ""),
        ("Thank @ana-berg and ana@example.org", "Thank and", ""),
        ("Allow @property on @dataclass", "Allow on", ""),
        ("See https://example.org/a?b=c for more", "See for more", ""),
        ('Revert "Mend"\n\nThis reverts commit 0123456789abcdef0123456789abcdef01234567.', 'Revert "Mend"', "This reverts commit ."),
        ("Defaced the facade", "Defaced the facade", ""),  # letters alone are words
        ("ünïcode: größer", "ünïcode: größer", ""),
    ],
)
def test_what_people_wrote_is_read(message: str, subject: str, body: str) -> None:
    assert said(message) == (subject, body)


def test_no_secret_is_read() -> None:
    for message in (f"Use {KEY}", f"Use the key\n\n{KEY}\n"):
        assert KEY not in "".join(said(message))


@pytest.mark.parametrize("piece", ["a-", "@", "a@", "https://", "0", "a-b:\n", " ", "Fixes", "(cherry picked from ", "a1"])
def test_time_grows_with_the_message_and_no_faster(piece: str) -> None:
    started = time.process_time()
    said(piece * 1_000_000)
    assert time.process_time() - started < 5
