#!/usr/bin/env bash
# Every check, in the order in which they fail fastest: `make test`. Exits non-zero if one failed, or, with FOOTNOTE_ALL_TESTS=1 (CI), if a
# test did not run.
set -uo pipefail
cd "$(dirname "$0")/.."
BIN=${VENV:-.venv}/bin
failed=()
check() { printf '\n\033[1m== %s\033[0m\n' "$1"; shift; "$@" || failed+=("$*"); }

# What a test needs from the system is installed where it may be: Chromium, by apt-get, as root.
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "check: installing Chromium for the browser tests (apt-get)"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 ||
      echo "check: apt-get could not install Chromium; the browser tests will not run"
  fi
fi

check "ruff format" "$BIN/ruff" format --check .
check "ruff" "$BIN/ruff" check .
check "mypy --strict" "$BIN/mypy"
check "import-linter" "$BIN/lint-imports" --no-cache
report=$(mktemp)
trap 'rm -f "$report"' EXIT
# One process a core; tests of one module stay together, since they share what is expensive.
check "pytest" "$BIN/python" -m pytest -n "${WORKERS:-auto}" --dist loadscope --junitxml="$report" -o junit_logging=no
"$BIN/python" tools/not_run.py "$report" || failed+=("some tests did not run")

if [ ${#failed[@]} -gt 0 ]; then
  printf '\nfailed: %s\n' "${failed[@]}" >&2
  exit 1
fi
