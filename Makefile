# Footnote. `make` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
VENV ?= .venv
REPO ?= .
PORT ?= 8700
BIN := $(VENV)/bin
export VENV

.PHONY: help setup demo demo-check test bench bench-staleness bench-growth bench-retrieval bench-wordings soak lock docs clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 17

setup: ## make .venv with what is pinned
	@bash tools/setup.sh

demo: setup ## index REPO (path or URL, default: this one) and open the bot in a Slack-shaped page on localhost
	@FOOTNOTE_DATA_DIR="$${FOOTNOTE_DATA_DIR:-$(CURDIR)/.demo}" $(BIN)/footnote playground "$(REPO)" --port $(PORT)

demo-check: setup ## the same without a screen: one question as a person asks it; fails unless a cited answer comes
	@FOOTNOTE_DATA_DIR="$${FOOTNOTE_DATA_DIR:-$(CURDIR)/.demo}" $(BIN)/python -m tools.demo_check "$(REPO)"

test: setup ## every check: ruff, mypy --strict, import-linter, pytest
	@bash tools/check.sh

bench: setup ## the benchmarks: ratios against something run beside it (REPOS=DIR for real clones)
	@$(BIN)/python -m benchmarks $(if $(REPOS),--repos "$(REPOS)")

bench-staleness: setup ## do answers cite code that is gone? 20 changes, asked before and after the build (REPOS=DIR for real clones)
	@$(BIN)/python -m benchmarks.staleness $(if $(REPOS),--repos "$(REPOS)")

bench-growth: setup ## build and search indexes of 1k to 300k chunks: time, disk, memory, recall, drawn to docs/growth.svg
	@$(BIN)/python -m benchmarks.growth --svg docs/growth.svg

bench-retrieval: setup ## the targets of retrieval on labelled questions (BENCH=DIR of question files, REPOS=DIR of clones)
	@$(BIN)/python -m benchmarks.retrieval $(if $(BENCH),--bench "$(BENCH)") $(if $(REPOS),--repos "$(REPOS)") $(if $(ONLY),--only "$(ONLY)") $(if $(STANDING),--standing)

bench-wordings: setup ## the same questions as people write them: greetings, slips, other spelling (BENCH=DIR, REPOS=DIR)
	@$(BIN)/python -m benchmarks.retrieval.wordings --bench "$(BENCH)" --repos "$(REPOS)" $(if $(ONLY),--only "$(ONLY)") $(if $(STANDING),--standing)

soak: setup ## the long kill, load and fuzz runs
	@$(BIN)/python -m pytest -q -p no:cacheprovider soak

docs: setup ## make the pages that are generated from the code
	@$(BIN)/python -m tools.docs

lock: ## resolve pyproject.toml anew into requirements*.lock (needs uv)
	@python3 tools/lock.py

clean: ## remove .venv, caches and the demo's data
	@rm -rf $(VENV) .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
