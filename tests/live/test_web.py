"""Real providers and real pages, as a user would call them."""

import os
from pathlib import Path

import pytest

from tests.support.served_world import calling

pytestmark = pytest.mark.anyio

KEYS = {
    name: os.environ[name] for name in ("SERPER_API_KEY", "TAVILY_API_KEY") if name in os.environ
}
"""Read at import, before each test's environment is cleaned."""


@pytest.mark.parametrize("name", ["SERPER_API_KEY", "TAVILY_API_KEY"])
async def test_provider_answers_a_real_search(name: str, tmp_path: Path) -> None:
    if name not in KEYS:
        pytest.skip(f"{name} is not set")
    async with calling({name: KEYS[name], "DATA_DIR": str(tmp_path)}) as call:
        results = await call.search("python asyncio documentation", num_results=3)
    assert len(results) == 3
    assert any(result["status"] == "ok" for result in results)


async def test_a_real_page_is_read(tmp_path: Path) -> None:
    async with calling({"DATA_DIR": str(tmp_path)}) as call:
        page = await call.page("https://example.com/")
    assert "Example Domain" in page["page_content"] + page["title"]
