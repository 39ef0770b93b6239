"""Third-party clients: the Inspector, and the TypeScript SDK in both protocol revisions over both transports.

`journeys/test_stdio.py` and `journeys/test_http.py` test the Python SDK's client in the same way.
"""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from kindly.server.profiles import PROFILE_NAMES
from tests.support.node_tools import Node
from tests.support.processes import SCRIPT, child_environment, serving
from tests.support.served_world import environment
from tests.support.site import Site

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.usefixtures("node"),
]

CLIENT = Path(__file__).parent / "client.mjs"
KINDS = ("v1", "v2-legacy", "v2-modern")
INSPECTOR = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"


async def answer(command: list[str], environ: dict[str, str]) -> Any:
    """What a program prints as JSON."""
    with anyio.fail_after(120):
        done = await anyio.run_process(command, env=environ, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.parametrize("plain", [False, True], ids=["own names", "plain names"])
@pytest.mark.parametrize("profile", PROFILE_NAMES)
async def test_the_inspector_finds_no_fault_with_the_tools(
    node: Node, profile: str, plain: bool, tmp_path: Path
) -> None:
    server = [str(SCRIPT), "start-mcp-server", "--profile", profile]
    server += ["--plain-names"] if plain else []
    command = node.command(INSPECTOR, "--cli", "--strict", "--method", "tools/list", "--", *server)
    environ = child_environment() | {"HOME": str(tmp_path), "DATA_DIR": str(tmp_path)}
    tools = (await answer(command, environ))["tools"]
    assert tools
    assert not plain or all("." not in tool["name"] for tool in tools)


def saw_the_article(seen: dict[str, Any], address: str) -> None:
    assert seen["server"] == "kindly-web-search-mcp-server"
    assert seen["tools"] == ["web_search", "get_content", "read_page", "recall"]
    assert not seen["failed"]
    assert "ultraviolet" in seen["text"]
    assert seen["structured"]["url"] == address


@pytest.mark.parametrize("kind", KINDS)
async def test_the_typescript_client_reads_a_page_over_stdio(
    node: Node, kind: str, site: Site, tmp_path: Path
) -> None:
    environ = child_environment() | environment(site, tmp_path)
    target = json.dumps([str(SCRIPT), "start-mcp-server"])
    saw_the_article(await answer(call(node, kind, target, site), environ), site.url("/article"))


async def test_the_typescript_clients_read_a_page_over_http(
    node: Node, site: Site, tmp_path: Path
) -> None:
    command = [str(SCRIPT), "start-mcp-server", "--transport", "http", "--port", "0"]
    with serving(command, child_environment() | environment(site, tmp_path)) as target:
        for kind in KINDS:
            seen = await answer(call(node, kind, target, site), child_environment())
            saw_the_article(seen, site.url("/article"))


def call(node: Node, kind: str, target: str, site: Site) -> list[str]:
    arguments = json.dumps({"url": site.url("/article")})
    script = [str(node.program), str(CLIENT), str(node.packages), kind]
    return [*script, target, "get_content", arguments]
