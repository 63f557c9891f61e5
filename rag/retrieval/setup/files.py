"""What a repository is set up with, and where that stands: manifests, lock files, CI, containers, tasks, licences, settings of tools. Told
by a path alone. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

SetupRole = Literal["manifest", "lock", "runtime", "ci", "releasing", "container", "tasks", "licence", "tools"]
Roles = Mapping[SetupRole, float]

_LEVEL = 0.85  # what is left of a role with every directory above the file
_NEVER = 0.05  # below that it is none

_M: Roles = {"manifest": 1.0}
_MT: Roles = {"manifest": 1.0, "tasks": 0.9, "tools": 0.4}
_LOCK: Roles = {"lock": 1.0}
_RUNTIME: Roles = {"runtime": 1.0}
_CI: Roles = {"ci": 1.0}
_BESIDE: Roles = {"ci": 0.8}  # workflows that test and build nothing
_RELEASING: Roles = {"ci": 0.8, "releasing": 1.0}
_CONTAINER: Roles = {"container": 1.0}
_TASKS: Roles = {"tasks": 1.0}
_TESTERS: Roles = {"tasks": 1.0, "ci": 0.3, "tools": 0.5}
_LICENCE: Roles = {"licence": 1.0}
_TOOLS: Roles = {"tools": 1.0}

_BY_NAME: tuple[tuple[Roles, str], ...] = (
    (
        _MT,
        "pyproject.toml setup.cfg package.json deno.json deno.jsonc bun.toml composer.json pom.xml build.gradle build.gradle.kts build.sbt"
        " build.zig build.xml cargo.toml project.clj deps.edn mix.exs rebar.config build.mill meson.build cmakelists.txt"
        " conanfile.py vcpkg.json",
    ),
    (
        _M,
        "setup.py pipfile environment.yml environment.yaml conda.yaml meta.yaml conanfile.txt go.mod go.work gemfile gems.rb"
        " cartfile podfile project.toml dune-project stack.yaml package.yaml pubspec.yaml description elm.json shard.yml module.bazel"
        " settings.gradle settings.gradle.kts gradle.properties libs.versions.toml directory.packages.props directory.build.props"
        " packages.config paket.dependencies build.zig.zon pnpm-workspace.yaml lerna.json bower.json cpanfile",
    ),
    (
        _LOCK,
        "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock poetry.lock pdm.lock uv.lock pipfile.lock composer.lock"
        " cargo.lock go.sum gemfile.lock mix.lock packages.lock.json package.resolved podfile.lock gradle.lockfile flake.lock pubspec.lock",
    ),
    (
        _RUNTIME,
        ".python-version .nvmrc .node-version .ruby-version .java-version .go-version .tool-versions .sdkmanrc .swift-version runtime.txt"
        " rust-toolchain rust-toolchain.toml global.json mise.toml .mise.toml",
    ),
    (
        _CI,
        ".gitlab-ci.yml .gitlab-ci.yaml .travis.yml .travis.yaml appveyor.yml .appveyor.yml"
        " appveyor.yaml .cirrus.yml .drone.yml .woodpecker.yml bitbucket-pipelines.yml cloudbuild.yaml cloudbuild.yml buildspec.yml"
        " azure-pipelines.yml azure-pipelines.yaml .semaphore.yml bors.toml",
    ),
    (_RELEASING, ".goreleaser.yml .goreleaser.yaml .releaserc release-please-config.json release-drafter.yml"),
    (_CONTAINER, "dockerfile containerfile .dockerignore devcontainer.json docker-bake.hcl skaffold.yaml chart.yaml"),
    (
        _TASKS,
        "makefile gnumakefile makefile.am makefile.toml rakefile justfile .justfile taskfile.yml taskfile.yaml magefile.go gruntfile.js"
        " gulpfile.js cakefile build.bazel workspace workspace.bazel sconstruct wscript configure.ac build.cake earthfile procfile"
        " turbo.json nx.json hatch.toml",
    ),
    (_TESTERS, "tox.ini noxfile.py"),
    (
        _TOOLS,
        ".flake8 .pylintrc pylintrc .ruff.toml ruff.toml mypy.ini .mypy.ini .isort.cfg .pycodestyle .pydocstyle .style.yapf .bandit"
        " pyrightconfig.json pyrefly.toml pytest.ini .coveragerc setup.cfg .pre-commit-config.yaml .pre-commit-config.yml lefthook.yml"
        " .editorconfig .eslintrc .eslintignore .prettierrc .prettierignore .stylelintrc .babelrc .swcrc biome.json .jshintrc tslint.json"
        " .golangci.yml .golangci.yaml .golangci.toml .rubocop.yml .rspec .standard.yml .scalafmt.conf .scalafix.conf rustfmt.toml"
        " .rustfmt.toml clippy.toml .clippy.toml deny.toml .clang-format .clang-tidy .swiftformat .swiftlint.yml detekt.yml checkstyle.xml"
        " phpstan.neon phpstan.neon.dist psalm.xml phpunit.xml phpunit.xml.dist phpcs.xml phpcs.xml.dist .php_cs .php_cs.dist"
        " .php-cs-fixer.php .php-cs-fixer.dist.php .formatter.exs .credo.exs .luacheckrc stylua.toml .stylua.toml selene.toml .yamllint"
        " .yamlfmt.yaml .hadolint.yaml .shellcheckrc .typos.toml _typos.toml .codespellrc codecov.yml .codecov.yml .coveralls.yml"
        " sonar-project.properties .readthedocs.yml .readthedocs.yaml mkdocs.yml renovate.json dependabot.yml .astylerc .npmrc"
        " .commitlintrc .lintstagedrc .huskyrc",
    ),
)
_NAMED: dict[str, Roles] = {}
for _roles, _names in _BY_NAME:
    for _name in _names.split():
        _NAMED[_name] = {**_NAMED.get(_name, {}), **_roles}

_BY_PATTERN: tuple[tuple[Roles, re.Pattern[str]], ...] = (
    (_CI, re.compile(r"^\.github/workflows/[^/]+\.ya?ml$|^\.(?:circleci|buildkite|gitlab/ci|azure-pipelines|ci)/.+\.ya?ml$")),
    (
        _CI,
        re.compile(
            r"^\.github/actions/.+\.ya?ml$|^\.ci/[^/]+$|(?:^|/)[^/]*azure-pipelines[^/]*\.ya?ml$|(?:^|/)\.?jenkins(?:file)?(?:\.[^/]*)?$"
        ),
    ),
    (
        _M,
        re.compile(
            r"(?:^|/)[^/]*(?:requirements|constraints)[^/]*\.(?:txt|in|pip)$|(?:^|/)(?:requirements|constraints)/[^/]+\.(?:txt|in)$"
        ),
    ),
    (
        _M,
        re.compile(
            r"\.(?:gemspec|podspec|csproj|fsproj|vbproj|nuspec|cabal|rockspec|opam|nimble)$|(?:^|/)package(?:@swift-[\w.]+)?\.swift$"
        ),
    ),
    (_LOCK, re.compile(r"(?:^|/)[^/]*(?:requirements|constraints)[^/]*\.lock$|(?:^|/)conda-lock[^/]*$")),
    (_CONTAINER, re.compile(r"(?:^|/)(?:docker|container)file[^/]*$|\.(?:dockerfile|containerfile)$")),
    (_CONTAINER, re.compile(r"(?:^|/)(?:docker-)?compose(?:[._-][^/]*)?\.ya?ml$")),
    (_TASKS, re.compile(r"(?:^|/)(?:makefile|rakefile|justfile)\.[^/]+$|\.(?:mk|cmake|rake)$|(?:^|/)build\.(?:sh|ps1|cmd|bat)$")),
    (_LICENCE, re.compile(r"(?:^|/)(?:[\w.-]*[-_.])?(?:licen[cs]es?|copying)(?:[-_.][\w.-]*)?$|^(?:licen[cs]es|\.reuse)/[^/]+$")),
    (
        _TOOLS,
        re.compile(
            r"(?:^|/)\.?[\w-]+\.config\.(?:[cm]?[jt]s|json)$|(?:^|/)[jt]sconfig[^/]*\.json$"
            r"|(?:^|/)\.?(?:eslint|prettier|stylelint|markdownlint|babel|mocha|nyc|jest|commitlint|lintstaged|jazzy)[\w-]*(?:rc)?"
            r"\.(?:[cm]?js|json|jsonc|ya?ml|toml)$|(?:^|/)(?:checkstyle|pmd|spotbugs|detekt|scalastyle)[\w-]*\.(?:xml|ya?ml)$"
            r"|^config/(?:checkstyle|pmd|detekt)/"
        ),
    ),
)
_HOUSEKEEPING = re.compile(
    r"stale|lock|label|codeql|scan|sponsor|triage|greet|welcome|assign|\bcla\b|dependabot|deps?review|dependency|zizmor|scorecard|close|notify"
    r"|toc|rebase|transifex"
)
_PUBLISHING = re.compile(r"releas|publish|deploy|upload|pypi|docker-?hub")
_NO_LICENCE = re.compile(r"\.(?:py|js|ts|go|rs|java|kt|rb|php|c|cc|cpp|h|cs|swift|ex|scala|sh|json|ya?ml)$")
_SOME_TEXT = re.compile(r"(?:^|/)notice(?:s)?(?:\.(?:txt|md))?$")
_AT_HOME = frozenset({".github", "workflows", "actions", ".circleci", ".buildkite", ".devcontainer", "gradle", "config", ".config", ".ci"})


@lru_cache(maxsize=100_000)
def setup_roles(path: str) -> Roles:
    """What a file says of how its repository is set up, each role with how likely it says it for all of the repository, 0 to 1: less with
    every directory above the file. Nothing for most files. Of a path with forward slashes."""
    lower = path.lower()
    name = lower.rpartition("/")[2]
    roles: dict[SetupRole, float] = dict(_NAMED.get(name, {}))
    for of_pattern, pattern in _BY_PATTERN:
        if pattern.search(lower):
            roles |= {role: max(worth, roles.get(role, 0.0)) for role, worth in of_pattern.items()}
    if "ci" in roles and _HOUSEKEEPING.search(name):
        roles |= _BESIDE
    if "ci" in roles and _PUBLISHING.search(name):
        roles |= _RELEASING
    if "licence" in roles and _NO_LICENCE.search(name):
        del roles["licence"]
    if _SOME_TEXT.search(lower):
        roles["licence"] = 0.3
    if not roles:
        return {}
    levels = sum(directory not in _AT_HOME for directory in lower.split("/")[:-1])
    near = _LEVEL**levels
    return {role: worth * near for role, worth in roles.items() if worth * near >= _NEVER}
