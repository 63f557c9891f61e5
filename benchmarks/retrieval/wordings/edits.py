"""Questions with other letters: slips of the keyboard, case, how names are joined, British and American spelling, abbreviations."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from benchmarks.retrieval.wordings.wording import ALL, Kind, Wording

_SENTENCES: frozenset[Kind] = ALL - {"symbol"}
_CONTENT = re.compile(r"(?<![\w./#:`-])[a-z]{6,}(?![\w./#:(`])")  # words, not names
_NEIGHBOURS = {
    key: row[max(0, at - 1) : at] + row[at + 1 : at + 2] for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm") for at, key in enumerate(row)
}
_NAME = re.compile(r"\b[A-Za-z]+[a-z0-9][A-Z]\w*\b|\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_QUALIFIED = re.compile(r"\b([A-Za-z_]\w+)(::|#|\.)([A-Za-z_]\w+)\b(?!\.)")
_COMMON = frozenset("should before between another through without within during whether however there their which would could".split())  # noqa: SIM905

_STEMS = (
    *("normal", "serial", "initial", "synchron", "optim", "custom", "organ", "recogn", "author", "token", "final", "summar", "sanit"),
    *("parallel", "material", "capital", "minim", "maxim"),
)
_BRITISH = (
    *((stem + ending, stem + ending.replace("z", "s")) for stem in _STEMS for ending in ("ize", "ization", "izer")),
    ("color", "colour"), ("behavior", "behaviour"), ("canceled", "cancelled"), ("canceling", "cancelling"), ("center", "centre"),
    ("license", "licence"), ("favor", "favour"), ("labeled", "labelled"), ("modeling", "modelling"), ("analyze", "analyse"),
    ("catalog", "catalogue"), ("gray", "grey"), ("honor", "honour"), ("neighbor", "neighbour"),
)  # fmt: skip
_SHORT = (
    ("configuration", "config"), ("authentication", "auth"), ("authorization", "auth"), ("database", "db"), ("repository", "repo"),
    ("parameters", "params"), ("parameter", "param"), ("message", "msg"), ("messages", "msgs"), ("context", "ctx"),
    ("initialization", "init"), ("initialize", "init"),
    ("asynchronous", "async"), ("environment", "env"), ("directory", "dir"), ("directories", "dirs"),
    ("function", "func"), ("functions", "funcs"), ("implementation", "impl"), ("error", "err"), ("request", "req"), ("response", "res"),
    ("connection", "conn"), ("specification", "spec"), ("documentation", "docs"), ("library", "lib"), ("package", "pkg"),
    ("internationalization", "i18n"), ("localization", "l10n"), ("kubernetes", "k8s"), ("arguments", "args"), ("argument", "arg"),
    ("command", "cmd"), ("reference", "ref"), ("expression", "expr"), ("variable", "var"), ("variables", "vars"), ("attribute", "attr"),
    ("attributes", "attrs"), ("application", "app"), ("temporary", "tmp"), ("maximum", "max"), ("minimum", "min"), ("number", "num"),
    ("string", "str"), ("object", "obj"), ("value", "val"), ("index", "idx"), ("buffer", "buf"), ("source", "src"), ("previous", "prev"),
    ("image", "img"), ("certificate", "cert"), ("dependency", "dep"), ("dependencies", "deps"), ("dependency injection", "DI"),
    ("synchronization", "sync"), ("synchronous", "sync"), ("property", "prop"), ("properties", "props"), ("statement", "stmt"),
    ("administrator", "admin"), ("information", "info"), ("execution", "exec"), ("execute", "exec"), ("utilities", "utils"),
    ("utility", "util"), ("user interface", "UI"), ("operating system", "OS"), ("regular expression", "regex"), ("identifier", "id"),
)  # fmt: skip

_LENGTHENED = tuple(pair for pair in _SHORT if pair[1] not in ("id", "num", "val", "max", "min"))  # those are words of their own


def _typo(how: str) -> Callable[[str, Random], str | None]:
    def say(text: str, random: Random) -> str | None:
        words = [match for match in _CONTENT.finditer(text) if match[0] not in _COMMON]
        if not words:
            return None
        chosen = random.choice(words)
        word, at = chosen[0], random.randrange(1, len(chosen[0]) - 1)  # people seldom miss the first letter
        if how == "swap":
            wrong = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        elif how == "drop":
            wrong = word[:at] + word[at + 1 :]
        elif how == "double":
            wrong = word[:at] + word[at] + word[at:]
        else:
            wrong = word[:at] + random.choice(_NEIGHBOURS[word[at]]) + word[at + 1 :]
        return text[: chosen.start()] + wrong + text[chosen.end() :] if wrong != word else None

    return say


def _joined(join: Callable[[list[str]], str]) -> Callable[[str, Random], str | None]:
    def say(text: str, random: Random) -> str | None:
        return _changed(text, _NAME.sub(lambda name: join(_PART.findall(name[0])), text))

    return say


def _swapped(pairs: tuple[tuple[str, str], ...], *, back: bool) -> Callable[[str, Random], str | None]:
    table = {pair[1]: pair[0] for pair in pairs} if back else dict(pairs)
    pattern = re.compile(rf"(?<![\w.`/-])({'|'.join(sorted(table, key=len, reverse=True))})(d|s|r)?(?![\w.`/(-])")

    def say(text: str, random: Random) -> str | None:
        return _changed(text, pattern.sub(lambda found: table[found[1]] + (found[2] or ""), text))

    return say


def _plural(text: str, random: Random) -> str | None:
    words = [
        match for match in _CONTENT.finditer(text) if match[0] not in _COMMON and not match[0].endswith(("ing", "ed", "ly", "ss", "es"))
    ]
    if not words:
        return None
    chosen = random.choice(words)
    word = chosen[0]
    other = word[:-1] if word.endswith("s") else word[:-1] + "ies" if word.endswith("y") else word + "s"
    return text[: chosen.start()] + other + text[chosen.end() :]


def _called(text: str, random: Random) -> str | None:
    return _changed(text, _NAME.sub(lambda name: f"{name[0]}()", text, count=1))


def _qualified(joint: str) -> Callable[[str, Random], str | None]:
    return lambda text, random: _changed(text, _QUALIFIED.sub(lambda name: f"{name[1]}{joint}{name[3]}", text))


def _prefixed(prefix: str) -> Callable[[str, Random], str | None]:
    return lambda text, random: _changed(text, _NAME.sub(lambda name: f"{prefix}{name[0]}", text, count=1))


def _changed(before: str, after: str) -> str | None:
    return after if after != before else None


WORDINGS: tuple[Wording, ...] = (
    *(Wording("typo", how, _typo(how), kinds=_SENTENCES) for how in ("swap", "drop", "double", "neighbour key")),
    Wording("case", "all lower case", lambda text, random: _changed(text, text.lower())),
    Wording("case", "ALL CAPITALS", lambda text, random: _changed(text, text.upper())),
    Wording("case", "Title Case", lambda text, random: _changed(text, " ".join(word[:1].upper() + word[1:] for word in text.split(" ")))),
    Wording("names", "snake_case", _joined(lambda parts: "_".join(parts).lower())),
    Wording("names", "camelCase", _joined(lambda parts: parts[0].lower() + "".join(part.capitalize() for part in parts[1:]))),
    Wording("names", "in words", _joined(lambda parts: " ".join(parts).lower())),
    Wording("names", "with-hyphens", _joined(lambda parts: "-".join(parts).lower())),
    Wording("names", "joined", _joined(lambda parts: "".join(parts).lower())),
    Wording("marks", "name()", _called),
    Wording("marks", "@name", _prefixed("@")),
    Wording("marks", "$name", _prefixed("$")),
    Wording("marks", "Scope::name", _qualified("::")),
    Wording("marks", "Scope#name", _qualified("#")),
    Wording("marks", "Scope.name", _qualified(".")),
    Wording("marks", "a full stop behind", lambda text, random: text.rstrip(" ?.") + "."),
    Wording("marks", "a question mark behind", lambda text, random: _changed(text, text.rstrip(" ?.") + "?")),
    Wording("number", "one word in the other number", _plural, kinds=_SENTENCES),
    Wording("spelling", "British", _swapped(_BRITISH, back=False)),
    Wording("spelling", "American", _swapped(_BRITISH, back=True)),
    Wording("abbreviations", "short for long", _swapped(_SHORT, back=False)),
    Wording("abbreviations", "long for short", _swapped(_LENGTHENED, back=True)),
)  # fmt: skip
