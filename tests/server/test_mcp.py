"""The boundary of a call: whatever a tool does, the client gets a sentence and the server goes on."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from mcp import Client
from mcp_types import TextContent

from kindly.app import App
from kindly.redact import Redactor
from kindly.server.arguments import Arguments
from kindly.server.mcp import build_server
from kindly.server.tool import Call, Output, Profile, Tool
from kindly.stages import Stages

pytestmark = pytest.mark.anyio

CANARY = "canary-secret"


class Nothing(Arguments):
    """No arguments."""


async def crash(call: Call, arguments: Nothing) -> Output:
    raise RuntimeError(f"boom {CANARY}")


async def hang(call: Call, arguments: Nothing) -> Output:
    await anyio.sleep_forever()
    raise AssertionError


async def echo(call: Call, arguments: Nothing) -> Output:
    return Output(f"found {CANARY}", {"found": [CANARY]})


def tool(name: str, run: object) -> Tool:
    return Tool(name, "Title", "Text.", Nothing, {"type": "object"}, run)  # type: ignore[arg-type]


PROFILE = Profile(
    "odd", "", (tool("odd.crash", crash), tool("odd.hang", hang), tool("odd.echo", echo))
)


@asynccontextmanager
async def odd_client(*, plain_names: bool = False) -> AsyncIterator[Client]:
    @asynccontextmanager
    async def app() -> AsyncIterator[App]:
        stages = Stages(None, None, None)  # type: ignore[arg-type]  # no tool here uses them
        yield App(stages, Redactor.of([CANARY]), 1000, 1000, deadline_s=-1.9)

    async with Client(build_server(app, PROFILE, plain_names=plain_names)) as client:
        yield client


async def text_from(client: Client, name: str) -> str:
    result = await client.call_tool(name, {})
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def test_a_crash_is_a_plain_sentence_and_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    async with odd_client() as client:
        text = await text_from(client, "odd.crash")
        again = await text_from(client, "odd.echo")
    assert "boom" not in text
    assert text.endswith(".")
    assert again == "found ***"
    assert [record.levelno for record in caplog.records if record.name.startswith("kindly")] == [
        logging.ERROR
    ]


async def test_a_tool_that_hangs_is_stopped_after_its_deadline() -> None:
    with anyio.fail_after(120):
        async with odd_client() as client:
            assert "No answer within" in await text_from(client, "odd.hang")


async def test_secrets_are_masked_in_data_too() -> None:
    async with odd_client() as client:
        result = await client.call_tool("odd.echo", {})
    assert result.structured_content == {"found": ["***"]}


async def test_plain_names_have_no_dots() -> None:
    async with odd_client(plain_names=True) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert names == ["odd_crash", "odd_hang", "odd_echo"]
