"""What secrets look like: one rule a kind, each bounded. Prefixes are the issuers' published ones."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` is matched `back` characters before each anchor; its group 1, or all of it, is the secret.

    `alone`: no letter, digit or underscore may stand before it. `random`: it must look like more than words.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    back: int = 0
    alone: bool = True
    random: bool = True
    accepts: Callable[[str], bool] | None = None


_PLACEHOLDERS = frozenset(
    (
        "passwd",
        "pwd",
        "secret",
        "xxxx",
        "token",
        "example",
        "changeme",
        "change-me",
        "user",
        "username",
        "postgres",
        "guest",
        "root",
        "admin",
    )
)
_SPEAKING = re.compile(r"[a-z_-]{0,12}(?:pass|password)")


def _is_no_placeholder(value: str) -> bool:
    """Whether the password of a URL may be a real one. What documentation and tests write there is not."""
    if len(value) <= 3 or value.lower() in _PLACEHOLDERS or _SPEAKING.fullmatch(value.lower()):
        return False
    return not set(value) <= set("*.xX-_") and not value.startswith(("$", "%(", "%s", ":", "#"))


def looks_random(value: str) -> bool:
    """Whether a token is more than a word or a placeholder: a digit, a mix of cases, or a run of 20 letters."""
    tail = re.sub(r"^[A-Za-z]{1,12}[_-]", "", value, count=1)
    if len(set(tail)) < 5 and len(tail) < 30:
        return False
    return any(c.isdigit() for c in tail) or (tail != tail.lower() and tail != tail.upper()) or bool(re.search(r"[A-Za-z]{20}", tail))


def _rule(kind: str, anchors: str, pattern: str, **options: object) -> Rule:
    return Rule(kind, tuple(anchors.split()), re.compile(pattern), **options)  # type: ignore[arg-type]


_END = r"(?![A-Za-z0-9])"

RULES: tuple[Rule, ...] = (
    _rule("slack-token", "xox", r"xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,250}"),
    _rule("slack-app-token", "xapp-", r"xapp-[A-Za-z0-9-]{10,250}"),
    _rule("slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,200})"),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{20,255}"),
    _rule("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,255}"),
    _rule("gitlab-token", "glpat- glptt- glrt- gldt- glcbt- glsoat- glft- glimt- glagent-", r"gl[a-z]{2,5}-[A-Za-z0-9_.-]{20,255}"),
    _rule("bitbucket-token", "ATBB", r"ATBB[A-Za-z0-9]{28,64}" + _END),
    _rule("atlassian-token", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_=-]{20,255}"),
    _rule("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{20,128}"),
    _rule("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,200}"),
    _rule("openai-key", "sk-proj- sk-svcacct- sk-admin-", r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,255}"),
    _rule("openai-key", "sk-", r"sk-[A-Za-z0-9]{32,64}" + _END),
    _rule("openrouter-key", "sk-or-v1-", r"sk-or-v1-[0-9a-f]{40,80}"),
    _rule("huggingface-token", "hf_ api_org_", r"(?:hf_|api_org_)[A-Za-z0-9]{20,64}" + r"(?![A-Za-z0-9_])"),
    _rule("replicate-token", "r8_", r"r8_[A-Za-z0-9]{30,50}" + _END),
    _rule("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{32,80}"),
    _rule("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,120}"),
    _rule("aws-key-id", "AKIA ASIA ABIA ACCA", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}" + _END, random=False),
    _rule(
        "aws-secret-key",
        "ecret_access_key ECRET_ACCESS_KEY ecretAccessKey AWS_SECRET aws_secret",
        r"[A-Za-z_]{9,24}[\"']?\s{0,4}[:=]{1,2}>?\s{0,4}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        alone=False,
        accepts=lambda value: value != value.lower() and not re.fullmatch(r"[0-9A-F]+", value),
    ),
    _rule("google-api-key", "AIza", r"AIza[0-9A-Za-z_-]{35}" + _END),
    _rule("google-oauth", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,60}"),
    _rule("google-oauth", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,400}"),
    _rule("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"),
    _rule("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,100}"),
    _rule("twilio-key", "SK", r"SK[0-9a-f]{32}" + _END),
    _rule("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _rule("mailgun-key", "key-", r"key-[0-9a-f]{32}" + _END),
    _rule("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}" + _END, back=32),
    _rule("brevo-key", "xkeysib-", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    _rule("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,64}" + _END),
    _rule("npm-token", "_authToken", r"_authToken\s{0,2}=\s{0,2}[\"']?([A-Za-z0-9_.=/+-]{16,400})", alone=False),
    _rule("pypi-token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{20,400}"),
    _rule("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{40,64}" + _END),
    _rule("crates-token", "cio", r"cio[A-Za-z0-9]{32}" + _END),
    _rule("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_-]{20,64}"),
    _rule("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{40,64}"),
    _rule("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _rule("square-token", "sq0atp- sq0csp-", r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,60}"),
    _rule("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?" + _END),
    _rule("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,300}"),
    _rule("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,100}", back=14),
    _rule("doppler-token", "dp.pt. dp.st. dp.sa. dp.ct.", r"dp\.(?:pt|st|sa|ct)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    _rule("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,80}"),
    _rule("notion-token", "ntn_ secret_", r"(?:ntn|secret)_[A-Za-z0-9]{43,60}" + _END),
    _rule("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _rule("newrelic-key", "NRAK- NRJS- NRII-", r"NR(?:AK|JS|II)-[A-Za-z0-9_-]{19,40}"),
    _rule("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9_+/=-]{40,400}"),
    _rule("grafana-token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{30,400}"),
    _rule("discord-token", "M N O", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}" + _END),
    _rule("discord-webhook", "/api/webhooks/", r"/api/webhooks/\d{17,20}/([A-Za-z0-9_-]{60,80})", alone=False),
    _rule("telegram-token", ":AA", r"\d{8}:AA[A-Za-z0-9_-]{33}" + _END, back=8, alone=False),
    _rule("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _rule("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,64}"),
    _rule("supabase-key", "sbp_ sb_secret_", r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,60})"),
    _rule("fly-token", "fo1_ fm2_", r"(?:fo1|fm2)_[A-Za-z0-9_+/=-]{40,700}"),
    _rule("pulumi-token", "pul-", r"pul-[0-9a-f]{40}" + _END),
    _rule("figma-token", "figd_", r"figd_[A-Za-z0-9_-]{30,60}"),
    _rule("dynatrace-token", "dt0", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _rule("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}", random=False),
    _rule("azure-storage-key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{40,90}={0,2})", alone=False),
    _rule("azure-signature", "sig=", r"sig=([A-Za-z0-9%+/]{40,120}(?:%3D|=){1,2})"),
    _rule("azure-client-secret", "8Q~", r"[A-Za-z0-9_~.-]{3}8Q~[A-Za-z0-9_~.-]{31,34}", back=3),
    _rule("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,1000}+\.eyJ[A-Za-z0-9_-]{8,4000}+\.[A-Za-z0-9_-]{8,1500}"),
    _rule(
        "url-password",
        "://",
        r"://[^\s:/@\"'`<>{}()\[\]\\|,;?#]{0,100}:([^\s/@\"'`<>{}()\[\]\\|,]{1,200})@[A-Za-z0-9.\[$]",
        alone=False,
        random=False,
        accepts=_is_no_placeholder,
    ),
    _rule(
        "authorization",
        "uthorization UTHORIZATION",
        r"[A-Za-z]{12}[\"']?\]?\s{0,3}[:=,]{1,2}>?\s{0,3}[\"'`]?(?:Basic|Bearer|Token|basic|bearer|token)\s{1,3}([A-Za-z0-9+/=._~-]{16,2000})",
        alone=False,
    ),
)

ASSIGNMENTS: dict[str, bool] = {
    # the word at the end of a name that holds a secret -> whether a hexadecimal value counts (hashes and commit ids are no secrets)
    "password": True,
    "passwd": True,
    "secret": True,
    "secret_key": True,
    "secretkey": True,
    "secret_key_base": True,
    "api_key": True,
    "apikey": True,
    "api-key": True,
    "access_key": True,
    "accesskey": True,
    "private_key": True,
    "token": False,
}
_ASSIGNED = re.compile(
    r"[\"']?\]?\s{0,6}(?::=|=>|[:=])\s{0,6}"
    r"(?:[bru]?([\"'`])([A-Za-z0-9+/=_.~!@#$%^&*-]{20,200})\1|([A-Za-z0-9+/=_-]{20,200})[ \t]{0,8}(?:[\n#]|$))"
)


def assigned_secret(text: str, position: int, word: str) -> tuple[int, int] | None:
    """The span of a value given to a name that ends, at `position`, in `word`, if it looks generated. Unquoted it must end its line."""
    match = _ASSIGNED.match(text, position)
    if not match:
        return None
    group = 2 if match[1] else 3
    value = match[group]
    if len(value) >= 32 and re.fullmatch(r"[0-9a-fA-F]+", value):
        return match.span(group) if ASSIGNMENTS[word] and len(set(value)) > 8 else None
    digits = sum(c.isdigit() for c in value)
    is_mixed = digits >= 3 and value != value.lower() and value != value.upper()
    return match.span(group) if is_mixed and _entropy(value) >= 3.8 else None


def _entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
