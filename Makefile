# On a machine with only Python 3.11+, pip and make: `make test` installs everything and passes.
# With `just` and the tools installed, `just` runs the same checks.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: test check install constraints clean

test: install check  ## set everything up and pass: lint, format, types, layers, tests

check:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group dev
	touch $@

constraints: install  ## write down the exact versions that are installed now
	$(BIN)/python -m pip freeze --all --exclude-editable --exclude setuptools > constraints.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .coverage .coverage.*
