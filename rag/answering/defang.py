"""Makes foreign links, images and pings harmless text: the only links in an answer are those that code built.

What a model writes may have been dictated by a file of the repository. A link with a secret in its query leaks when it is clicked or
previewed, `<!channel>` wakes a whole channel. So outside code every address becomes a code span with its colon in brackets, links and
images keep their label only, Slack's sequences lose their brackets; inside code only what stays live in code is touched.
This is not escaping: that is the renderer's part, on everything.
"""

from __future__ import annotations

import re

_SLACK = re.compile(r"<([!@#])([^<>|\n]{0,300})(?:\|([^<>\n]{0,300}))?>")
_SLACK_IN_CODE = re.compile(r"<(?=!(?i:channel|here|everyone|group|subteam|date)|[@#][UWCGDSB][A-Z0-9]{2,})")
_LABELLED = re.compile(r"<([^<>|\n]{1,2000})\|([^<>\n]{0,300})>")
_LINK = re.compile(r"(!?)\[([^\[\]\n]{0,500})\]\(\s*[^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500}){0,3}\)")
_PING = re.compile(r"@(?=(?:here|channel|everyone|group)\b)", re.IGNORECASE)
_ENTITY = re.compile(r"&(?=#?\w{1,12};)")
_TOKEN = re.compile(r"[^\s<>`\"()\[\]{}|,;\ue000\ue001]+")
_MARK = re.compile("\ue000\\d+\ue001")
_EDGE = ".,:!?'’”“*_~…"
_SLASHES = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,40})\s?:(?=[/\\]{2})")
_SCHEME = re.compile(
    r"(https?|\b(?:ftps?|wss?|javascript|vbscript|mailto|tel|sms|slack|skype|facetime|callto|magnet|view-source|blob"
    r"|data(?=:[\w.+-]+/)|file(?=:[/\\])))\s?:(?=\S)",
    re.IGNORECASE,
)
_HOST = re.compile(r"[\w-]\.[^\W\d_][\w-]*?[^\W_]")  # enough of a dotted name; more would cost more than linear time
_RELATIVE = re.compile(r"//\w")  # a host without a scheme
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|0x[0-9a-f]{8}", re.IGNORECASE)


def defang_text(text: str) -> str:
    """Text outside code; may return code spans. Placeholders in U+E000–U+E001 pass unchanged."""
    text = _SLACK.sub(lambda match: match.group(3) or match.group(2), text)
    text = _LABELLED.sub(lambda match: f"{match.group(2)} (link removed){_marks(match.group(1))}", text)
    for _ in range(4):  # an image inside a link inside a label
        text, count = _LINK.subn(_without_its_target, text)
        if not count:
            break
    text = _ENTITY.sub("& ", _PING.sub("＠", text))
    return sweep(_TOKEN.sub(_token, text))


def _without_its_target(link: re.Match[str]) -> str:
    told = f"{link.group(2)} ({'image' if link.group(1) else 'link'} removed)".lstrip()
    return told + _marks(link.group()[link.end(2) - link.start() :])


def _marks(removed: str) -> str:
    """The footnotes in what is taken out: the statement has them still."""
    return "".join(_MARK.findall(removed))


def defang_code(text: str) -> str:
    """Code: addresses lose their colon, Slack's own sequences are broken by a space."""
    text = _SCHEME.sub(r"\1[:]", _SLASHES.sub(r"\1[:]", text))
    return _PING.sub("＠", _SLACK_IN_CODE.sub("< ", text))


def sweep(text: str) -> str:
    """The last look at a stretch of text outside code: no Markdown link, link definition, autolink (`<any:thing>`, `<a@b>`) or Slack
    sequence is left in it."""
    return re.sub(r"<(?=[!@#]|[^\s<>]*[:@])", "< ", re.sub(r"\](?=[(:])", "] ", text))


def sweep_footnotes(text: str) -> str:
    """The same for footnote numbers, once they stand in a whole statement: "[1](…" and, where a line begins, "[1]:" would be live."""
    return re.sub(r"^([\s>*+-]*(?:\d+[.)]\s*)?(?:\[\d+\])+)(?=:)", r"\1 ", re.sub(r"(\[\d+\])(?=\()", r"\1 ", text))


def looks_like_address(text: str) -> bool:
    """Whether some reader may turn the token into a link: it has a scheme, a dotted name that ends in letters, or an IPv4 address."""
    return bool(_SLASHES.search(text) or _SCHEME.search(text) or _HOST.search(text) or _ADDRESS.search(text) or _RELATIVE.search(text))


def _token(match: re.Match[str]) -> str:
    token = match.group()
    if not looks_like_address(token):
        return token
    core = token.strip(_EDGE)
    before, _, after = token.partition(core)
    return f"{before}`{defang_code(core)}`{after}" if core else token
