# From a fresh clone: `make demo` and `make test` do everything.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: setup demo test check fuzz lint types docs docs-serve figures gallery wheel clean

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

# One thread a worker, which waits without spinning: the workers share the cores.
PYTEST := OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 $(BIN)/python -m pytest

# Everything; what continuous integration runs.
test: lint types
	$(PYTEST)

# The quick part.
check: lint types
	$(PYTEST) -m "not slow"

# Damaged files of every kind, a minute each; `make fuzz SECONDS=600` for longer.
SECONDS ?= 60
fuzz: $(VENV)/.installed-dev
	GRAPHSR_FUZZ_SECONDS=$(SECONDS) $(PYTEST) tests/hostile/test_fuzz.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-serve: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

# Measures the models on the data sets under DATA, as far as their weights are new, and writes figures into the pages.
figures: $(VENV)/.installed-dev
	$(BIN)/python docs/figures $(DATA)

# Makes the pairs of the gallery in gallery/, runs their commands, and writes docs/gallery.md with its pictures.
gallery: $(VENV)/.installed-dev
	$(BIN)/python docs/pictures/gallery

# Builds sdist and wheel into dist/, and tries the wheel in an empty environment.
wheel: $(VENV)/.installed-dev
	.ci/try-wheel $(BIN)/python

clean:
	rm -rf $(VENV) demo gallery site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
