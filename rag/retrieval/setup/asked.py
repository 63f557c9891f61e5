"""Whether a question asks how its repository is set up: what it depends on, what it runs on, what its CI does, how it is built and
released, its licence, the settings of its tools. Such answers stand in settings, not in code. Pure.

Patterns are written as people write: "…" is up to 40 characters of the same sentence, a word in capitals one of a list below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

SetupKind = Literal["dependencies", "used", "runtime", "package", "ci", "release", "container", "tasks", "licence", "tools"]

_LISTS = {
    "NEEDED": r"""require\w* need\w* depend\w* support\w* pin pinned allow\w* minimum minimal lowest oldest compatib\w* built compil\w*
        target\w* referenc\w* run use used using install\w* declare\w* tested bundle\w* ship\w* matrix contain\w*""",
    "LANGUAGE": r"""c?python pypy node node\.?js deno golang go java jdks? jre jvm kotlin scala ruby rubies jruby php rust swift elixir
        erlang otp \.net dotnet c\# perl lua haskell ghc zig julia typescript c\+\+ cmake xcode ios macos android tvos watchos""",
    "REGISTRY": r"""pypi npm maven[ ]central sonatype crates\.io docker[ ]?hub rubygems nuget packagist hex cocoapods ghcr
        github[ ]pages""",
    "TOOL": r"""ruff flake8 black isort mypy pyright pylint bandit eslint prettier tslint stylelint biome golangci(?:-lint)? staticcheck
        gofmt clippy rustfmt rubocop phpstan psalm php[-_ ]?cs(?:[-_ ]fixer)? checkstyle spotless spotbugs ktlint detekt
        swiftlint swiftformat
        clang[- ](?:format|tidy) editorconfig pre-commit yamllint markdownlint credo dialyzer codespell shellcheck hadolint commitlint
        husky scalafmt stylua luacheck tsconfig webpack rollup vite babel jest vitest karma mocha pytest coverage codecov dependabot
        renovate read[ ]?the[ ]?docs linters? linting (?:code[ ])?formatters? type[- ]check(?:er|ing) static[ ]analysis code[ ]style""",
    "SETTING": r"""config\w* settings? rules? options? hooks? cops? levels? limits? lints? checks? enabled? disabled? ignored? excluded?
        turned plugins? apply applied use used run set thresholds? strict\w*""",
    "SERVICE": r"""travis circle[ ]?ci appveyor cirrus gitlab[ ]ci azure[ ]pipelines? buildkite jenkins jenkinsfile""",
    "PART": r"""module class packages? providers? engine detect\w* client server api environments? variables? parser code runner executor
        plugin integration adapter scheduler""",
    "CODE": r"""pars(?:e[sdr]?|ing) compar\w+ negotiat\w+ serializ\w+ encod\w+ decod\w+ sent sends? headers? returns? match\w* resolv\w+
        detect\w* determin\w+ print\w* comput\w+ calculat\w+ track\w* inject\w* cycl\w+ circular topolog\w+ graph sort\w* order\w*
        class(?:es)?
        structs? functions? methods? modules? implement\w*""",
}
"""What is written for one of these words; CODE is what is done to versions and dependencies in code."""

