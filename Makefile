# From a fresh clone: `make demo` and `make test` do everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: setup demo test check lint types docs docs-serve wheel clean

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	$(BIN)/graphsr warm-up
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) -e '.[dev]'
	touch $@

demo: setup
	$(BIN)/graphsr demo -o demo

# Everything; what continuous integration runs.
test: lint types
	$(BIN)/python -m pytest

# The quick part.
check: lint types
	$(BIN)/python -m pytest -m "not slow"

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-serve: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

# Builds sdist and wheel into dist/, and tries the wheel in an empty environment.
wheel: $(VENV)/.installed-dev
	.ci/try-wheel $(BIN)/python

clean:
	rm -rf $(VENV) demo site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
