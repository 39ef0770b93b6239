# Recipes for people who have `just`; each is a line of the Makefile or a bench.

default: check

# lint, format, types, layers, tests
check:
    make check

# everything from nothing, as CI does it
test:
    make test

format:
    .venv/bin/ruff check --fix .
    .venv/bin/ruff format .

# the public conformance suite and clients that others wrote (needs npm)
conformance:
    make conformance

# tests that talk to the real internet
live:
    RUN_LIVE_TESTS=1 .venv/bin/pytest tests/live

bench:
    .venv/bin/python -m bench.cold_start
    .venv/bin/python -m bench.fetch_overhead
    .venv/bin/python -m bench.search_overhead