_ASKED: Mapping[SetupKind, Sequence[str]] = {
    "dependencies": (
        r"(which|what) (?!versions?\b)\w[^?.\n]{0,40} versions? … NEEDED",  # which x version is required; "which versions" are its own
        r"(which|what) … versions? of",
        r"(which|what) … NEEDED … versions?",
        r"NEEDED versions? of",
        r"(which|what|list|show|name|any|our|its|all|dev|development|runtime|direct|external|third[- ]party) … dependencies",
        r"(dev|peer|optional)[_-]?dependencies",
        r"dependencies … (declared|listed|pinned|specified)",
        r"how are (the |our )?dependencies (managed|installed|updated|kept)",
        r"(which|what) … (librar(y|ies)|packages?|crates?|gems?|extras|drivers?) … (require|need|use|depend|install|pull)\w*",
        r"(which|what) … (test(ing)?|web|mocking|logging) (framework|librar(y|ies)|runner) … us(e|ed|ing)",
        r"(does|do|is|are) … (depend on|a dependency|pinned)",
        r"(to|i|we) (need to )?install … develop\w*",
        r"(which|what) … (modules|members|subprojects) … (build|workspace)",
    ),
    "used": (
        r"^(do|are) we (still |already |even )?us(e|ing)",
        r"^(does|is) (it|this) (still )?(use|using|built on|based on)",
        r"versions?( constraint| range)?s?",
        r"(minimum|minimal|lowest|oldest|latest) … (support|allow|need|require|use)\w*",
        r"(is|are) … (optional|required) … (dependency|dependencies|package|packages)",
    ),
    "runtime": (
        r"LANGUAGE … versions?",
        r"versions? of (the )?LANGUAGE",
        r"(which|what|minimum|minimal|supported|required|lowest|oldest) … LANGUAGE … NEEDED",
        r"(minimum|minimal|supported|required|lowest|oldest) … LANGUAGE",
        r"LANGUAGE v?\d[\d.]* … support\w*",
        r"LANGUAGE v?\d[\d.]* … (good enough|enough|to run|works?|ok|okay)",
        r"(support\w*|works?|runs?|compatible) … LANGUAGE v?\d",
        r"msrv",
        r"(target frameworks?|deployment targets?|language level|tools? versions?|sdk versions?|versions? of the sdk)",
    ),
    "package": (
        r"(which|what) … package('s)? (name|version|metadata|authors?|maintainers?|homepage|keywords)",
        r"(console scripts?|entry ?points?) … (package|define|declare|install)s?",
        r"files … (npm|published|distributed|wheel|sdist|gem|crate) … (package|archive|tarball|wheel|sdist|gem|crate)",
    ),
    "ci": (
        r"(?-i:CI)",
        r"ci(/cd| (pipeline|job|build|run|matrix|workflow|config|check|test)s?)",
        r"in ci",
        r"continuous (integration|delivery|deployment)",
        r"github actions?",
        r"(github|release|build|test|deploy) workflows?",
        r"(which|what) workflows?",
        r"are there … workflows?",
        r"LANGUAGE … tested",
        r"tested … (on|with|against) … LANGUAGE",
        r"nightly (build|job|run)s?",
        r"SERVICE",
        r"(runs?|jobs?|happens?|checks?) … on (every|each|a) (push|commit|pull request|pr|merge)",
    ),
    "release": (
        r"(get|gets|publish|release|deploy|push|upload)\w* … (to|on|onto|at) (the )?REGISTRY",
        r"how … (releases?|new versions?) … (made|cut|published|deployed|created|tagged|uploaded|shipped)",
        r"how … (package|gem|crate|library|wheel|cli|image|docs?|documentation)s? … (published|released|deployed|uploaded)",
        r"how (do|can|should|would) (i|we|you) (release|publish|deploy|cut a release)",
        r"release (process|procedure|steps?)",
        r"(which|what) … (publish|releas)es",
    ),
    "container": (
        r"(docker|container)file",
        r"docker[- ]compose",
        r"dev ?containers?",
        r"(docker|container) (image|setup|container)s?",
        r"base image",
        r"(in|with|using|under) docker",
        r"compose (files?|setup|stack|expose|start|define|open|services?|ports?)",
        r"how do (i|we|you) build (the |a |our )?(container|image)",
    ),
    "tasks": (
        r"make (test|targets?|check|all|build|lint|install|docs|help|goals?)",
        r"(make|rake|just|task|cake|grunt|gulp)file",
        r"(tests?|built|build|run) (with|by|using|through) make",
        r"(rake|gradle|mage|invoke|grunt|gulp|poe|mix|sbt) tasks?",
        r"(npm|yarn|pnpm|bun) (run|test|scripts?|start|build)",
        r"(package\.json|composer|poetry|hatch|pdm|cargo) scripts?",
        r"(tox|nox)(?![.(])",
        r"build (back ?end|system|tool|options?|targets?|flags?|scripts?|profiles?)",
        r"cmake (options?|targets?|variables?|flags?|presets?)",
        r"cmake … options?",
        r"options? … cmake",
        r"compiler (flags?|options?)",
        r"cargo (features?|workspace|profiles?)",
        r"(full|default) feature(s| flags?)",
        r"(maven|gradle) (modules?|plugins?|profiles?|goals?|properties)",
        r"how (are|do (i|we|you) run|can (i|we|you) run|to run) (the |our |all )?((unit|integration) )?tests?"
        r"( run| executed| started)?\s*(\?|\(|$)",
        r"how (is|are|do (i|we|you) build|to build) (the |this |our )?(project|library|package|binary|binaries|wheels?|jar|executable"
        r"|repository|docs|documentation)( built| compiled| packaged| bundled| assembled)?\s*(\?|$)",
        r"(which|what) … (builds?|compiles?|bundles?) (the |this |our )?(project|library|package|binary|repository)",
        r"(which|what) bundler",
    ),
    "licence": (
        r"licen[cs](e[sd]?|ing)",
        r"(is|are|under) … (?-i:[AL]?GPL|MIT|BSD|MPL)",
        r"copyright (holder|owner)s?",
        r"spdx",
    ),
    "tools": (
        r"(which|what|how is|how are|where is|where are) … TOOL … SETTING",
        r"(which|what|how are) … SETTING … TOOL",
        r"how is … TOOL set up",
        r"TOOL (settings?|config\w*|rules?|options?|hooks?)",
        r"^(which|what) (code )?(linters?|formatters?|type checkers?)",
        r"(line|column) (length|limit)",
        r"in (the |our )?TOOL( config\w*)?\s*(\?|$)",
        r"(how often|when) … (dependabot|renovate)",
    ),
}
_NOT: Mapping[SetupKind, Sequence[str]] = {
    "dependencies": (
        r"CODE",
        r"tested",
        r"(https?|tls|ssl|ip|api|protocol|schema|wire) versions?",
        r"of the (protocol|schema|api)",
        r"dependenc\w+ (tree|container|provider|between)",
        r"^(how|why|where)(?!.* (declared|listed|pinned|specified|managed|installed|updated|kept))",
    ),
    "used": (r"CODE", r"^(how|why|where)", r"(https?|tls|ssl|ip|api|protocol|schema|wire) versions?"),
    "runtime": (r"CODE", r"^(how|why|where)", r"tested"),
    "ci": (r"(ci|SERVICE|github actions?|workflows?|pipelines?)[-_ ]PART", r"(implement\w*|detect\w*|class|function|method|returns?)"),
    "release": (r"(lock|mutex|memory|resource|connection|buffer|permit|semaphore|handle|event|message|queue|topic)s?", r"version string"),
    "container": (r"(daemon|registry|registries|credential\w*|client|layers?|tarball|manifests?|(docker|container) api|inject\w*)",),
    "tasks": (r"(class|generated|registered|loaded|function|method|implement\w*|module)",),
    "licence": (
        r"licen[cs]e[-_ ](keys?|servers?|plates?|validat\w+|pars\w+|activation|headers?|scanners?|tokens?)",
        r"(class|function|method|implement\w*|parse[ds]?|valid\w+)",
    ),
    "tools": (r"how does", r"(class|function|method|implement\w*)"),
}
_GAP = r"\b[^?.\n]{0,40}(?<!\w)"


