#!/usr/bin/env bash
# Make .venv with what is pinned: `make setup`. Safe to run again: it does nothing when the locks have not changed.
# WITH_DEV=0 leaves out what only the checks need. Needs Python 3.11 or newer with venv, and git. Honours pip's own configuration (mirrors, proxies, wheels on disk).
set -euo pipefail
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}
CPU_INDEX=https://download.pytorch.org/whl/cpu

say() { printf '\033[1m%s\033[0m\n' "setup: $*" >&2; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3.11 python3.12 python3.13 python3.14 python3 python; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  die "no Python 3.11 to 3.14 found. Install one (Debian: apt-get install python3 python3-venv), or name it: make PYTHON=/path/to/python3"
}

command -v git >/dev/null || die "git is not installed. Footnote reads repositories with it (Debian: apt-get install git)."
stamp=$(cat requirements*.lock pyproject.toml tools/setup.sh | sha256sum | cut -d' ' -f1)
if [ -f "$VENV/footnote-setup" ] && [ "$(cat "$VENV/footnote-setup")" = "$stamp" ]; then exit 0; fi

# pip in its own quiet voice: no version nagging, no questions.
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
python=$(find_python)
say "making $VENV with $("$python" --version) ($python)"
[ -x "$VENV/bin/python" ] || "$python" -m venv "$VENV" || die "could not make $VENV (Debian: apt-get install python3-venv)"
pip() { "$VENV/bin/python" -m pip "$@"; }

if ! "$VENV/bin/python" -c 'import sys, torch; sys.exit(not torch.__version__.startswith("2.13.0"))' 2>/dev/null; then
  say "installing PyTorch, CPU build, from $CPU_INDEX (about 190 MB)"
  if ! pip install -qq --timeout 15 --retries 0 --no-deps --require-hashes --only-binary :all: \
      --index-url "$CPU_INDEX" -r requirements-torch.lock 2>"$VENV/torch.log"; then
    say "that index cannot be reached from here; taking torch from where pip takes everything else"
    pip install -qq --no-deps --require-hashes --only-binary :all: -r requirements-torch.lock
  fi
fi
say "installing the rest, every file checked against its hash"
pip install -qq --no-deps --require-hashes -r requirements.lock
[ "${WITH_DEV:-1}" = 0 ] || pip install -qq --no-deps --require-hashes -r requirements-dev.lock
if ! "$VENV/bin/python" -c 'import torch' 2>"$VENV/torch.log"; then
  say "this is the ordinary build of torch, which does not start without CUDA's libraries: installing those too (gigabytes)"
  pip install -qq --no-deps --require-hashes -r requirements-cuda.lock
  "$VENV/bin/python" -c 'import torch' || die "torch does not start; see above"
fi
pip install -qq --no-deps --no-build-isolation --config-settings editable_mode=compat --editable . >"$VENV/install.log" 2>&1 ||
  { cat "$VENV/install.log" >&2; die "could not install Footnote itself into $VENV; see above"; }
printf '%s' "$stamp" >"$VENV/footnote-setup"
say "done. The command is $VENV/bin/footnote"
