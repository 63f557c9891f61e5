"""The fixed words that stand where an answer cannot. Never the text of an exception: it may hold what nobody here should read."""

from __future__ import annotations

from bot.access import Place
from bot.render import code, escape
from bot.routing import NoChoice
from rag.errors import (
    BuildRunning,
    DatabaseError,
    DiskFull,
    EmptyRepository,
    GeneratorBusy,
    GeneratorCut,
    GeneratorError,
    IndexCorrupt,
    IndexMismatch,
    ModelError,
    NotIndexed,
    PromptTooLarge,
    RetrievalError,
)

EXAMPLE = "How are routes registered?"


def for_error(error: BaseException, repository: str, *, building: bool) -> str:
    """What went wrong and what helps. `building`: the repository's index is being built right now."""
    name = code(repository)
    if isinstance(error, NotIndexed | BuildRunning):
        if building or isinstance(error, BuildRunning):
            return f"{name} is being indexed for the first time and cannot answer yet. Ask again in a minute or two."
        return f"{name} has not been indexed yet, so there is nothing to search. Whoever runs Footnote can index it: `footnote index`."
    if isinstance(error, EmptyRepository):
        return f"{name} holds nothing that can be indexed, so there is nothing to search. Commit something to it, or check its branch."
    if isinstance(error, IndexMismatch):
        return f"The index of {name} was written by another version of Footnote and cannot be read. Rebuild it with `footnote index`."
    if isinstance(error, IndexCorrupt):
        return f"The index of {name} is damaged and is not searched. Rebuild it with `footnote index`."
    if isinstance(error, ModelError):
        return "The embedding model cannot be used, so I could not search. Whoever runs Footnote can find out why: `footnote doctor`."
    if isinstance(error, RetrievalError):
        return (
            f"The search in {name} failed. That does not mean that it holds no answer. Ask again; if it stays, tell whoever runs Footnote."
        )
    if isinstance(error, GeneratorBusy):
        return "The language model is at its rate limit. Ask again in a minute or two."
    if isinstance(error, PromptTooLarge):
        return "The question and what was found are too long for the language model. Ask about less at once, or name a file or a function."
    if isinstance(error, GeneratorCut):
        return "The language model broke off before it was finished, so what it wrote may be incomplete. Ask again."
    if isinstance(error, GeneratorError):
        return "The language model cannot be reached or refused, so no answer was written. Ask again later; `footnote doctor` says why."
    if isinstance(error, DiskFull | DatabaseError):
        return (
            "I cannot write to my own store, and answer nothing that I cannot log. Tell whoever runs Footnote: `footnote doctor` says why."
        )
    if isinstance(error, TimeoutError):
        return "This took too long, and I stopped. Ask again, or ask about less at once."
    return "Something went wrong on my side, and no answer was written. Ask again; if it stays, tell whoever runs Footnote the reference."


def for_place(place: Place) -> str:
    """Why nothing may be told here. Names no repository."""
    return {
        "shared": "This channel is shared with another organisation, so I tell nothing of repositories here. Ask in an internal one.",
        "outsider": "I answer members of this workspace only, not guests or people from elsewhere. Ask a member to ask.",
        "unknown": "I could not check who may read this channel, so I tell nothing here. Ask again in a minute.",
    }.get(place.problem) or (
        "No repository may be discussed in this channel. Whoever runs Footnote can allow one: `audience` in `footnote.toml`."
    )


def for_no_choice(choice: NoChoice) -> str:
    """Which repositories there are to choose from. A name that is not allowed here is told like one that does not exist."""
    names = ", ".join(code(name) for name in choice.choices)
    if choice.unknown:
        hint = f" Did you mean {code(choice.nearest)}?" if choice.nearest else ""
        return f"There is no repository called {code(choice.unknown)} that may be discussed here.{hint} There are: {names}."
    first = choice.choices[0] if choice.choices else "NAME"
    return (
        f"Which repository is this about? There are: {names}. Ask again with its name in front, like {code(f'in {first}: {EXAMPLE}')},"
        f" or set one for this channel: {code(f'/repo use {first}')}."
    )


def for_refusal(reason: str) -> str:
    if reason == "user":
        return "You have asked a lot in a short time, so I leave this one out. Ask it again in a few minutes."
    return "Too many questions are waiting, so I leave this one out. Ask it again in a few minutes."


def for_empty(names: list[str]) -> str:
    known = ", ".join(code(name) for name in names)
    return f"Ask me something about {known}, for example: {escape(EXAMPLE)}"


GAVE_UP = (
    "I could not finish this answer, also not after several attempts. Ask again; if it stays, tell whoever runs Footnote the reference."
)
TOO_LONG = "The question was longer than I read: I took its beginning."
