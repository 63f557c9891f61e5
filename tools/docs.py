"""Write the pages that are made from the code: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from bot.configuration_page import configuration_page

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    page = DOCS / "configuration.md"
    page.write_text(configuration_page(), encoding="utf-8")
    sys.stdout.write(f"{page}\n")


if __name__ == "__main__":
    main()
