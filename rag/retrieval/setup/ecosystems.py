"""Ecosystems: what people call them, and which files belong to them. A question about npm is not answered by a Makefile. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS_AND_FILES = {
    "python": (
        r"c?pythons?|pypy|pypi|pip|poetry|tox|nox|setuptools|hatch",
        r"pyproject\.toml|setup\.(?:py|cfg)|pipfile|tox\.ini|noxfile\.py|\.python-version|[^/]*requirements[^/]*\.(?:txt|in)",
    ),
    "node": (
        r"node(?:\.?js)?|npm|npx|yarn|pnpm|typescript|javascript|dev_?dependencies",
        r"package(?:-lock)?\.json|\.nvmrc|\.node-version|\.npmrc|yarn\.lock|pnpm-[\w.-]+\.yaml|[jt]sconfig[^/]*\.json",
    ),
    "rust": (r"rust|cargo|crates?|msrv|rustc", r"cargo\.(?:toml|lock)|rust-toolchain(?:\.toml)?"),
    "go": (r"golang|(?-i:Go)(?= )|go versions?", r"go\.(?:mod|sum|work)|\.go-version"),
    "java": (
        r"java|jdks?|jre|jvm|maven|gradle|kotlin|scala|sbt",
        r"pom\.xml|[^/]*\.gradle(?:\.kts)?|gradle\.properties|libs\.versions\.toml|build\.sbt|\.java-version|\.sdkmanrc",
    ),
    "ruby": (r"ruby|rubies|jruby|gems?|bundler|rake", r"gemfile(?:\.lock)?|gems\.rb|rakefile|\.ruby-version|[^/]*\.gemspec"),
    "php": (r"php|composer|packagist", r"composer\.(?:json|lock)"),
    "swift": (
        r"swift|ios|macos|tvos|watchos|cocoapods|xcode",
        r"package(?:@swift-[\w.]+)?\.swift|[^/]*\.podspec|podfile(?:\.lock)?|cartfile|\.swift-version",
    ),
    "elixir": (r"elixir|erlang|otp|hex|mix", r"mix\.(?:exs|lock)|rebar\.config"),
    ".net": (
        r"\.net|dotnet|nuget|target frameworks?|c\#",
        r"[^/]*\.(?:cs|fs|vb)proj|global\.json|nuget\.config|directory\.(?:packages|build)\.props",
    ),
    "c": (r"cmake|c\+\+|conan|vcpkg", r"cmakelists\.txt|conanfile\.(?:py|txt)|vcpkg\.json|meson\.build|[^/]*\.cmake"),
    "make": (r"make|makefile", r"(?:gnu)?makefile(?:\.[^/]+)?|[^/]*\.mk"),
    "compose": (r"compose", r"(?:docker-)?compose(?:[._-][^/]*)?\.ya?ml"),
}
_WORDS = {name: re.compile(rf"(?<![\w.])(?:{words})(?!\w)", re.IGNORECASE) for name, (words, _) in _WORDS_AND_FILES.items()}
_FILES = {name: re.compile(rf"(?:^|/)(?:{files})$") for name, (_, files) in _WORDS_AND_FILES.items()}


@lru_cache(maxsize=100_000)
def ecosystem(path: str) -> str:
    """Whose packages or tasks the file declares: "python", "node", "make" …; "" for all others."""
    lower = path.lower()
    return next((name for name, pattern in _FILES.items() if pattern.search(lower)), "")


def ecosystems_asked(text: str) -> frozenset[str]:
    """Those that a line of text names."""
    return frozenset(name for name, pattern in _WORDS.items() if pattern.search(text))


def without_ecosystems(text: str) -> str:
    """The text without their names: a file that belongs to one need not say so."""
    for pattern in _WORDS.values():
        text = pattern.sub(" ", text)
    return text
