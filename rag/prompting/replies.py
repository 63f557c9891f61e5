"""A language model asked for one JSON object: its reply is that object to the letter, or it is malformed.

Nothing is guessed or mended. A reply with other keys than were asked for, with a key twice, with NaN, a number in quotes, `true` where a
number belongs or a number out of its range is no reply. A Markdown fence around the whole of it is all that is forgiven.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from rag.errors import ReplyMalformed
from rag.protocols import LanguageModel

_FENCED = re.compile(r"```(?:json)?\s*\n(.*)\n```", re.DOTALL)


class ReplyForm(BaseModel):
    """What a reply has to be. Numbers state their range in the form; a field without one takes any finite number."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


F = TypeVar("F", bound=ReplyForm)


async def ask_for(
    form: type[F], model: LanguageModel, messages: Sequence[tuple[str, str]], *, max_tokens: int, most_chars: int = 4_000
) -> F:
    """The reply, written at temperature 0. One of more than `most_chars` characters is given up while it comes.

    Raises: ReplyMalformed; GeneratorError.
    """
    parts: list[str] = []
    length = 0
    stream = model.stream(messages, temperature=0.0, max_tokens=max_tokens)
    try:
        async for part in stream:
            parts.append(part)
            length += len(part)
            if length > most_chars:
                raise _malformed(model.name, f"more than {most_chars} characters")
    finally:
        if close := getattr(stream, "aclose", None):  # a connection is not kept for what nobody reads
            await close()
    return read_reply("".join(parts), form, model.name)


def read_reply(raw: str, form: type[F], writer: str = "The language model") -> F:
    """The object that a whole reply is. `writer` is named in the error. Raises: ReplyMalformed."""
    body = raw.strip()
    fenced = _FENCED.fullmatch(body)
    try:
        return form.model_validate(json.loads(fenced[1] if fenced else body, object_pairs_hook=_once_each, parse_constant=_no_number))
    except ValidationError as error:
        raise _malformed(writer, f"{error.error_count()} faults") from None
    except (ValueError, RecursionError):
        raise _malformed(writer, "no JSON object") from None


def _malformed(writer: str, why: str) -> ReplyMalformed:
    return ReplyMalformed(f"{writer} did not reply in the form asked for ({why}).", "Ask again; if it happens often, use another model.")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Which of two values would count is not ours to choose."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_number(name: str) -> NoReturn:
    """NaN and Infinity are no JSON."""
    raise ValueError(name)
