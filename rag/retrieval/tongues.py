"""Languages that people speak, and what files in them are called: "the German messages" are in `de.ts`."""

_CODES = """
arabic ar bengali bn bulgarian bg catalan ca chinese zh croatian hr czech cs danish da dutch nl english en finnish fi french fr german de
greek el hebrew he hindi hi hungarian hu indonesian id italian it japanese ja korean ko norwegian no persian fa polish pl portuguese pt
romanian ro russian ru serbian sr slovak sk slovenian sl spanish es swedish sv thai th turkish tr ukrainian uk vietnamese vi
"""
_WORDS = _CODES.split()
CODES = dict(zip(_WORDS[::2], _WORDS[1::2], strict=True))
"""Its name in English -> its code by ISO 639-1."""
