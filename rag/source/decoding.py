"""Bytes of a blob -> text with "\\n" line ends, or None for what is no text."""

from __future__ import annotations

import codecs

_LOOKED_AT = 8000  # bytes in which git, too, looks for a NUL
_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\r\f\x0b\x1b\x08") + b"\x7f"
_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode(data: bytes, *, is_code: bool = False) -> str | None:
    """The text, with lines numbered as in the file, or None if the bytes are binary.

    A byte order mark decides; else UTF-8; else latin-1, which never fails. `is_code`: the name says that it is source, so
    that a stray NUL (as test data of parsers has them) does not make it binary; it becomes U+FFFD.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                if encoding != "utf-8":
                    return None
                data = data[len(mark) :]
                break
            return _lines(text.replace("\0", "\ufffd"))
    nuls = data.count(b"\0")
    if nuls and (not is_code or nuls * 1000 > max(len(data), 1000) or data.startswith(b"\x7fELF")):
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        head = data[:_LOOKED_AT]
        if len(head) - len(head.translate(None, _CONTROL)) > len(head) // 100:
            return None
        text = data.decode("latin-1")
    else:
        if not is_code and len(data) >= 64 and len(data) - len(data.translate(None, _CONTROL)) > len(data) // 10:
            return None
    return _lines(text.replace("\0", "\ufffd"))


def _lines(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if "\r" in text:
        # Old Mac files end their lines with it; anywhere else it is a stray that would shift line numbers.
        text = text.replace("\r", " " if "\n" in text else "\n")
    return text
