"""docs/configuration.md, written from the settings themselves: `make docs`. A test fails when the page and the settings differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import annotated_types
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bot.configuration import LISTS, environment_variables
from bot.settings import INTERNAL, Section, Settings

HEAD = """# Configuration

<!-- Made from bot/settings.py by `make docs`; change it there. -->

Footnote reads one file, `footnote.toml`: the one that `--config` (or `FOOTNOTE_CONFIG`) names, else the one in the current directory,
else the one in the data directory. Without a file everything has its default, and `footnote index`, `search`, `ask` and `playground` work.
A variable `FOOTNOTE_SECTION_KEY` wins over the file. A misspelt key or variable is an error that names the nearest right one.

```toml
[[repositories]]
name = "shop"
source = "https://github.com/example/shop"
audience = ["C0123ABCD", "dm"]   # who in Slack may hear about it; without this, nobody
generator = "groq"               # without this, its code never leaves this machine

[[channels]]
id = "C0123ABCD"
repository = "shop"

[schedule]
nightly = "0 2 * * *"
```

What `footnote index` adds by hand is known to the command line and the playground alone; Slack hears only of what the file names.

## Secrets

From the environment alone; a file that holds one is refused.

| variable | what it is |
|---|---|
| `SLACK_BOT_TOKEN` | the bot's token, `xoxb-…`; needed by `footnote serve` |
| `SLACK_APP_TOKEN` | the app-level token for Socket Mode, `xapp-…`; needed by `footnote serve` |
| `GROQ_API_KEY` | needed where a repository's `generator` is `groq` |
| `GROQ_BASE_URL` | another address of Groq's API, a proxy say |
| `FOOTNOTE_GIT_TOKEN` | for cloning private repositories over https; handed to git by askpass, never in a URL, an argument or a log line |
| `FOOTNOTE_WEBHOOK_SECRET` | what GitHub signs webhooks with and GitLab sends along; 16 characters or more; without it none is taken |
| `QDRANT_URL` | a Qdrant server or cluster that is searched instead of this machine, `https://HOST:6333`; http only in a private network |
| `QDRANT_API_KEY` | the server's key, if it wants one; it must be able to read and write |
| `RERANK_API_KEY` | the rerank server's key (`[rerank] url`), if it wants one |
"""


def configuration_page() -> str:
    """The whole page, Markdown."""
    parts = [HEAD, "\n## Top level\n\n", *_table(Settings, "FOOTNOTE_")]
    for name, section in LISTS.items():
        parts += [f"\n## `[[{name}]]`\n\n{_sentence(Settings.model_fields[name].description)} May stand any number of times.\n\n"]
        parts += _table(section, "")
    for name, field in Settings.model_fields.items():
        if _is_section(field.annotation):
            parts += [f"\n## `[{name}]`\n\n{_sentence(field.description)}\n\n", *_table(field.annotation, f"FOOTNOTE_{name}_".upper())]
    return "".join(parts)


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Section)


def _table(model: Any, prefix: str) -> Iterator[str]:
    known = environment_variables()
    yield "| key | default | what it is |" + (" variable |\n|---|---|---|---|\n" if prefix else "\n|---|---|---|\n")
    for name, field in model.model_fields.items():
        if name in INTERNAL or name in LISTS or _is_section(field.annotation):
            continue
        text = f"{field.description}{_bounds(field)}".replace("|", "\\|")
        row = f"| `{name}` | {_default(name, field)} | {text} |"
        variable = f"`{prefix}{name.upper()}`" if f"{prefix}{name.upper()}" in known else "in the file alone"
        yield f"{row} {variable} |\n" if prefix else f"{row}\n"


def _default(name: str, field: FieldInfo) -> str:
    if name == "data_dir":
        return "by platform"
    if field.default is PydanticUndefined:
        return "needed"
    value = field.default
    if isinstance(value, tuple):
        return f"`{list(value)}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value}`"


def _bounds(field: FieldInfo) -> str:
    if get_origin(field.annotation) is Literal:
        return f" ({' or '.join(f'`{value}`' for value in get_args(field.annotation))})"
    words = []
    for bound in field.metadata:
        match bound:
            case annotated_types.Ge(ge):
                words.append(f"at least {ge}")
            case annotated_types.Gt(gt):
                words.append(f"more than {gt}")
            case annotated_types.Le(le):
                words.append(f"at most {le}")
    return f" ({', '.join(words)})" if words else ""


def _sentence(text: str | None) -> str:
    return f"{(text or '')[:1].upper()}{(text or '')[1:]}."
