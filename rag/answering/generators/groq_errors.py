"""What a refusal of Groq means, and whether waiting helps.

Nothing of a provider's own words goes into our errors: they can quote the key, the prompt or the organisation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from rag.errors import GeneratorBusy, GeneratorError, GeneratorUnavailable, PromptTooLarge

_LIMIT = re.compile(r"(tokens|requests|audio seconds) per (minute|hour|day)", re.IGNORECASE)
_AMOUNTS = re.compile(r"limit:? (\d+).*?requested:? (\d+)", re.IGNORECASE | re.DOTALL)
_WAIT = re.compile(r"try again in (?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?", re.IGNORECASE)
_TOO_LARGE = re.compile(r"request too large|reduce (?:the length|your message)|context.length|maximum context", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """`retry_after`: seconds after which another attempt makes sense, None where none does, 0.0 where the server named none."""

    error: GeneratorError
    retry_after: float | None


def refusal(status: int, message: str, code: str, headers: Mapping[str, str], model: str, now: datetime) -> Refusal:
    """`status`: of HTTP; `message`, `code`: from the body's error, "" if it had none; `headers`: keys in lower case."""
    wait = _retry_after(headers, message, now)
    if status == 413 or (status in (400, 422, 429) and _is_too_large(message, code)):
        return Refusal(
            PromptTooLarge(
                f"The prompt and the answer together are too large for {model}.",
                "Lower max_tokens or the number of results, or raise the provider's limit.",
            ),
            None,
        )
    if status == 429:
        limit = _LIMIT.search(message)
        named = f" ({limit.group(1).lower()} per {limit.group(2).lower()})" if limit else ""
        until = f"Try again in {wait:.0f} seconds." if wait else "Try again later, or raise the provider's limit."
        return Refusal(GeneratorBusy(f"The rate limit of {model}{named} is reached.", until), wait)
    if status in (401, 403):
        return Refusal(
            GeneratorUnavailable(
                f"Groq refused the key for {model} (HTTP {status}).", "Set GROQ_API_KEY to a valid key that may use this model."
            ),
            None,
        )
    if status == 404:
        return Refusal(
            GeneratorUnavailable(f"Groq does not know {model} at this address (HTTP 404).", "Check the model's name and GROQ_BASE_URL."),
            None,
        )
    if status in (408, 409) or status >= 500:
        return Refusal(GeneratorUnavailable(f"{model} failed (HTTP {status}).", "Try again later; see Groq's status page."), wait)
    return Refusal(
        GeneratorUnavailable(
            f"{model} refused the request (HTTP {status}).", "Check the model's name, temperature, max_tokens and GROQ_BASE_URL."
        ),
        None,
    )


def _is_too_large(message: str, code: str) -> bool:
    if code == "context_length_exceeded" or _TOO_LARGE.search(message):
        return True
    amounts = _AMOUNTS.search(message)
    return bool(amounts and int(amounts.group(2)) > int(amounts.group(1)))


def _retry_after(headers: Mapping[str, str], message: str, now: datetime) -> float:
    """Seconds, from the header (a number or a date) or from the message; 0.0 where neither says."""
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
        return float(value)
    if value:
        try:
            moment = parsedate_to_datetime(value)
            return max(0.0, (moment - now).total_seconds()) if moment.tzinfo else 0.0
        except ValueError:
            pass
    match = _WAIT.search(message)
    if not match:
        return 0.0
    hours, minutes, seconds, milliseconds = (float(group or 0) for group in match.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
