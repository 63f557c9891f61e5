"""What a person types, as Slack stores it: escaped text with mentions, channels and addresses marked, and the same as rich text."""

from __future__ import annotations

import html
import re

from playground.model import Json
from playground.workspace import Workspace

_PART = re.compile(
    r"(?P<code>```.+?```|`[^`\n]+`)"
    r"|(?P<marked><(?:@[A-Z0-9]+|#[A-Z0-9]+(?:\|[^<>|]*)?|!(?:here|channel|everyone))>)"
    r"|(?P<link>https?://[^\s<>|`]+[^\s<>|`.,;:!?)\]'\"])"
    r"|(?<![\w@./])@(?P<person>[a-z0-9][a-z0-9._-]*)"
    r"|(?<![\w#/&])#(?P<channel>[a-z0-9][a-z0-9_-]*)",
    re.DOTALL,
)


def escape(text: str) -> str:
    """The three characters that Slack escapes."""
    return html.escape(text, quote=False)


def compose(typed: str, workspace: Workspace) -> tuple[str, list[Json]]:
    """(text, blocks) of a message that a person typed. `<@U…>` and the like may stand in it already marked."""
    people = {person.name: person.id for person in workspace.people.values()}
    channels = {channel.name: channel.id for channel in workspace.channels.values() if channel.name}
    text: list[str] = []
    elements: list[Json] = []

    def plain(piece: str) -> None:
        if piece:
            text.append(escape(piece))
            elements.append({"type": "text", "text": piece})

    def mark(written: str, element: Json) -> None:
        text.append(written)
        elements.append(element)

    end = 0
    for match in _PART.finditer(typed):
        plain(typed[end : match.start()])
        end = match.end()
        whole = match.group()
        name, place = match["person"], match["channel"]
        if match["marked"]:
            mark(whole, _marked(whole))
        elif match["link"]:
            mark(f"<{escape(whole)}>", {"type": "link", "url": whole})
        elif match["code"]:
            mark(escape(whole), {"type": "text", "text": whole.strip("`"), "style": {"code": True}})
        elif name and name.rstrip(".-_") in people:
            known = name.rstrip(".-_")
            mark(f"<@{people[known]}>", {"type": "user", "user_id": people[known]})
            plain(name[len(known) :])
        elif name in ("here", "channel", "everyone"):
            mark(f"<!{name}>", {"type": "broadcast", "range": name})
        elif place and place in channels:
            mark(f"<#{channels[place]}|{place}>", {"type": "channel", "channel_id": channels[place]})
        else:
            plain(whole)
    plain(typed[end:])
    block_id = f"b{abs(hash(typed)) % 10**5:05d}"
    blocks: list[Json] = [{"type": "rich_text", "block_id": block_id, "elements": [{"type": "rich_text_section", "elements": elements}]}]
    return "".join(text), blocks if elements else []


def _marked(written: str) -> Json:
    inner = written[1:-1]
    if inner.startswith("@"):
        return {"type": "user", "user_id": inner[1:]}
    if inner.startswith("#"):
        return {"type": "channel", "channel_id": inner[1:].partition("|")[0]}
    return {"type": "broadcast", "range": inner[1:]}
