"""Text that a tokenizer accepts."""

from __future__ import annotations


def well_formed(text: str) -> str:
    """Lone surrogates, which a file name or a JSON escape can bring, are no Unicode to the tokenizer."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
