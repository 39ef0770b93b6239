"""The installed console script over stdio: a real process, a real client."""

import json
import subprocess
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from kindly.server.render.formatting import compact
from tests.support.processes import (
    INITIALIZE,
    INITIALIZED,
    PATIENCE_S,
    SCRIPT,
    RawServer,
    child_environment,
    stdio_client,
    tool_call,
)
from tests.support.served_world import BOTH, environment, serper, text_of
from tests.support.site import Site

pytestmark = pytest.mark.anyio


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
    listed = compact(
        [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
    )
    assert len(listed) / 4 <= 1_200


async def test_nothing_but_messages_goes_to_standard_output(site: Site, tmp_path: Path) -> None:
    site.add("/serper/search", serper([site.url("/article"), site.url("/status/500")]))
    with anyio.fail_after(120), RawServer(environment(site, tmp_path, **BOTH)) as server:
        await server.send(INITIALIZE, INITIALIZED, tool_call(2, "web_search", {"query": "bees"}))
        answers = [await server.receive(), await server.receive()]
        await server.send({"jsonrpc": "2.0", "method": "nonsense"}, tool_call(3, "nonsense", {}))
        answers.append(await server.receive())
        rest, logged = await server.close_input()
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert rest == b""
    assert all(json.loads(line) for line in logged.splitlines())
    assert server.process.returncode == 0


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "in the middle of a call"])
async def test_it_leaves_when_standard_input_closes(site: Site, tmp_path: Path, busy: bool) -> None:
    with anyio.fail_after(120), RawServer(environment(site, tmp_path)) as server:
        await server.send(INITIALIZE, INITIALIZED)
        await server.receive()
        if busy:
            await server.send(tool_call(2, "get_content", {"url": site.url("/slow-headers")}))
            while site.count("/slow-headers") == 0:
                await anyio.lowlevel.checkpoint()
        await server.close_input()
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
        env=child_environment(environ),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
