"""Answers, messages and views -> Slack's blocks. Pure, and the one place that escapes.

Everything that did not come from this module's own words is escaped: `&`, `<` and `>` become entities, so that no text can ping a
channel, name a person or hide a link (`<!channel>`, `<@U…>`, `<https://…|label>`). Limits: https://docs.slack.dev/reference/block-kit
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any
from urllib.parse import quote

from bot.fences import split_markdown
from rag.types import Answer, Citation, Twin

Block = dict[str, Any]

MARKDOWN_LIMIT = 12_000  # characters of all markdown blocks of a message together
# Slack refuses whole messages from about 13,200 characters on, whatever their parts; so much each may hold of text, footnotes and footer:
BODY_LIMIT, FOOTNOTES_LIMIT, FOOTER_LIMIT = 8_000, 4_000, 1_000
SECTION_LIMIT = 3_000
SUMMARY_LIMIT = 3_900  # the notification's text; chat.update refuses more than 4,000
BLOCKS_LIMIT = 50
MAX_PARTS = 4  # messages that one answer may take
VOTE_ACTION = "answer_vote"
METADATA_EVENT = "footnote_answer"
_PATH_SHOWN = 160
_URL_LIMIT = 2_000  # with a path of 160 characters, all escaped, a line stays within a section


@dataclass(frozen=True, slots=True)
class Message:
    """What goes into the thread. `body`: Markdown, escaped. `tail`: blocks under its last part. `summary`: notification text, escaped."""

    body: str
    tail: tuple[Block, ...]
    summary: str

    def to_json(self) -> str:
        return json.dumps({"body": self.body, "tail": self.tail, "summary": self.summary}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Message:
        stored = json.loads(text)
        return cls(stored["body"], tuple(stored["tail"]), stored["summary"])


def escape(text: str) -> str:
    """For Markdown and mrkdwn alike. Control characters other than line feed and tab go."""
    text = text.replace("\r\n", "\n").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(char for char in text if char in "\n\t" or char.isprintable() or char in "\u200d\u00a0\u3000")


def answer_message(answer: Answer, now: datetime, notices: Sequence[str] = ()) -> Message:
    """`notices`: what the reader is told beside what the answer itself says."""
    body = escape(answer.text).rstrip() or "The answer is empty."
    tail = [*citation_blocks(answer.citations), footer_block(answer, now, notices), vote_block(answer.id)]
    return Message(body, tuple(tail), cut(body, SUMMARY_LIMIT))


def notice_message(words: str, reference: str = "") -> Message:
    """A clear message in an answer's place. `words` are our own or were made with `escape` and `code`."""
    tail = (_context([f"Reference `{escape(reference)}`"]),) if reference else ()
    return Message(words, tail, cut(words, SUMMARY_LIMIT))


def parts_of(body: str) -> list[str]:
    """The body as texts of messages, at most MAX_PARTS. What does not fit is left out, and the last part says so."""
    parts = split_markdown(body, BODY_LIMIT)
    if len(parts) > MAX_PARTS:
        kept = split_markdown(parts[MAX_PARTS - 1], BODY_LIMIT - 200)[0]
        parts = [*parts[: MAX_PARTS - 1], kept + "\n\n_The answer is longer than a thread can hold; the rest was left out._"]
    return parts


def posted_blocks(part: str, tail: Sequence[Block]) -> list[Block]:
    """A message that was not streamed: its text as one markdown block, then the tail. `part` is at most BODY_LIMIT characters."""
    return [{"type": "markdown", "text": part}, *tail][:BLOCKS_LIMIT]


