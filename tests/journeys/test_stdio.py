"""The installed console script over stdio: a real process, a real client."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from mcp import Client, StdioServerParameters

from tests.support.served_world import BOTH, environment, serper, text_of
from tests.support.site import Site

pytestmark = pytest.mark.anyio

SCRIPT = Path(sys.executable).with_name("kindly-web-search-mcp-server")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def inherited(environ: dict[str, str]) -> dict[str, str]:
    """What a host passes on, and what coverage needs."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in {"PATH", "HOME", "SYSTEMROOT"} or name.startswith("COV")
    }
    return kept | environ


@asynccontextmanager
async def stdio_client(
    environ: dict[str, str], *arguments: str, mode: Any = "auto"
) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=str(SCRIPT), args=["start-mcp-server", *arguments], env=inherited(environ)
    )
    with anyio.fail_after(60):
        async with Client(parameters, mode=mode) as client:
            yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_search_and_read_through_the_console_script(
    site: Site, tmp_path: Path, mode: str
) -> None:
    site.add("/serper/search", serper([site.url("/article")]))
    environ = environment(site, tmp_path, **BOTH)
    async with stdio_client(environ, "--context", "codex", mode=mode) as client:
        found = await client.call_tool("web_search", {"query": "bees"})
        page = await client.call_tool("get_content", {"url": site.url("/article")})
    assert "ultraviolet" in text_of(found)
    assert "ultraviolet" in text_of(page)


async def test_options_may_follow_two_dashes(tmp_path: Path) -> None:
    arguments = ["--context", "codex", "--", "--profile", "kindly", "--max-tokens", "5000"]
    async with stdio_client({"DATA_DIR": str(tmp_path)}, *arguments) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["web_search", "get_content", "read_page", "recall"]


async def test_tools_are_listed_without_key_and_say_what_they_are(tmp_path: Path) -> None:
    async with stdio_client({"DATA_DIR": str(tmp_path)}) as client:
        tools = (await client.list_tools()).tools
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.annotations.open_world_hint is (tool.name != "recall")
        assert tool.title
        assert tool.output_schema
    listed = json.dumps(
        [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    )
    assert len(listed) / 4 <= 1_500


class RawServer:
    """The console script with bare pipes, to see every byte."""

    def __init__(self, environ: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [str(SCRIPT), "start-mcp-server", "--log-level", "debug"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=inherited(environ),
        )

    def __enter__(self) -> "RawServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    async def send(self, *messages: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    async def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = await anyio.to_thread.run_sync(self.process.stdout.readline)
        message: dict[str, Any] = json.loads(line)
        return message

    async def leave(self) -> tuple[bytes, bytes]:
        """Close standard input and wait for the end; what was left to read."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None
        return await anyio.to_thread.run_sync(lambda: self.process.communicate(timeout=50))


def call(number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


async def test_nothing_but_messages_goes_to_standard_output(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article"), site.url("/status/500")]))
    with anyio.fail_after(60), RawServer(environment(site, tmp_path, **BOTH)) as server:
        await server.send(INITIALIZE, INITIALIZED, call(2, "web_search", {"query": "bees"}))
        answers = [await server.receive(), await server.receive()]
        await server.send({"jsonrpc": "2.0", "method": "nonsense"}, call(3, "nonsense", {}))
        answers.append(await server.receive())
        rest, logged = await server.leave()
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert rest == b""
    assert all(json.loads(line) for line in logged.splitlines())
    assert server.process.returncode == 0


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "in the middle of a call"])
async def test_it_leaves_when_standard_input_closes(site: Site, tmp_path: Path, busy: bool) -> None:
    with anyio.fail_after(60), RawServer(environment(site, tmp_path)) as server:
        await server.send(INITIALIZE, INITIALIZED)
        await server.receive()
        if busy:
            await server.send(call(2, "get_content", {"url": site.url("/slow-headers")}))
            while site.count("/slow-headers") == 0:
                await anyio.lowlevel.checkpoint()
        await server.leave()
    assert server.process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "environ", "named"),
    [
        (["--port", "x"], {}, "--port"),
        (["--context", "emacs"], {}, "--context"),
        ([], {"KINDLY_PROFIL": "x"}, "KINDLY_PROFILE"),
        ([], {"REQUEST_TIMEOUT_MS": "soon"}, "REQUEST_TIMEOUT_MS"),
    ],
    ids=["bad option", "unknown context", "unknown variable", "bad value"],
)
def test_a_wrong_setting_is_named_at_start(
    arguments: list[str], environ: dict[str, str], named: str
) -> None:
    done = subprocess.run(
        [str(SCRIPT), "start-mcp-server", *arguments],
        env=inherited(environ),
        capture_output=True,
        text=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
