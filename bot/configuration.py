"""Fill Settings: footnote.toml, then FOOTNOTE_* variables over it; secrets from the environment alone."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_origin

import platformdirs
from pydantic import BaseModel, ValidationError

from bot.settings import (
    CONFIG_NAME,
    CONTROL_VARIABLES,
    INTERNAL,
    SECRET_VARIABLES,
    ChannelSettings,
    RepositorySettings,
    Section,
    Settings,
)
from rag.errors import ConfigurationError

SEE = "docs/configuration.md lists everything that can be set."
LISTS: Mapping[str, type[Section]] = {"repositories": RepositorySettings, "channels": ChannelSettings}


def load_settings(config: Path | None = None, environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> Settings:
    """Read the file that `config` names, else ./footnote.toml, else the one in the data directory; then the environment over it.

    Raises: ConfigurationError naming the key, what is wrong with it, and the nearest right one where it is misspelt.
    """
    environ = os.environ if environ is None else environ
    file = _find_file(config, environ, cwd or Path.cwd())
    origin = str(file) if file else "the environment"
    values = _read_file(file) if file else {}
    for key in values.keys() & INTERNAL:
        raise ConfigurationError(f"{origin}: {key} cannot be set in the file.", f"Secrets are read from the environment alone. {SEE}")
    _apply_environment(values, environ)
    for name, variable in SECRET_VARIABLES.items():
        values[name] = environ.get(variable, "")
    values["groq_base_url"] = environ.get("GROQ_BASE_URL", "")
    values["config_file"] = file
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise _explain(error, origin) from None
    _check_names(settings, origin)
    _check_expansion(settings, origin)
    return settings


def environment_variables() -> dict[str, tuple[str, ...]]:
    """Every FOOTNOTE_* variable that is a setting, with the keys that lead to it."""
    found: dict[str, tuple[str, ...]] = {}
    for name, field in Settings.model_fields.items():
        if name in INTERNAL or name in LISTS or get_origin(field.annotation) is tuple:
            continue
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            found |= {f"FOOTNOTE_{name}_{key}".upper(): (name, key) for key in field.annotation.model_fields}
        else:
            found[f"FOOTNOTE_{name}".upper()] = (name,)
    return found


def _find_file(config: Path | None, environ: Mapping[str, str], cwd: Path) -> Path | None:
    if config is None and environ.get("FOOTNOTE_CONFIG"):
        config = Path(environ["FOOTNOTE_CONFIG"])
    if config is not None:
        if not config.is_file():
            raise ConfigurationError(f"There is no configuration file {config}.", "Check --config and FOOTNOTE_CONFIG, or leave both out.")
        return config.resolve()
    data_dir = environ.get("FOOTNOTE_DATA_DIR") or platformdirs.user_data_dir("footnote", appauthor=False)
    return next((place / CONFIG_NAME for place in (cwd, Path(data_dir)) if (place / CONFIG_NAME).is_file()), None)


def _read_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{file} cannot be read: {error}.", "It must be TOML in UTF-8; docs/configuration.md has one.") from None


def _apply_environment(values: dict[str, Any], environ: Mapping[str, str]) -> None:
    known = environment_variables()
    others = (*CONTROL_VARIABLES, *SECRET_VARIABLES.values())
    for variable, value in environ.items():
        if not variable.startswith("FOOTNOTE_") or variable in others:
            continue
        if variable not in known:
            raise ConfigurationError(f"There is no variable {variable}.", _nearest(variable, [*known, *others]) or SEE)
        if not value:
            continue
        place = values
        *sections, key = known[variable]
        for section in sections:
            place = place.setdefault(section, {})
            if not isinstance(place, dict):  # the file holds something else there: let validation say so
                break
        else:
            place[key] = value


def _nearest(word: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(word, list(known), 1, 0.5)
    return f"Did you mean {found[0]}?" if found else ""


def _explain(error: ValidationError, origin: str) -> ConfigurationError:
    """The first fault in words: which key, what is wrong with it, the nearest right one."""
    fault = error.errors()[0]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"]).lstrip(".")
    if fault["type"] == "extra_forbidden":
        siblings = sorted(set(_keys_beside(fault["loc"])) - INTERNAL)
        return ConfigurationError(
            f"{origin}: there is no key {where}.", _nearest(str(fault["loc"][-1]), siblings) or f"Known here: {', '.join(siblings)}."
        )
    if fault["type"] == "missing":
        return ConfigurationError(f"{origin}: {where} is missing.", SEE)
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ").strip()
    if fault["type"] == "string_pattern_mismatch":
        cron = fault["loc"][0] == "schedule"
        message = "should be five fields of cron" if cron else "should be letters, digits, dots, dashes and underscores, 64 at most"
    return ConfigurationError(f"{origin}: {where} is {fault['input']!r}, but {message[:1].lower()}{message[1:]}.", SEE)


def _keys_beside(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Settings
    for part in location[:-1]:
        if isinstance(part, str):
            inner = LISTS.get(part) or model.model_fields[part].annotation
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                model = inner
    return list(model.model_fields)


def _check_names(settings: Settings, origin: str) -> None:
    names = [repository.name for repository in settings.repositories]
    for name in names:
        if sum(other.casefold() == name.casefold() for other in names) > 1:
            raise ConfigurationError(f"{origin}: two repositories are called {name}.", "Names differ by more than upper and lower case.")
    for channel in settings.channels:
        if channel.repository not in names:
            raise ConfigurationError(
                f"{origin}: channel {channel.id} names the repository {channel.repository}, which is not configured.",
                _nearest(channel.repository, names) or "Add it under [[repositories]].",
            )


def _check_expansion(settings: Settings, origin: str) -> None:
    how = settings.retrieval.expansion
    if how != "none" and all(repository.generator == "extractive" for repository in settings.repositories):
        raise ConfigurationError(
            f'{origin}: retrieval.expansion is "{how}", but no repository has a language model that could do it.',
            'Give a repository another generator than "extractive", or set expansion = "none".',
        )
