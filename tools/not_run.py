"""Say loudly which tests did not run, and why. With FOOTNOTE_ALL_TESTS=1 (as CI sets it) that is a failure."""

from __future__ import annotations

import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def main(report: Path) -> int:
    if not report.exists() or not report.stat().st_size:
        sys.stderr.write("pytest wrote no report: no test ran\n")
        return 1
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    skipped = [
        (case.get("classname", ""), case.get("name", ""), found.get("message", "")) for case in cases for found in case.iter("skipped")
    ]
    if not skipped:
        return 0
    bar = "!" * 100
    sys.stderr.write(f"\n{bar}\n{len(skipped)} of {len(cases)} TESTS DID NOT RUN:\n")
    for place, name, reason in skipped:
        sys.stderr.write(f"  {place}::{name}\n    {reason}\n")
    sys.stderr.write(f"The browser tests need Chromium (Debian: apt-get install chromium).\n{bar}\n")
    return 1 if os.environ.get("FOOTNOTE_ALL_TESTS") == "1" else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
