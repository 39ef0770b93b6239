"""Node, or the reason why there is none; the web that clients read."""

from collections.abc import AsyncIterator

import pytest

from tests.conformance.node import Node, find
from tests.support.site import Site, running_site


@pytest.fixture(scope="session")
def node() -> Node:
    found = find()
    if isinstance(found, str):
        pytest.skip(found)
    return found


@pytest.fixture
async def site(anyio_backend: str) -> AsyncIterator[Site]:
    async with running_site() as site:
        yield site
