"""An empty library in each store, which can be opened several times."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from kindly.read.store import Store, StoreSettings
from kindly.read.stores import STORES, open_store
from tests.support.postgres import postgres as postgres
from tests.support.postgres import schema

Opener = Callable[[], Store]


QUICK = "sqlite"


@pytest.fixture(
    params=[
        pytest.param(spec.name, marks=() if spec.name == QUICK else pytest.mark.slow)
        for spec in STORES
    ]
)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
async def opened(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Opener]:
    """Opens the test's library; every store is closed at the end."""
    url = schema(request.getfixturevalue("postgres")) if name == "postgres" else ""
    settings = StoreSettings(data_dir=tmp_path / "data", url=url)
    async with AsyncExitStack() as stack:

        def open_one() -> Store:
            store = open_store(name, settings)
            stack.push_async_callback(store.aclose)
            return store

        yield open_one


@pytest.fixture
def store(opened: Opener) -> Store:
    return opened()