def _compiled(patterns: Sequence[str]) -> re.Pattern[str]:
    lists = {name: "(?:" + "|".join(re.split(r"\s+(?![^[]*\])", words.strip())) + ")" for name, words in _LISTS.items()}
    lists["LANGUAGE"] = rf"(?<![\w.-]){lists['LANGUAGE']}(?![\w-])"  # not python-dotenv
    whole = "|".join(rf"(?:(?<![\w.]){pattern}(?!\w))" for pattern in patterns)
    for name, words in lists.items():
        whole = whole.replace(name, words)
    return re.compile(whole.replace(" … ", _GAP), re.IGNORECASE)


_KINDS = {kind: (_compiled(patterns), _compiled(_NOT[kind]) if kind in _NOT else None) for kind, patterns in _ASKED.items()}


def setup_asked(text: str) -> frozenset[SetupKind]:
    """The kinds of setup that one line of text asks for; nothing for a question about code."""
    found = {kind for kind, (asks, denies) in _KINDS.items() if asks.search(text) and not (denies is not None and denies.search(text))}
    for kind in ("ci", "runtime"):  # what CI runs on stands there; a language is no package
        if kind in found:
            found -= {"dependencies", "runtime"} - {kind}
    return frozenset(found if found == {"used"} else found - {"used"})
