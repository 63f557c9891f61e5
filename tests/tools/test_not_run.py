"""`make test` says loudly which tests did not run; CI fails for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.not_run import main

SKIPPED = """<testsuites><testsuite><testcase classname="tests.a" name="ran"/>
<testcase classname="tests.b" name="test_page"><skipped type="pytest.skip" message="needs Chromium"/></testcase></testsuite></testsuites>"""
ALL_RAN = """<testsuites><testsuite><testcase classname="tests.a" name="ran"/></testsuite></testsuites>"""


@pytest.mark.parametrize(("everything", "code"), [("1", 1), ("", 0)])
def test_a_skipped_test_is_named_and_fails_only_where_all_must_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], everything: str, code: int
) -> None:
    monkeypatch.setenv("FOOTNOTE_ALL_TESTS", everything)
    (tmp_path / "report.xml").write_text(SKIPPED)
    assert main(tmp_path / "report.xml") == code
    said = capsys.readouterr().err
    assert "1 of 2 TESTS DID NOT RUN" in said
    assert "tests.b::test_page" in said
    assert "needs Chromium" in said
    assert "apt-get install chromium" in said


def test_where_all_ran_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FOOTNOTE_ALL_TESTS", "1")
    (tmp_path / "report.xml").write_text(ALL_RAN)
    assert main(tmp_path / "report.xml") == 0
    assert capsys.readouterr().err == ""


def test_no_report_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text("")
    assert main(tmp_path / "report.xml") == 1
