"""What every test shares: the asyncio back end, a clean environment, and logging as it was."""

import logging
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kindly.settings.variables import known_names
from tests.support.paths import TESTS
from tests.support.served_world import shared_parsers
from tests.support.site import Site, running_site

NAMES = known_names()
KEPT = {"SSL_CERT_FILE"}
"""Needed by tests that install packages."""
SETTINGS = {*NAMES.known, *chain.from_iterable(NAMES.aliases.values())} - KEPT
OTHERS = ("KINDLY_", "OTEL_", "ALL_PROXY")
"""Prefixes of variables that tests or libraries read, beside the settings."""

NOT_UNIT = {"attacks", "conformance", "contracts", "faults", "journeys", "live", "quality", "rules"}
"""Folders that do not mirror the package. All their tests count as slow."""

settings.register_profile(
    "kindly", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("kindly")
"""The same examples in every run, and no bound that depends on the machine's speed."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import the folders that `make quick` leaves out."""
    not_unit = collection_path.parent == TESTS and collection_path.name in NOT_UNIT
    return True if not_unit and config.option.markexpr == "not slow" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        (folder, *_) = item.path.relative_to(TESTS).parts
        if folder in NOT_UNIT or "postgres" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once for each reason how many tests were skipped."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"{count} skipped: {reason}")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def site(anyio_backend: str) -> AsyncIterator[Site]:
    """A web server on loopback, fresh for each test."""
    async with running_site() as site:
        yield site


@pytest.fixture(scope="module")
async def parsers(anyio_backend: str) -> AsyncIterator[None]:
    """The parsers that the servers of a file's tests share."""
    async with shared_parsers():
        yield


@pytest.fixture(autouse=True)
def clean_environment() -> Iterator[None]:
    """Remove the keys and settings of the developer's environment."""
    kept = dict(os.environ)
    for name in kept:
        if name in SETTINGS or name.upper() in SETTINGS or name.upper().startswith(OTHERS):
            del os.environ[name]
    yield
    os.environ.clear()
    os.environ.update(kept)


@pytest.fixture(autouse=True)
def same_logging() -> Iterator[None]:
    """Undo the logging that a test configures, for example by running a command."""
    root = logging.getLogger()
    known = {name: logging.getLogger(name) for name in ("", "kindly", "mcp")}
    levels = {name: logger.level for name, logger in known.items()}
    handlers = list(root.handlers)
    yield
    for name, logger in known.items():
        logger.setLevel(levels[name])
    for handler in root.handlers[:]:
        if handler not in handlers:
            root.removeHandler(handler)
