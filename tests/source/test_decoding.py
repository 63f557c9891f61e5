import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.source.decoding import decode


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("é\n".encode(), "é\n"),
        (codecs.BOM_UTF8 + b"a\n", "a\n"),
        (codecs.BOM_UTF16_LE + "añ\r\nb".encode("utf-16-le"), "añ\nb"),
        (codecs.BOM_UTF16_BE + "añ\n".encode("utf-16-be"), "añ\n"),
        (codecs.BOM_UTF32_LE + "a\n".encode("utf-32-le"), "a\n"),
        ("naïve = 1\n".encode("latin-1"), "naïve = 1\n"),
        (codecs.BOM_UTF8 + b"caf\xe9", "café"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"a\rb\rc", "a\nb\nc"),
        (b"a\rb\nc\n", "a b\nc\n"),
    ],
)
def test_text_is_decoded_with_newlines_only(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    "data", [b"\x7fELF\x01\0\0\0", bytes(range(256)) * 4, b"a\0b", codecs.BOM_UTF16_LE + b"\x00\xd8x", b"\x01\x02\x03\x04" * 50]
)
def test_what_is_no_text_is_none(data: bytes) -> None:
    assert decode(data) is None


def test_a_stray_nul_does_not_make_source_binary() -> None:
    source = b"x = 1\n" * 300 + b'y = "\0"\n'
    text = decode(source, is_code=True)
    assert text is not None
    assert text.endswith('y = "\ufffd"\n')
    assert decode(b"\0" * 50 + source, is_code=True) is None


@given(st.binary(max_size=400), st.booleans())
def test_no_bytes_raise_and_no_carriage_return_or_nul_is_left(data: bytes, is_code: bool) -> None:
    text = decode(data, is_code=is_code)
    assert text is None or not {"\r", "\0"} & set(text)


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0\ufeff", exclude_categories=["Cc"]), max_size=20), max_size=8)
)
def test_lines_keep_their_numbers(lines: list[str]) -> None:
    data = "\r\n".join(lines).encode()
    assert decode(data) == "\n".join(lines)
