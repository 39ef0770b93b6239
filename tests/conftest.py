"""What every test shares: the asyncio back end and a clean environment."""

import os
from collections.abc import Iterator

import pytest

SETTING_PREFIXES = (
    "KINDLY_",
    "SERPER_",
    "TAVILY_",
    "BRAVE_",
    "GOOGLE_",
    "SEARX",
    "EMBEDDING_",
    "OTEL_",
)
SETTING_NAMES = ("GITHUB_TOKEN", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "DATA_DIR")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def clean_environment() -> Iterator[None]:
    """No key or setting of the person who runs the tests reaches them."""
    kept = dict(os.environ)
    for name in kept:
        if name.upper().startswith(SETTING_PREFIXES) or name.upper() in SETTING_NAMES:
            del os.environ[name]
    yield
    os.environ.clear()
    os.environ.update(kept)
