"""Whether a question asks how its repository is set up: what it depends on, what it runs on, what its CI does, how it is built and
released, its licence, the settings of its tools. Such answers stand in settings, not in code. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from rag.retrieval.setup_files import SetupRole

SetupKind = Literal["dependencies", "runtime", "ci", "release", "container", "tasks", "licence", "tools"]

SAID_IN: Mapping[SetupKind, Mapping[SetupRole, float]] = {
    "dependencies": {"manifest": 1.0, "lock": 0.4},
    "runtime": {"manifest": 1.0, "runtime": 0.9, "ci": 0.4},
    "ci": {"ci": 1.0},
    "release": {"ci": 1.0, "tasks": 0.4, "manifest": 0.2},
    "container": {"container": 1.0},
    "tasks": {"tasks": 1.0, "manifest": 0.6},
    "licence": {"licence": 1.0, "manifest": 0.5},
    "tools": {"tools": 1.0, "tasks": 0.3, "manifest": 0.4},
}
"""How much each role of a file (rag.retrieval.setup_files) says to each kind of question."""

_RUNTIMES = (
    r"(?:c?python|pypy|node(?:\.?js)?|deno|go(?:lang)?|java|jdks?|jre|jvm|kotlin|scala|ruby|rubies|jruby|php|hhvm|rust|msrv|swift|elixir"
    r"|erlang|otp|\.net|dotnet|c\#|perl|lua|haskell|ghc|zig|julia|typescript|c\+\+|cmake|xcode|ios|macos|android|tvos|watchos)"
)
_PLACES = r"(?:pypi|npm|maven central|sonatype|crates\.io|docker ?hub|rubygems(?:\.org)?|nuget|packagist|hex(?:\.pm)?|cocoapods|ghcr|github pages)"
_TOOLS = (
    r"(?:ruff|flake8|black|isort|mypy|pyright|pylint|bandit|eslint|prettier|tslint|stylelint|biome|golangci(?:-lint)?|staticcheck|gofmt"
    r"|clippy|rustfmt|rubocop|phpstan|psalm|php[-_ ]?cs(?:[-_ ]fixer)?|checkstyle|spotless|spotbugs|ktlint|detekt|swiftlint|swiftformat"
    r"|clang[- ](?:format|tidy)|editorconfig|pre-commit|yamllint|markdownlint|credo|dialyzer|codespell|shellcheck|hadolint|commitlint"
    r"|husky|scalafmt|stylua|luacheck|tsconfig|webpack|rollup|vite|babel|jest|vitest|karma|mocha|pytest|coverage|codecov|dependabot"
    r"|renovate|read ?the ?docs|linters?|linting|formatters?|type[- ]check(?:er|ing)|static analysis|code style)"
)
_ASKED = r"\b(?:which|what|what's|list|show|does|do|is|are|minimum|minimal|supported|required|lowest|oldest|latest|name)\b"
_NEEDED = (
    r"(?:requir|need|depend|support|pinn?|allow|minimum|minimal|lowest|oldest|compatib|built (?:with|against|for)|compil|target|referenc|run on"
    r"|use|using|install|declar|tested|bundl|ship)"
)
_OF_CODE = (
    r"(?:pars|compar|negotiat|serializ|encod|decod|sent\b|send|header|protocol|schema|returns?\b|match|resolv|detect|determin|comput|calculat"
    r"|track|inject|cycl|circular|topolog|graph|sort|order|class(?:es)?\b|structs?\b|function|method|module\b|api version|\bhttps?\b|\btls\b|\bssl\b|ip version"
    r"|message|request|response|argument|parameter|fixture|mock)"
)  # what is done to versions and dependencies in code

_KINDS: Mapping[SetupKind, re.Pattern[str]] = {
    kind: re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for kind, pattern in {
        "dependencies": rf"""
            \b(?:which|what)\b[^?.\n]{{0,60}}\bversions?\b[^?\n]{{0,60}}\b{_NEEDED}   # which version of x is required
          | \b(?:which|what)\b[^?.\n]{{0,60}}\bversions?\b\ of\b                       # what version of x
          | \b(?:which|what)\b[^?.\n]{{0,60}}\b{_NEEDED}[^?.\n]{{0,40}}\bversions?\b
          | \b{_NEEDED}\w*\ versions?\ of\b
          | \b(?:which|what|list|show|name|any|our|its|all|third[- ]party|dev|development|runtime|direct|external)\b[^?.\n]{{0,40}}\bdependenc(?:y|ies)\b
          | \b(?:dev|peer|optional)[_-]?dependencies\b
          | \bdependencies\b[^?.\n]{{0,20}}\b(?:are|is)\ (?:declared|listed|pinned|specified)
          | \bhow\ are\ (?:the\ |our\ )?dependencies\ (?:declared|listed|pinned|specified|managed|installed|updated|kept)
          | \b(?:which|what)\b[^?.\n]{{0,30}}\b(?:librar(?:y|ies)|packages?|crates?|gems?|extras)\b[^?.\n]{{0,40}}\b(?:requir|need|use|depend|install|pull)
          | \b(?:does|do|is|are)\b[^?.\n]{{0,40}}\b(?:depend\ on|a\ dependency|pinned)\b
          | \b(?:to|i|we)\ (?:need\ to\ )?install\b[^?.\n]{{0,30}}\bdevelop
          | \b(?:which|what)\b[^?.\n]{{0,20}}\b(?:maven|gradle|workspace|build)?\ ?(?:modules|members|subprojects)\b[^?.\n]{{0,30}}\b(?:build|workspace)
        """,
        "runtime": rf"""
            (?<![\w.]){_RUNTIMES}(?!\w)[^?.\n]{{0,20}}\bversions?\b | \bversions?\ of\ (?:the\ )?{_RUNTIMES}(?!\w)
          | \b(?:which|what|minimum|minimal|supported|required)\b[^?.\n]{{0,20}}(?<![\w.]){_RUNTIMES}(?!\w)[^?.\n]{{0,30}}\b(?:{_NEEDED}|matrix|contain|version)
          | \b(?:minimum|minimal|supported|required|lowest|oldest)\b[^?.\n]{{0,20}}(?<![\w.]){_RUNTIMES}(?!\w)
          | \b(?:target\ frameworks?|deployment\ targets?|language\ level|tools?\ versions?|sdk\ versions?|versions?\ of\ the\ sdk)\b
        """,
        "ci": r"""
            (?-i:\bCI\b) | \bci(?:/cd|\ (?:pipeline|job|build|run|matrix|workflow|config|check|test)s?)\b | \bin\ ci\b
          | \bcontinuous\ (?:integration|delivery|deployment)\b | \bgithub\ actions?\b | \b(?:github|release|build|test|deploy)\ workflows?\b
          | \b(?:which|what)\ workflows?\b | \b(?:travis|circle ?ci|appveyor|cirrus|gitlab\ ci|azure\ pipelines?|buildkite|jenkins(?:file)?)\b
          | \b(?:runs?|jobs?|happens?|checks?)\b[^?.\n]{0,20}\bon\ (?:every|each|a)\ (?:push|commit|pull\ request|pr|merge)\b
        """,
        "release": rf"""
            \b(?:get|gets|publish|release|deploy|push|upload)\w*\b[^?\n]{{0,40}}\b(?:to|on|onto|at)\ (?:the\ )?{_PLACES}
          | \bhow\b[^?\n]{{0,20}}\b(?:releases?|new\ versions?|(?:version|package|gem|crate|library|wheel|cli|image|docs?|documentation)s?)\b[^?\n]{{0,20}}
            \b(?:made|cut|published|released|deployed|created|tagged|uploaded|shipped)\b
          | \bhow\ (?:do|can|should|would)\ (?:i|we|you)\ (?:release|publish|deploy|cut\ a\ release)\b | \brelease\ (?:process|procedure|steps?)\b
          | \b(?:which|what)\b[^?\n]{{0,30}}\b(?:publish|releas)es\b
        """,
        "container": r"""
            \b(?:docker|container)file\b | \bdocker[- ]compose\b | \bdev ?containers?\b | \b(?:docker|container)\ (?:image|setup|container)s?\b
          | \bbase\ image\b | \b(?:in|with|using|under)\ docker\b | \bcompose\ (?:files?|setup|stack|expose|start|define|open|services?|ports?)
          | \b(?:does|which|what|of|by|in|with)\ (?:\w+\ )?compose\b
        """,
        "tasks": r"""
            \bmake\ (?:test|targets?|check|all|build|lint|install|docs|help|goals?)\b | \b(?:make|rake|just|task|cake|grunt|gulp)file\b
          | \b(?:tests?|built|build|run)\ (?:with|by|using|through)\ make\b | \b(?:rake|gradle|mage|invoke|grunt|gulp|poe|mix|sbt)\ tasks?\b
          | \b(?:npm|yarn|pnpm|bun)\ (?:run|test|scripts?|start|build)\b | \b(?:package\.json|composer|npm|yarn|poetry|hatch|pdm|cargo)\ scripts?\b
          | \b(?:tox|nox)\b(?![.(]) | \bbuild\ (?:back ?end|system|tool|options?|targets?|flags?|scripts?|profiles?)\b
          | \bcmake\ (?:options?|targets?|variables?|flags?|presets?)\b | \bcargo\ (?:features?|workspace|profiles?)\b | \bfeature\ flags?\b(?=.*\bcargo\b)
          | \b(?:full|default)\ features?(?:\ flags?)?\b | \b(?:maven|gradle)\ (?:modules?|plugins?|profiles?|goals?|properties)\b
          | \boptions?\b[^?\n]{0,40}\bcmake\b | \bcmake\b[^?\n]{0,20}\boptions?\b
          | \bhow\ (?:are|do\ (?:i|we|you)\ run|can\ (?:i|we|you)\ run|to\ run)\ (?:the\ |our\ |all\ )?(?:unit\ |integration\ )?tests?(?:\ (?:run|executed|started))?\s*[?(]
          | \bhow\ (?:are|do\ (?:i|we|you)\ run|can\ (?:i|we|you)\ run|to\ run)\ (?:the\ |our\ |all\ )?(?:unit\ |integration\ )?tests?(?:\ (?:run|executed|started))?$
          | \bhow\ (?:is|are|do\ (?:i|we|you)\ build|to\ build)\ (?:the\ |this\ |our\ )?(?:project|library|package|binary|binaries|wheels?|jar|executable|repository)
        """,
        "licence": r"\blicen[cs](?:e[sd]?|ing)\b | \bcopyright\ (?:holder|owner)s?\b | \bspdx\b",
        "tools": rf"""
            \b(?:which|what|how\ is|how\ are|where\ (?:is|are))\b[^?\n]{{0,50}}\b{_TOOLS}\b[^?\n]{{0,40}}
            \b(?:config\w*|settings?|set\ up|rules?|options?|hooks?|cops?|levels?|limits?|lints?|checks?|enabled?|disabled?|ignored?|excluded?|turned|plugins?
            |apply|applied|use[ds]?|run|thresholds?|strict\w*)\b
          | \b(?:which|what|how\ are)\b[^?\n]{{0,30}}\b(?:rules?|lints?|cops?|hooks?|options?|levels?|settings?|plugins?|limits?)\b[^?\n]{{0,30}}\b{_TOOLS}\b
          | \b{_TOOLS}\ (?:settings?|config\w*|rules?|options?|hooks?)\b | ^(?:which|what)\ (?:linters?|formatters?|type\ checkers?)\b
          | \b(?:line|column)\ (?:length|limit)\b
        """,
    }.items()
}
_NOT: Mapping[SetupKind, re.Pattern[str]] = {
    kind: re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for kind, pattern in {
        "dependencies": rf"{_OF_CODE} | \bdependenc\w+\ (?:injection|tree|container|resolution|provider|between)\b | ^(?:how|why|where)\b(?!.*\b(?:declared|listed|pinned|specified|managed|installed|updated)\b)",
        "runtime": rf"{_OF_CODE} | ^(?:how|why|where)\b",
        "ci": r"""
            \b(?:ci|travis|jenkins|circle ?ci|appveyor|github\ actions?|gitlab\ ci|workflows?|pipelines?)[-_ ](?:module|class|packages?|providers?|engine
            |detect\w*|client|server|api|environments?|variables?|parser|code|runner|executor|plugin|integration|adapter|scheduler)
          | \b(?:implement|detect|pars|class\b|function|method|returns?\b|environment\ variable)
        """,
        "release": r"\b(?:lock|mutex|memory|resource|connection|buffer|permit|semaphore|handle|event|message|queue|topic)s?\b",
        "container": r"\b(?:daemon|registry|registries|credential\w*|client|layers?|tarball|manifests?|(?:docker|container)\ api|injection|service\ container|inject)\b",
        "tasks": r"\b(?:class|generated|registered|loaded|function|method|implement\w*|module)\b",
        "licence": r"\blicen[cs]e[-_ ](?:keys?|servers?|plates?|validat\w+|pars\w+|activation|headers?|scanners?|tokens?)\b | \b(?:class|function|method|implement\w*|parse[ds]?|valid\w+)\b",
        "tools": r"\bhow\ does\b | \b(?:class|function|method|implement\w*)\b",
    }.items()
}
_ECOSYSTEMS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"(?<![\w.])(?:{pattern})(?!\w)", re.IGNORECASE)
    for name, pattern in {
        "python": r"c?pythons?|pypy|pypi|pip|poetry|tox|nox|setuptools|hatch",
        "node": r"node(?:\.?js)?|npm|npx|yarn|pnpm|typescript|javascript|dev_?dependencies",
        "rust": r"rust|cargo|crates?|msrv|rustc",
        "go": r"golang|(?-i:Go)(?= )|go versions?",
        "java": r"java|jdks?|jre|jvm|maven|gradle|kotlin|scala|sbt",
        "ruby": r"ruby|rubies|jruby|gems?|bundler|rake",
        "php": r"php|composer|packagist",
        "swift": r"swift|ios|macos|tvos|watchos|cocoapods|xcode",
        "elixir": r"elixir|erlang|otp|hex|mix",
        ".net": r"\.net|dotnet|nuget|target frameworks?|c\#",
        "c": r"cmake|c\+\+|conan|vcpkg",
        "make": r"make|makefile",
        "compose": r"compose",
    }.items()
}
_GENERIC = """
add all allow allowed any apply applied build built ci config configuration configured configure compose container contain container
continuous declare declared default define defined depend dependencies dependency depends do does docker enable enabled exist exists
external file first gem have installed install image images integration is it job jobs kind know known least library libraries licence
licences licensed license licenses licensing list listed lower lowest main make maximum minimal minimum need needed needs oldest one open
option options other our package packages party permitted pin pinned pipeline pipelines please project reference referenced release
released repo repository require required requirement requirements requires rule rules run running runs runtime script scripts set setting
settings setup show something specified support supported supports target targets task tasks test tested testing tests third this tool tools under up use
used uses using version versions want we which workflow workflows works yet you your
"""
GENERIC = frozenset(_GENERIC.split())
"""Words that say that the setup is asked for; what is left is what is asked about it."""


def setup_asked(text: str) -> frozenset[SetupKind]:
    """The kinds of setup that one line of text asks for; nothing for a question about code."""
    return frozenset(kind for kind, pattern in _KINDS.items() if pattern.search(text) and not (kind in _NOT and _NOT[kind].search(text)))


def ecosystems_asked(text: str) -> frozenset[str]:
    """Those of `rag.retrieval.setup_files.ecosystem` that a line of text names."""
    return frozenset(name for name, pattern in _ECOSYSTEMS.items() if pattern.search(text))


def without_ecosystems(text: str) -> str:
    """The text without their names: a file that belongs to one need not say so."""
    for pattern in _ECOSYSTEMS.values():
        text = pattern.sub(" ", text)
    return text
