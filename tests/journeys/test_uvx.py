"""`uvx --from <this checkout>`: the line of the README, from nothing to `tools/list`."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from tests.support.paths import ROOT

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

UV = Path(sys.executable).with_name("uv")
LINE = ["tool", "run", "--from", str(ROOT), "kindly-web-search-mcp-server"]


def installed() -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(UV), *LINE, "--version"],
        capture_output=True,
        text=True,
        timeout=300,
        env=dict(os.environ),
    )


async def test_uvx_from_a_clone_answers_tools_list() -> None:
    first = installed()
    if first.returncode and "fetch" in first.stderr.lower():
        pytest.skip("no package index can be reached: uvx cannot install anything")
    assert first.returncode == 0, first.stderr
    parameters = StdioServerParameters(
        command=str(UV),
        args=[*LINE, "start-mcp-server", "--context", "codex"],
        env=dict(os.environ),
    )
    with anyio.fail_after(120):
        async with Client(parameters) as client:
            tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["web_search", "get_content", "read_page", "recall"]
