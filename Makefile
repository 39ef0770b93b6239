# On a machine with only Python 3.11+, pip and make: `make test` installs everything and passes.
# With `just` and the tools installed, `just` runs the same checks.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: test check conformance install chromium node constraints clean

test: install chromium node check  ## set everything up and pass: lint, format, types, layers, tests

# What fails while all cores are busy is run once more, alone, and must pass there; both runs are printed.
check: COVERED := $(BIN)/coverage run -m pytest
check:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/coverage erase
	$(COVERED) -n auto --maxprocesses 4 --dist loadfile || $(COVERED) --last-failed --last-failed-no-failures none
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

conformance: install node  ## how other people's programs find the server
	$(BIN)/pytest tests/conformance \
	  tests/journeys/test_stdio.py::test_search_and_read_through_the_console_script \
	  tests/journeys/test_http.py::test_two_clients_search_over_http \
	  tests/journeys/test_console.py::test_axe_finds_nothing

install: $(VENV)/.installed

# Tests that render pages want a Chromium; without one they are skipped, saying so.
chromium:
	@command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null 2>&1 \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	     && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; } \
	|| echo "No Chromium is installed: tests that need one will be skipped."

# The public conformance suite, the Inspector, the TypeScript SDK and axe, from npm; without npm their tests are skipped.
node: install
	@$(BIN)/python -m tests.support.node_tools

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable . --group dev
	touch $@

constraints: install  ## write down the exact versions that are installed now
	$(BIN)/python -m pip freeze --all --exclude-editable --exclude setuptools > constraints.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .coverage .coverage.*
