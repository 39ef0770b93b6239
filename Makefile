# The commands of this project. `make test` needs only Python 3.11 or newer, pip and make.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
LOCK := packaging/requirements/dev.txt
COMPILE = $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
  --no-header --no-annotate --no-emit-index-url --quiet $(if $(UPGRADE),--upgrade)
# Most tests wait for processes and sockets, so three workers suit two cores.
WORKERS ?= 3
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal --durations=10

# Every process of the tests then compiles each module once, not at each start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help test quick check lint types imports tests unit coverage conformance live bench docs format lock install chromium node clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: install chromium node  ## install everything, then run all checks and all tests
	$(MAKE) --jobs 2 check tests

quick: install  ## checks and unit tests, in less than a minute
	$(MAKE) --jobs 2 check unit

check: lint types imports  ## ruff, mypy and the import contracts

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types:
	$(BIN)/mypy

imports:
	$(BIN)/lint-imports --no-cache

tests:
	$(PYTEST)

unit:
	$(PYTEST) -m "not slow" --durations=0 --durations-min=5

coverage: install chromium node  ## all tests with branch coverage; fails below the floor of pyproject.toml
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n $(WORKERS) --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

conformance: install node  ## the MCP conformance suite and clients written by others (needs npm)
	$(BIN)/pytest tests/conformance \
	  tests/journeys/test_stdio.py::test_search_and_read_through_the_console_script \
	  tests/journeys/test_http.py::test_two_clients_search_over_http \
	  tests/journeys/test_console.py::test_axe_finds_nothing

live: install  ## tests against the real internet, with the keys of your environment
	RUN_LIVE_TESTS=1 $(BIN)/pytest tests/live

bench: install  ## the whole server on pages of real sizes, start-up time, and the overhead of a search
	$(BIN)/python -m bench.cold_start
	$(BIN)/python -m bench.front_door
	$(BIN)/python -m bench.search_overhead

docs: install  ## build the documentation site into .site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --config-file packaging/mkdocs.yml

format: install  ## fix and format with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: install  ## lock development and the container image; UPGRADE=1 takes newer versions
	$(COMPILE) --group dev --output-file $(LOCK)
	$(COMPILE) --extra browser --extra duckdb --extra postgres --extra keyless --extra office --extra otel \
	  --constraint $(LOCK) --output-file packaging/requirements/image.txt

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml $(LOCK)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	touch $@

# Tests that need Chromium are skipped without it. Playwright's driver needs libatomic.
chromium:
	@{ command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null 2>&1 \
	   && { ! command -v ldconfig >/dev/null 2>&1 || ldconfig -p | grep -q libatomic.so.1; }; } \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && apt-get update -qq \
	     && apt-get install -y -qq --no-install-recommends chromium libatomic1 >/dev/null; } \
	|| echo "Chromium or libatomic is not installed: tests that need a browser are skipped or fail."

# The MCP conformance suite, the Inspector, the TypeScript SDK and axe. Their tests are skipped without npm.
node: install
	@$(BIN)/python -m tests.support.node_tools

clean:  ## delete the virtual environment and all caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage .coverage.* .site
