"""Each kind of secret, made from parts so that no scanner takes this file for one that leaks."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.source import redaction
from rag.source.redaction import redact, register_live_secret
from rag.source.secret_kinds import RULES


def mixed(length: int, alphabet: str = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xYz0") -> str:
    return (alphabet * 60)[:length]


HEX = "0123456789abcdef"
UPPER = "A2C4E6G8J1L3N5P7"
SECRETS: list[tuple[str, str]] = [
    ("slack-token", "xoxb-" + "1234567890-1234567890123-" + mixed(24)),
    ("slack-token", "xoxp-" + "1234567890-1234567890-" + mixed(32, HEX)),
    ("slack-token", "xoxe." + "xoxp-1-" + mixed(100)),
    ("slack-app-token", "xapp-" + "1-A0123456789-1234567890123-" + mixed(64, HEX)),
    ("slack-webhook", "T0000AAAA/B0000BBBB/" + mixed(24)),
    ("github-token", "ghp_" + mixed(36)),
    ("github-token", "gho_" + mixed(36)),
    ("github-token", "ghs_" + mixed(36)),
    ("github-token", "github_pat_" + mixed(22) + "_" + mixed(59)),
    ("gitlab-token", "glpat-" + mixed(20)),
    ("bitbucket-token", "ATBB" + mixed(32)),
    ("atlassian-token", "ATATT3" + "xFf" + mixed(180)),
    ("groq-key", "gsk_" + mixed(52)),
    ("anthropic-key", "sk-ant-" + "api03-" + mixed(90)),
    ("openai-key", "sk-proj-" + mixed(64)),
    ("openai-key", "sk-" + mixed(48)),
    ("openrouter-key", "sk-or-v1-" + mixed(64, HEX)),
    ("huggingface-token", "hf_" + mixed(34)),
    ("replicate-token", "r8_" + mixed(37)),
    ("perplexity-key", "pplx-" + mixed(48)),
    ("xai-key", "xai-" + mixed(80)),
    ("aws-key-id", "AKIA" + mixed(16, UPPER)),
    ("google-api-key", "AIza" + mixed(35)),
    ("google-oauth", "GOCSPX-" + mixed(28)),
    ("google-oauth", "ya29." + mixed(120)),
    ("stripe-key", "sk_live_" + mixed(24)),
    ("webhook-secret", "whsec_" + mixed(32)),
    ("twilio-key", "SK" + mixed(32, HEX)),
    ("sendgrid-key", "SG." + mixed(22) + "." + mixed(43)),
    ("mailgun-key", "key-" + mixed(32, HEX)),
    ("mailchimp-key", mixed(32, HEX) + "-us12"),
    ("brevo-key", "xkeysib-" + mixed(64, HEX) + "-" + mixed(16)),
    ("npm-token", "npm_" + mixed(36)),
    ("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc" + mixed(120)),
    ("rubygems-key", "rubygems_" + mixed(48, HEX)),
    ("crates-token", "cio" + mixed(32)),
    ("docker-token", "dckr_pat_" + mixed(27)),
    ("digitalocean-token", "dop_v1_" + mixed(64, HEX)),
    ("shopify-token", "shpat_" + mixed(32, HEX)),
    ("square-token", "sq0atp-" + mixed(22)),
    ("databricks-token", "dapi" + mixed(32, HEX)),
    ("vault-token", "hvs." + mixed(90)),
    ("terraform-token", mixed(14) + ".atlasv1." + mixed(64)),
    ("doppler-token", "dp.pt." + mixed(43)),
    ("linear-key", "lin_api_" + mixed(40)),
    ("notion-token", "ntn_" + mixed(46)),
    ("postman-key", "PMAK-" + mixed(24, HEX) + "-" + mixed(34, HEX)),
    ("newrelic-key", "NRAK-" + mixed(27, UPPER)),
    ("sentry-token", "sntrys_" + mixed(120)),
    ("grafana-token", "glsa_" + mixed(32) + "_" + mixed(8, HEX)),
    ("discord-token", "M" + mixed(23) + "." + mixed(6) + "." + mixed(38)),
    ("discord-webhook", mixed(68)),
    ("telegram-token", "12345678" + ":AA" + mixed(33)),
    ("airtable-token", "pat" + mixed(14) + "." + mixed(64, HEX)),
    ("planetscale-token", "pscale_tkn_" + mixed(43)),
    ("supabase-key", "sbp_" + mixed(40, HEX)),
    ("fly-token", "fm2_" + mixed(120)),
    ("pulumi-token", "pul-" + mixed(40, HEX)),
    ("figma-token", "figd_" + mixed(40)),
    ("dynatrace-token", "dt0c01." + mixed(24, UPPER) + "." + mixed(64, UPPER)),
    ("age-key", "AGE-SECRET-KEY-1" + mixed(58, UPPER)),
    ("azure-client-secret", mixed(3) + "8Q~" + mixed(34)),
    ("jwt", "eyJ" + mixed(33) + ".eyJ" + mixed(60) + "." + mixed(43)),
]
AROUND = {
    "slack-webhook": "https://hooks.slack.com/services/%s",
    "discord-webhook": "https://discord.com/api/webhooks/123456789012345678/%s",
}
IN_CONTEXT: list[tuple[str, str, str]] = [
    ("aws-secret-key", "aws_secret_access_key = %s", mixed(40)),
    ("aws-secret-key", '"secretAccessKey": "%s"', mixed(40)),
    ("azure-storage-key", "AccountName=x;AccountKey=%s;EndpointSuffix=y", mixed(86) + "=="),
    ("azure-signature", "https://x.blob.core.windows.net/c?sv=2020&sig=%s", mixed(43) + "%3D"),
    ("npm-token", "//registry.example.org/:_authToken=%s", "0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"),
    ("url-password", "postgres://app:%s@db.example.org:5432/prod", "hunter2"),
    ("url-password", "mysql+pymysql://root:%s@127.0.0.1/x", "p!ss$w0rd&x"),
    ("url-password", "redis://:%s@cache:6379/0", "s3cr3t"),
    ("url-password", "DATABASE_URL=mongodb+srv://u:%s@cluster0.example.net", "aa%40bb"),
    ("authorization", 'headers = {"Authorization": "Bearer %s"}', mixed(40)),
    ("authorization", "curl -H 'authorization: Basic %s'", "dXNlcjpwYXNzd29yZDEyMw=="),
    ("assigned-secret", 'SECRET_KEY = "%s"', mixed(40)),
    ("assigned-secret", "client_secret: '%s'", mixed(32)),
    ("assigned-secret", "  api_key: %s", mixed(32)),
    ("assigned-secret", "export SERVICE_TOKEN=%s", mixed(40)),
    ("aws-secret-key", "AWS_SECRET_KEY=%s", mixed(40)),
    ("url-password", "postgres://admin:%s@db.internal/app", "supersecret"),
    ("assigned-secret", 'db_password := "%s"', "xY7!kQ2@mN9#bV4$cZ8%"),
    ("assigned-secret", "app.config['SECRET_KEY'] = '%s'", mixed(64, "9f86d081884c7d65")),
]


def test_there_are_thirty_kinds_and_each_rule_has_an_example() -> None:
    kinds = {kind for kind, _ in SECRETS} | {kind for kind, _, _ in IN_CONTEXT}
    assert len(kinds) >= 30
    assert {rule.kind for rule in RULES} <= kinds


@pytest.mark.parametrize(("kind", "secret"), SECRETS, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(SECRETS)])
def test_a_token_is_replaced_wherever_it_stands(kind: str, secret: str) -> None:
    around = AROUND.get(kind, "%s")
    for template in ("%s", 'x = "%s"\n', "a\n  - key: %s # comment\nb\n", "<%s>", "(`%s`)", "KEY=%s;", "?k=%s&x=1"):
        text, count = redact(template % (around % secret))
        assert secret not in text
        assert text == template % (around % f"[redacted:{kind}]")
        assert count == 1
        assert redact(text) == (text, 0)


@pytest.mark.parametrize(("kind", "around", "secret"), IN_CONTEXT)
def test_a_secret_is_known_by_what_stands_around_it(kind: str, around: str, secret: str) -> None:
    text, count = redact(f"before\n{around.replace('%s', secret)}\nafter\n")
    assert text == f"before\n{around.replace('%s', f'[redacted:{kind}]')}\nafter\n"
    assert count == 1
    assert redact(text) == (text, 0)


BODY = "\n".join(mixed(64) for _ in range(6))


@pytest.mark.parametrize(
    "name", ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
def test_a_private_key_block_goes_and_its_lines_stay_counted(name: str) -> None:
    block = f"-----BEGIN {name}-----\n{BODY}\n-----END {name}-----"
    for template in ("%s\n", 'KEY = """%s"""\nx = 1\n', "a\n%s\nb\n%s\nc"):
        source = template.replace("%s", block)
        text, count = redact(source)
        assert text.count("\n") == source.count("\n")
        assert count == template.count("%s")
        assert mixed(16) not in text
        assert "PRIVATE KEY" not in text
        assert text.split("\n")[-1] == source.split("\n")[-1] or template.endswith("%s\n")
    written_out = block.replace("\n", "\\n")
    assert redact(f'{{"private_key": "{written_out}"}}') == ('{"private_key": "[redacted:private-key]"}', 1)
    concatenated = "\n".join(f'  "{line}\\n" +' for line in block.split("\n"))
    text, count = redact(concatenated)
    assert (mixed(16) in text, count, text.count("\n")) == (False, 1, concatenated.count("\n"))


def test_a_key_without_an_end_goes_as_far_as_it_looks_like_one() -> None:
    text, count = redact(f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n\ndef f():\n    pass\n")
    assert count == 1
    assert text == "[redacted:private-key]" + "\n" * 8 + "def f():\n    pass\n"


ORDINARY = [
    "commit 2ac89889f4cc330eabd50f295dcef02828522c69",
    'SHA = "2ac89889f4cc330eabd50f295dcef02828522c69"',
    'token = "2ac89889f4cc330eabd50f295dcef02828522c69"',
    "actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683",
    "sha256:53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "integrity sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
    'if line.startswith("-----BEGIN RSA PRIVATE KEY-----"):\n    return parse_private_key_block_of_lines(lines)\n',
    'BEGIN = "-----BEGIN PRIVATE KEY-----"\nEND = "-----END PRIVATE KEY-----"\n',
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
    "-----BEGIN CERTIFICATE-----\nMIIBlTCCATugAwIBAgIUWznkclq1bixJONkKtAtSXfin8icwCgYIKoZIzj0EAwIw\n-----END CERTIFICATE-----\n",
    "password = get_password_from_environment_variable()",
    'password = "correct horse battery staple for everyone"',
    'self.secret_key = config["application_secret_key_setting"]',
    'token: "your-token-goes-right-here-please"',
    'SLACK_BOT_TOKEN = "xoxb-your-bot-token"',
    'export SLACK_BOT_TOKEN="xoxb-..."',
    "export GROQ_API_KEY=gsk_your_api_key_here",
    "gh_pages ghp_helper(x) hf_hub_download(repo_id) hf_tokenizer_from_pretrained",
    "npm_config_registry npm_lifecycle_event npm_package_version_number_of_this",
    "sk-learn scikit-learn sk-estimator-checks task-switcher-component-with-a-long-name",
    "key-value-store-implementation-with-a-long-name",
    "postgresql://user:password@localhost/dbname",
    "postgresql://myuser:mypass@localhost/dbname postgres://postgres:postgres@localhost redis://x:y@foo",
    "password = Base64EncodeUserPasswordString(value)",
    "secret: projects/MyProject1/secrets/DatabasePassword",
    "token = request.headers.get_token_from_Authorization_v2\n",
    "postgresql://{user}:{password}@{host}/db",
    'f"https://{user}:{secret}@{host}/"',
    "https://$USER:$PASSWORD@example.org/",
    "https://example.org:8080/path/@scope/name",
    "see https://example.org/a:b and mail me@example.org",
    'import x from "https://deno.land/x/mod@1.2.3/mod.ts"',
    "std::map<std::string, SG> SG.find MAKEFLAGS AKIA ASIA",
    "class SKProductsRequestDelegateImplementation",
    "eyJ is how a JWT begins",
    "rules = re.compile(r'xox[abp]-[0-9A-Za-z-]+')",
    "pattern = r'AKIA[0-9A-Z]{16}'",
    "Authorization: Bearer <token>",
    "headers['Authorization'] = 'Bearer ' + token",
    '"Authorization": f"Bearer {access_token_of_the_user}"',
    "MQTT.Client.connectWithOptions NSObject.alloc.initWithSomething",
    'API_KEY_HEADER = "X-Api-Key-Header-Name"',
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_code_stays_as_it_is(text: str) -> None:
    assert redact(text) == (text, 0)


def test_our_own_sources_stay_as_they_are() -> None:
    for file in sorted(Path(redaction.__file__).parent.glob("*.py")):
        text = file.read_text("utf-8")
        assert redact(text) == (text, 0), file.name


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_live", ())


@pytest.mark.usefixtures("live")
def test_a_live_token_is_found_wherever_it_stands() -> None:
    register_live_secret("  plain words as a token \n")
    register_live_secret("short")
    register_live_secret("plain words as a token and more")
    assert redact("a plain words as a token, b") == ("a [redacted:live-token], b", 1)
    assert redact("a plain words as a token and more b") == ("a [redacted:live-token] b", 1)
    assert redact("xplain words as a tokenx short") == ("x[redacted:live-token]x short", 1)


def test_overlapping_secrets_leave_nothing_behind() -> None:
    inner = "ghp_" + mixed(36)
    text, _ = redact(f"https://x:{inner}@github.com/o/n and Authorization: token {inner}")
    assert inner not in text
    assert "a1" not in text
    assert mixed(12) not in text


PIECES = [
    "\n",
    " ",
    '"',
    "=",
    "://",
    ":",
    "@",
    "ghp_",
    "eyJ",
    ".",
    "password",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    mixed(40),
    mixed(16, HEX),
    "İ",
    "AKIA",
    "xoxb-",
    "secret",
]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=30).map("".join))
def test_lines_are_kept_and_redacting_twice_changes_nothing(text: str) -> None:
    once, count = redact(text)
    assert once.count("\n") == text.count("\n")
    assert (count == 0) == (once == text)
    assert redact(once)[0].count("\n") == text.count("\n")
    if "BEGIN" not in text:
        assert redact(once) == (once, 0)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(SECRETS), st.text(max_size=30), st.text(max_size=30))
def test_no_surroundings_hide_a_token(secret: tuple[str, str], before: str, after: str) -> None:
    kind, value = secret
    text, _ = redact(f"{before} {AROUND.get(kind, '%s') % value}\n{after}")
    assert value not in text


HOSTILE = {
    "prefixes": "ghp_" * 250_000,
    "prefixes apart": "-eyJ" * 250_000,
    "almost jwt": ("eyJ" + "a" * 900 + "-") * 1000,
    "two parts": ("eyJ" + "a" * 50 + ".eyJ" + "b" * 3000 + " ") * 300,
    "begins": "-----BEGIN RSA PRIVATE KEY-----\n" * 30_000,
    "begins and bodies": ("-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n") * 10_000,
    "slashes": "-----BEGIN PRIVATE KEY-----\n" + "/" * 900_000,
    "urls": "://a:" * 200_000,
    "one url": "://" + "a" * 500_000 + ":" + "b" * 500_000,
    "assignments": "password=" * 110_000,
    "quotes": "secret = '" * 100_000,
    "spaces": "token" + " " * 1_000_000,
    "authorization": "authorization: bearer " * 45_000,
    "letters": "M" * 1_000_000,
    "words": "M" * 24 + "." + ("N." * 400_000),
    "dashes": "sk-" * 300_000,
    "digits": "0" * 1_000_000,
    "growing": "İ" * 300_000 + "password",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_bounded_time(name: str) -> None:
    text = HOSTILE[name]
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 3


def test_time_grows_with_length_only() -> None:
    """Ratio of times for twice the text: about 2, far from 4."""

    def seconds(text: str) -> float:
        best = 9.0
        for _ in range(3):
            started = time.process_time()
            redact(text)
            best = min(best, time.process_time() - started)
        return best

    unit = "-eyJ-----BEGIN PRIVATE KEY-----\n://a:b password='x" * 3000
    assert seconds(unit * 2) < 3.2 * seconds(unit) + 0.02


@pytest.mark.parametrize(
    "glued",
    [
        "xkeysib-" + mixed(64, HEX) + "-" + mixed(16) + "xoxb-" + "1234567890-1234567890123-" + mixed(24),
        "M" + mixed(23) + "." + mixed(6) + "." + mixed(38) + "12345678" + ":AA" + mixed(33),
    ],
)
def test_tokens_without_a_boundary_between_them_go_together(glued: str) -> None:
    once, count = redact(glued)
    assert count == 2
    assert once.count("[redacted:") == 2
    assert once.endswith("]")
    assert redact(once) == (once, 0)