def citation_blocks(citations: Sequence[Citation]) -> list[Block]:
    """The footnotes, a line each, in as few sections as their limit allows."""
    lines = [citation_line(citation) for citation in citations]
    room = FOOTNOTES_LIMIT - 40
    fitting = sum(1 for total in accumulate(len(line) + 1 for line in lines) if total <= room)
    if fitting < len(lines):
        lines = [*lines[:fitting], f"… and {len(lines) - fitting} more footnotes"]
    texts: list[str] = []
    for line in lines:
        if texts and len(texts[-1]) + 1 + len(line) <= SECTION_LIMIT:
            texts[-1] += "\n" + line
        else:
            texts.append(line)
    return [{"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}} for text in texts]


def citation_line(citation: Citation) -> str:
    """`[1] <permalink|path:10-20> `abc1234`` where there is a permalink, the place alone where there is none; then one twin."""
    line = f"[{citation.number}] {_place(citation)} {code(citation.commit[:7])}"
    if not citation.also:
        return line
    more = f" and {len(citation.also) - 1} more" if len(citation.also) > 1 else ""
    also = f" · also in {_place(citation.also[0])}{more}"
    return line + also if len(line) + len(also) < SECTION_LIMIT else line


def _place(where: Citation | Twin) -> str:
    path = where.path if len(where.path) <= _PATH_SHOWN else "…" + where.path[-_PATH_SHOWN:]
    place = one_line(f"{path}:{where.start_line}-{where.end_line}")
    url = safe_url(where.permalink)
    return f"<{url}|{place}>" if url else code(place)


def safe_url(url: str) -> str:
    """An address fit for `<url|label>`, "" for what is none: only http and https, nothing that ends the link or starts another."""
    if not url.startswith(("https://", "http://")):
        return ""
    quoted = quote(url, safe=":/?#[]@!$&'()*+,;=%~-._").replace("&", "&amp;")
    return quoted if len(quoted) <= _URL_LIMIT else ""


def footer_block(answer: Answer, now: datetime, notices: Sequence[str] = ()) -> Block:
    """Repository, commit, age and generator, then everything that the reader should know about this answer."""
    index = answer.index
    branch = f" ({one_line(index.branch)})" if index.branch else ""
    without_model = {"extractive": "excerpts, no model wrote this", "history": "from the history, no model wrote this"}
    written = without_model.get(answer.generator) or f"written by {one_line(answer.generator)}"
    notes = [f"{code(answer.repository)} at {code(index.commit[:7])}{branch} · indexed {age(index.built_at, now)} · {written}"]
    told = " ".join(answer.notices).lower()
    if not index.dense_ready and not index.notices and "being built" not in told:
        notes.append("Only the sparse part of the index stands so far; the dense part is being built.")
    if answer.dropped_citations and "footnote" not in told:
        notes.append(f"{answer.dropped_citations} footnote numbers led nowhere and were left out.")
    if answer.ungrounded and not any(name.lower() in told for name in answer.ungrounded):
        notes.append("Not found in the cited lines: " + ", ".join(code(name) for name in answer.ungrounded[:8]))
    notes += [one_line(notice) for notice in (*answer.notices, *notices)]
    return _context(notes)


def vote_block(answer_id: str) -> Block:
    def button(text: str, value: str, label: str) -> Block:
        return {"text": {"type": "plain_text", "text": text}, "value": value, "accessibility_label": label}

    return {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": VOTE_ACTION,
                "positive_button": button("Helpful", f"up:{answer_id}", "This answer helped"),
                "negative_button": button("Not helpful", f"down:{answer_id}", "This answer did not help"),
            }
        ],
    }


def vote_value(value: str) -> tuple[str, int] | None:
    """What a vote button carries -> (answer id, 1 or -1); None for anything else."""
    direction, _, answer_id = value.partition(":")
    votes = {"up": 1, "down": -1}
    return (answer_id, votes[direction]) if answer_id and direction in votes else None


def age(then: datetime, now: datetime) -> str:
    """Like "just now", "5 minutes ago", "3 hours ago", "2 days ago"."""
    minutes = max(0, int((now - then).total_seconds() // 60))
    for size, unit in ((1440, "day"), (60, "hour"), (1, "minute")):
        count = minutes // size
        if count:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def code(text: str) -> str:
    """In code style, on one line, escaped; a back tick inside would end it and becomes an apostrophe."""
    return f"`{one_line(text).replace('`', chr(39)) or ' '}`"


def one_line(text: str) -> str:
    return " ".join(escape(text).split())


def section(text: str) -> Block:
    """`text` is mrkdwn, escaped already."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": cut(text, SECTION_LIMIT) or " "}}


def _context(texts: Sequence[str]) -> Block:
    """At most ten elements, each cut to what it may hold; where there are more texts, the last holds the rest."""
    kept = [text for text in texts if text]
    shown = kept if len(kept) <= 10 else [*kept[:9], " · ".join(kept[9:])]
    elements = [{"type": "mrkdwn", "text": cut(text, FOOTER_LIMIT // len(shown)), "verbatim": True} for text in shown]
    return {"type": "context", "elements": elements}


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, "…" where something was left out; never within an entity."""
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    entity = kept.rfind("&")
    if entity >= 0 and len(kept) - entity < 6 and ";" not in kept[entity:]:
        kept = kept[:entity]
    return kept + "…"
