"""The site that faults are met on."""

from collections.abc import AsyncIterator

import pytest

from tests.support.site import Site, running_site


@pytest.fixture
async def site(anyio_backend: str) -> AsyncIterator[Site]:
    async with running_site() as site:
        yield site
