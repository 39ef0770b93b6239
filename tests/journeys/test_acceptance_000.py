"""The acceptance criteria of seed 000, one test each, through a real client."""

import os
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.support.served_world import (
    BOTH,
    CANARIES,
    SERPER_KEY,
    TAVILY_KEY,
    as_json,
    calling,
    environment,
    serper,
    tavily,
    text_of,
)
from tests.support.site import Answer, Site

pytestmark = pytest.mark.anyio


async def test_ac1_only_tavily_key_gives_results_with_content(site: Site, tmp_path: Path) -> None:
    site.add("/tavily/search", tavily([site.url("/article")]))
    async with calling(environment(site, tmp_path, TAVILY_API_KEY=TAVILY_KEY)) as call:
        (result,) = await call.search()
    assert "ultraviolet" in result["page_content"]
    assert site.count("/serper/search") == 0


async def test_ac2_with_both_keys_serper_is_used(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        (result,) = await call.search()
    assert result["provider"] == "serper"
    assert site.count("/tavily/search") == 0


async def test_ac3_serper_500_gives_tavily_results(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", Answer(b"oops", 500))
    site.add("/tavily/search", tavily([site.url("/article")]))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        (result,) = await call.search()
    assert result["provider"] == "tavily"
    assert site.count("/serper/search") == 1


async def test_ac4_without_keys_the_error_names_both_variables(site: Site, tmp_path: Path) -> None:
    async with calling(environment(site, tmp_path)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert "SERPER_API_KEY" in text_of(result)
    assert "TAVILY_API_KEY" in text_of(result)


async def test_ac5_page_content_is_always_a_string(site: Site, tmp_path: Path) -> None:
    paths = [
        "/article",
        "/status/404",
        "/status/500",
        "/reset",
        "/binary",
        "/garbage",
        "/loop",
        "/bomb/gzip",
    ]
    addresses = [*(site.url(path) for path in paths), "ftp://example.com/x", "http://10.0.0.1/"]
    site.add("/serper/search", serper(addresses))
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        with anyio.fail_after(60):
            results = await call.search(num_results=20)
    assert len(results) >= len(paths)
    for result in results:
        assert isinstance(result["page_content"], str)
        assert result["page_content"]


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
async def test_ac6_errors_never_include_keys(site: Site, tmp_path: Path, status: int) -> None:
    echo = as_json({"message": f"bad key {SERPER_KEY} {TAVILY_KEY}"}, status)
    site.add("/serper/search", echo)
    site.add("/tavily/search", echo)
    async with calling(environment(site, tmp_path, **BOTH)) as call:
        result = await call("web_search", query="bees")
    assert result.is_error
    assert not any(canary in result.model_dump_json() for canary in CANARIES)


async def test_ac7_the_console_script_serves_stdio(tmp_path: Path) -> None:
    """The same line through `uvx --from` is in tests/journeys/test_uvx.py."""
    script = Path(sys.executable).with_name("kindly-web-search-mcp-server")
    parameters = StdioServerParameters(
        command=str(script),
        args=["start-mcp-server", "--context", "codex"],
        env={"PATH": os.environ["PATH"], "DATA_DIR": str(tmp_path)},
    )
    with anyio.fail_after(30):
        async with Client(parameters) as client:
            tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["web_search", "get_content", "read_page", "recall"]
