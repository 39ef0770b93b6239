"""From nothing to a client's tools: `kindly setup`, then the command that it wrote, started by an MCP client."""

import os
import shlex
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client as McpClient
from mcp import StdioServerParameters

from kindly.cli.clients import CLIENTS, Client
from kindly.cli.setup import located, this_machine
from tests.support.processes import child_environment
from tests.support.setup_command import setup

pytestmark = pytest.mark.anyio

KEY = "canary-serper-51fe02"


def written(client: Client, home: Path) -> StdioServerParameters:
    """What the client would start."""
    file = located(client, this_machine({"HOME": str(home)}))
    servers = client.form.load(file.read_text(encoding="utf-8"))[client.section]
    assert isinstance(servers, dict)
    entry = servers["kindly"]
    names = client.names
    environ = {**entry[names.environ], "HOME": str(home), "DATA_DIR": str(home / "data")}
    program, arguments = entry[names.program], entry[names.arguments] if names.arguments else []
    command = [*program, *arguments] if isinstance(program, list) else [program, *arguments]
    return StdioServerParameters(
        command=command[0], args=command[1:], env=child_environment(environ)
    )


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
async def test_the_command_that_setup_wrote_lists_the_tools(client: Client, tmp_path: Path) -> None:
    command = shlex.join([sys.executable, "-m", "kindly"])
    if os.name == "nt":
        command = f"{sys.executable} -m kindly"
    key = ("--key", "SERPER_API_KEY", "--from-env")
    done = setup(tmp_path, client.name, "--yes", "--command", command, *key, SERPER_API_KEY=KEY)
    assert done.exit_code == 0, done.output
    parameters = written(client, tmp_path)
    assert parameters.env is not None
    assert parameters.env["SERPER_API_KEY"] == KEY
    with anyio.fail_after(120):
        async with McpClient(parameters) as session:
            tools = (await session.list_tools()).tools
    assert [tool.name for tool in tools] == ["web_search", "get_content", "read_page", "recall"]
