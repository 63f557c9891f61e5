"""Settings: where they come from, and what bad ones get."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.configuration import environment_variables, load_settings
from bot.configuration_page import configuration_page
from bot.settings import listening_on, seconds_of
from rag.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[2]


def write(directory: Path, text: str) -> Path:
    file = directory / "footnote.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("retreival = 1", ["no key retreival", "Did you mean retrieval?"]),
        ("[retrieval]\ntop_kk = 3", ["no key retrieval.top_kk", "Did you mean top_k?"]),
        ("[retrieval]\ntop_k = 0", ["retrieval.top_k is 0", "greater than or equal to 1"]),
        ("[retrieval]\ntop_k = 'many'", ["retrieval.top_k is 'many'"]),
        ("[retrieval]\nexpansion = 'hide'", ["retrieval.expansion is 'hide'", "'none', 'hyde' or 'rewrite'"]),
        ("[retrieval]\nexpansion = 'hyde'", ['retrieval.expansion is "hyde"', "no repository has a language model"]),
        ("[[repositories]]\nname = 'a'\nsource = 'x'\n[retrieval]\nexpansion = 'rewrite'", ["no repository has a language model"]),
        ("retrieval = 3", ["retrieval is 3"]),
        ("[[repositories]]\nname = 'a b'\nsource = 'x'", ["repositories[0].name is 'a b'", "letters, digits"]),
        ("[[repositories]]\nname = '../up'\nsource = 'x'", ["repositories[0].name"]),
        ("[[repositories]]\nname = 'a'", ["repositories[0].source is missing"]),
        ("[[repositories]]\nname = 'a'\nsource = 'x'\naudence = []", ["repositories[0].audence", "Did you mean audience?"]),
        ("[[repositories]]\nname = 'a'\nsource = 'x'\n[[repositories]]\nname = 'A'\nsource = 'y'", ["two repositories are called"]),
        ("[[repositories]]\nname = 'a'\nsource = 'x'\ngenerator = 'gpt'", ["repositories[0].generator is 'gpt'", "'extractive' or 'groq'"]),
        ("[[repositories]]\nname = 'flask'\nsource = 'x'\n[[channels]]\nid = 'C1'\nrepository = 'flsk'", ["flsk", "Did you mean flask?"]),
        ("[privacy]\nnames = 'hidden'", ["privacy.names is 'hidden'", "'shown' or 'masked'"]),
        ("[schedule]\nnightly = 'often'", ["schedule.nightly is 'often'", "five fields of cron"]),
        ("[[repositories]]\nname = 'a'\nsource = 'x'\npoll = '10'", ["repositories[0].poll is '10'", "number with s, m or h"]),
        ("[[repositories]]\nname = 'a'\nsource = 'x'\npoll = '59s'", ["repositories[0].poll is '59s'", "a minute or more"]),
        ("[http]\nlisten = '8710'", ["http.listen is '8710'", '"127.0.0.1:8710"']),
        ("[http]\nlisten = '127.0.0.1:70000'", ["http.listen is"]),
        ("[http]\nlisten = 'http://x:80/'", ["http.listen is"]),
        ("[schedule]\nparallel_builds = 0", ["schedule.parallel_builds is 0"]),
        ("webhook_secret = 'x'", ["webhook_secret cannot be set in the file", "environment alone"]),
        ("qdrant_url = 'http://localhost'", ["qdrant_url cannot be set in the file", "environment alone"]),
        ("[qdrant]\nquantization = 'int4'", ["qdrant.quantization is 'int4'", "'none' or 'int8'"]),
        ("[qdrant]\nef = 1", ["qdrant.ef is 1"]),
        ("slack_bot_token = 'x'", ["slack_bot_token cannot be set in the file", "environment alone"]),
        ("a = ", ["cannot be read", "TOML"]),
    ],
)
def test_a_bad_file_names_the_key_and_the_remedy(tmp_path: Path, text: str, words: list[str]) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigurationError) as raised:
        load_settings(file, {})
    for word in (*words, str(file)):
        assert word in str(raised.value)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    file = tmp_path / "footnote.toml"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match=r"footnote\.toml cannot be read"):
        load_settings(file, {})


def test_a_missing_file_that_was_named_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no configuration file"):
        load_settings(tmp_path / "none.toml", {})


def test_a_misspelt_variable_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="Did you mean FOOTNOTE_RETRIEVAL_TOP_K"):
        load_settings(None, {"FOOTNOTE_RETRIEVAL_TOPK": "3"}, Path("/nowhere"))


def test_the_environment_wins_over_the_file_and_an_empty_variable_is_none(tmp_path: Path) -> None:
    write(tmp_path, "[retrieval]\ntop_k = 5\nrrf_k = 30")
    settings = load_settings(None, {"FOOTNOTE_RETRIEVAL_TOP_K": "7", "FOOTNOTE_GROQ_MODEL": "", "HOME": "/"}, tmp_path)
    assert (settings.retrieval.top_k, settings.retrieval.rrf_k) == (7, 30)
    assert settings.groq.model == "llama-3.3-70b-versatile"


def test_the_file_is_found_beside_the_caller_before_the_data_directory(tmp_path: Path) -> None:
    here, data = tmp_path / "here", tmp_path / "data"
    here.mkdir()
    data.mkdir()
    write(data, "log_format = 'json'")
    environ = {"FOOTNOTE_DATA_DIR": str(data)}
    assert load_settings(None, environ, here).log_format == "json"
    write(here, "log_format = 'text'")
    assert load_settings(None, environ, here).log_format == "text"
    assert load_settings(data / "footnote.toml", environ, here).log_format == "json"
    assert load_settings(None, environ, here).data_dir == data


def test_secrets_are_read_from_the_environment_and_never_printed() -> None:
    settings = load_settings(None, {"SLACK_BOT_TOKEN": "xoxb-canary", "GROQ_API_KEY": "gsk_canary"}, Path("/nowhere"))
    assert settings.slack_bot_token.get_secret_value() == "xoxb-canary"
    assert "canary" not in repr(settings) + str(settings) + settings.model_dump_json()


def test_nothing_listens_and_nothing_is_polled_unless_it_is_configured(tmp_path: Path) -> None:
    write(tmp_path, "[[repositories]]\nname = 'a'\nsource = 'x'")
    settings = load_settings(None, {"FOOTNOTE_WEBHOOK_SECRET": "canary-canary-canary"}, tmp_path)
    assert (settings.http.listen, settings.repositories[0].poll, settings.schedule.parallel_builds) == ("", "", 1)
    assert listening_on("") == ("", 0)
    assert "canary" not in repr(settings) + settings.model_dump_json()


def test_durations_and_addresses() -> None:
    assert [seconds_of(text) for text in ("", "90s", "10m", "2h")] == [0, 90, 600, 7200]
    assert [listening_on(text) for text in ("127.0.0.1:8710", "[::1]:0", "localhost:80")] == [
        ("127.0.0.1", 8710),
        ("::1", 0),
        ("localhost", 80),
    ]


def test_every_variable_leads_to_a_setting() -> None:
    for variable, keys in environment_variables().items():
        value = load_settings(None, {}, Path("/nowhere"))
        for key in keys:
            value = getattr(value, key)
        assert variable.startswith("FOOTNOTE_")


def test_the_page_is_what_the_settings_say() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page == configuration_page(), "run `make docs`"
