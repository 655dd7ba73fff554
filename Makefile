# Everything a developer or operator starts, from nothing but python3 (3.11 or newer) and make.

PYTHON ?= python3
BIN := .venv/bin
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help demo up test test-long lint format coverage lock clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  make %-10s %s\n", $$1, $$2 }'

demo: .venv/installed ## Poll a scripted world through some simulated hours; needs no network
	@$(BIN)/python -m deployments.demo

up: .venv/installed ## Watch your own sources: Prefect server, UI and all deployments, until Ctrl-C
	@$(BIN)/python -m deployments.serve

test: .venv/installed ## Lint, types, import contracts, and all tests on SQLite and PostgreSQL
	@$(BIN)/python .ci/stages.py lint tests

test-long: .venv/installed ## The tests marked long (fuzzing, soaks), 10 000 examples for each property
	@$(BIN)/python .ci/stages.py long

lint: .venv/installed ## Lint, formatting, types and import contracts only
	@$(BIN)/python .ci/stages.py lint

format: .venv/installed ## Rewrite the code as the linter wants it
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

coverage: .venv/installed ## All tests with branch coverage; lists the lines that no test reached
	@$(BIN)/python .ci/stages.py coverage

lock: .venv-lock/installed ## Resolve the newest allowed versions into requirements.lock
	@.venv-lock/bin/python .ci/lock.py

clean: ## Remove the environment and everything that was built or cached
	@rm -rf .venv .venv-lock build dist *.egg-info .coverage .hypothesis
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. A changed lock file starts it afresh, so that nothing stays behind that is no
# longer locked; a changed pyproject.toml only repeats the last step. The lock is complete, so pip
# resolves nothing (--no-deps): an older pip that resolves `httpx[http2]` takes the newest httpx
# instead of the locked one, and then refuses it for having no hash.
.venv/locked: requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "error: '$(PYTHON)' was not found; install Python 3.11 or newer, or name one: make PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or newer is needed, '$(PYTHON)' is $$($(PYTHON) -V); name another: make PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "error: '$(PYTHON)' cannot make virtual environments; install its venv module (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@echo "Building .venv from requirements.lock: once, about a minute …"
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	@touch $@

.venv/installed: .venv/locked pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# The resolver has an environment of its own: it must work when requirements.lock does not.
.venv-lock/installed:
	@$(PYTHON) -m venv --clear .venv-lock
	@.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.13'
	@touch $@
