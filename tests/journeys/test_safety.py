"""Promises of `docs/contracts.md`, section Safety, through the front door: the console script and a real client."""

from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from tests.support.processes import stdio_client
from tests.support.served_world import environment, text_of
from tests.support.site import Site, SiteRequest

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("line", ["100 Continue", "103 Early Hints"])
async def test_endless_informational_answers_end_in_an_outcome_and_the_server_goes_on(
    site: Site, tmp_path: Path, line: str
) -> None:
    async def endless(_: SiteRequest, stream: SocketStream) -> None:
        while True:
            await stream.send(f"HTTP/1.1 {line}\r\n\r\n".encode() * 2_500)

    told: list[str] = []
    with anyio.fail_after(120):
        async with stdio_client(environment(site, tmp_path, KINDLY_BROWSER="off")) as client:

            async def fetch(number: int) -> None:
                url = site.add(f"/wait/{number}", endless)
                told.append(text_of(await client.call_tool("get_content", {"url": url})))

            async with anyio.create_task_group() as tasks:
                for number in range(4):
                    tasks.start_soon(fetch, number)
            page = await client.call_tool("get_content", {"url": site.url("/article")})
    assert len(told) == 4
    assert all("(unreachable)" in text and "informational (1xx)" in text for text in told)
    assert "ultraviolet" in text_of(page)
