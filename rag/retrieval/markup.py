"""What a chat or a word processor wraps around words: marks, mentions, emoji, entities, odd spaces and quotes. Pure, in linear time."""

from __future__ import annotations

import re

_SPACES = dict.fromkeys(map(ord, "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"), " ")
_NOTHING = dict.fromkeys([0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF, 0xFE0E, 0xFE0F])
_QUOTES = {ord(mark): "'" for mark in "‘’‚‛"} | {ord(mark): '"' for mark in "“”„‟«»"}
_DASHES = {ord(mark): "-" for mark in "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"} | {ord("…"): "...", ord("\r"): "\n"}
_BULLETS = dict.fromkeys(map(ord, "•◦‣▪●"), "-")
_PICTURES = re.compile("(?<=[^\\s\U0001f000-\U0001faff\u2600-\u27bf\u2b50-\u2b5b])\\s*[\U0001f000-\U0001faff\u2600-\u27bf\u2b50-\u2b5b]+")
_LETTERS = _SPACES | _NOTHING | _QUOTES | _DASHES | _BULLETS

_SHORTCODE = re.compile(r"(?<![\w:]):(?:[a-z][a-z0-9_+'-]{1,40}|[+-]1):(?::skin-tone-[2-6]:)?(?![\w:`])")
_TOKEN = re.compile(
    r"<(?:([@!])[A-Za-z][\w^|.@ -]{0,80}|#[A-Z0-9]{3,20}(?:\|([^<>\n]{0,80}))?"
    r"|((?:https?|mailto|ftp):[^<>|\n]{1,2000})(?:\|([^<>\n]{0,300}))?)>"
)
_MENTION = re.compile(r"(?<![\w/.@])@(?:[UW][A-Z0-9]{6,14}|here|channel|everyone)(?!\w)")
_ENTITY = re.compile(r"(?<=\S)&(lt|gt|amp|quot|#39);|&(lt|gt|amp|quot|#39);(?=\S)|^&(gt);", re.MULTILINE)
_OF_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "#39": "'"}
_CITED = re.compile(r"^[ \t]*>[ \t]?(?=\S)", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*+][ \t]+|\d{1,2}[.)][ \t]+)(?=\S)")  # of a list, by itself
_FENCED = re.compile(r"\s*```(?:[a-z]{1,12}\n)?([^`]+)```\s*")
_ONE_WORD = re.compile(r"\s*(?:[*~]{1,2}([^\s*~]+)[*~]{1,2}|_([A-Z][^\s*~]*[^\s*~_])_)\s*")
_WRAPPED = re.compile(r"\s*([*_~])(?=\S)([^\n]* [^\n]*)(?<=\S)\1\s*")
_QUOTED = re.compile(r"\s*(?:\"([^\"]+)\"|'([^']+)')\s*")
# Only around several words: one alone may be a name, a glob, a pointer.
_EMPHASIS = re.compile(
    r"(?<![\w*~`/])(?:(\*{1,3}|~{1,2})(?=[^\s*~_])([^*~`\n]{0,300}?[^\s*~_`])\1|(__?)(?=[^\s_])([^_`\n]{0,300}?[^\s_`])\3)(?![\w*~`/])"
)
_LOOSE = re.compile(r"(?<!\w)[*_~]|[*_~](?!\w)")


def plain(text: str) -> str:
    """The words of a short message without what only dresses them. Of a link with a label the label, unless it points at a file."""
    text = _PICTURES.sub("\n", text.translate(_LETTERS))  # they end a sentence; one that begins it is a heading's
    text = _ENTITY.sub(lambda found: _OF_ENTITIES[found[1] or found[2] or found[3]], text) if "&" in text else text
    text = _TOKEN.sub(_shown, text) if "<" in text else text
    text = _MENTION.sub(" ", text) if "@" in text else text
    text = _SHORTCODE.sub("\n", text) if ":" in text else text
    if whole := _FENCED.fullmatch(text):
        text = whole[1]
    if (wrapped := _WRAPPED.fullmatch(text)) and not _LOOSE.search(wrapped[2]):
        text = wrapped[2]
    text = _EMPHASIS.sub(_undressed, text)
    if whole := _ONE_WORD.fullmatch(text) or _QUOTED.fullmatch(text):
        text = whole[1] or whole[2]
    text = _CITED.sub("", text)
    if "\n" not in text.strip():
        text = _ITEM.sub("", text)
    lines = [re.sub(r"[ \t]+", " ", line).strip() if line[:1].strip() else line.rstrip() for line in text.split("\n")]
    return "\n".join(lines).strip()


def _shown(token: re.Match[str]) -> str:
    """Of people and groups nothing, of a channel its name, of a link its label, or where it leads if that is a file on a host."""
    _, channel, link, label = token.groups()
    if link is None:
        return f"#{channel}" if channel else " "
    at_a_file = re.search(r"/(?:blob|blame|raw|src|tree)/", link) is not None
    return link if at_a_file or not label or "://" in label else label


def _undressed(found: re.Match[str]) -> str:
    inner = str(found[2] or found[4])
    return inner if " " in inner else found[0]
